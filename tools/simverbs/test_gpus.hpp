// GPUs for hosts of labs that have none, for tests alone: SIMVERBS_TEST_GPUS="h0=2 h1=1 no-peermem no-dma-buf".
#pragma once

#include <memory>
#include <string>

#include "models/host/host_complex.hpp"
#include "verbs_shim/server/gpu/gpu_host.hpp"

namespace simverbs::tools {

/// What the environment says about a host; no GPUs if it says nothing.
[[nodiscard]] server::HostGpusConfig test_gpus(const std::string& host);

/// Links that nobody shares: an overhead and a rate for copies, what GDRCopy measures for windows.
[[nodiscard]] std::unique_ptr<host::HostComplex> make_plain_complex();

}  // namespace simverbs::tools
