// Where numactl has put a program, as its environment says it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "models/host/host_complex.hpp"

namespace simverbs::server {

struct NumaPlacement {
    host::MemoryId cpu = host::kNearestMemory, memory = host::kNearestMemory;
};

/// Of the value of protocol::kEnvNuma. Nodes that the host does not have are none.
[[nodiscard]] NumaPlacement parse_numa_placement(std::string_view text, uint32_t num_nodes);

/// Of the environment with which the process began.
[[nodiscard]] NumaPlacement numa_placement_of(pid_t pid, uint32_t num_nodes);

}  // namespace simverbs::server
