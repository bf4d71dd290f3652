// The GPUs of a host's platform as programs see them.
#pragma once

#include "scenarios/lang/platform.hpp"
#include "verbs_shim/server/gpu/gpu_host.hpp"

namespace simverbs::tools {

/// None if the platform has none. `host`: its number in the lab, for what must be unique.
[[nodiscard]] server::HostGpusConfig gpus_of(const scenarios::HostInside& inside, uint32_t host);

}  // namespace simverbs::tools
