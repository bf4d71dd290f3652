// The GPUs of a host's platform as programs see them.
#pragma once

#include <string>
#include <vector>

#include "models/host/host_node.hpp"
#include "scenarios/lang/platform.hpp"
#include "verbs_shim/server/gpu/gpu_host.hpp"

namespace simverbs::tools {

/// None if the platform has none. `host`: its number in the lab, for what must be unique.
[[nodiscard]] server::HostGpusConfig gpus_of(const scenarios::HostInside& inside, uint32_t host);

/// What programs' requests about GPUs and PCI come to in the host's model. `rdma_devices`: names, in the adapters'
/// order.
[[nodiscard]] server::GpuTiming timing_of(host::HostNode& node, const std::vector<std::string>& rdma_devices);

}  // namespace simverbs::tools
