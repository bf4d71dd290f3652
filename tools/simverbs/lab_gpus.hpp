// From the GPUs of a host's platform to what its programs see of them.
#pragma once

#include "scenarios/lang/platform.hpp"
#include "verbs_shim/server/gpu/gpu_host.hpp"

namespace simverbs::tools {

/// `inside`: null of an ideal host, which has no GPUs.
[[nodiscard]] server::HostGpusConfig gpus_of(const scenarios::HostInside* inside);

}  // namespace simverbs::tools
