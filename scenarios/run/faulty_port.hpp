// Where a fault meets an adapter of programs.
#pragma once

#include <cstdint>

namespace simverbs::scenarios::run {

/// A port of an adapter that a fault changes, or whose cable it takes down.
struct FaultyPort {
    uint32_t fault = 0;    ///< number in the scenario
    uint32_t adapter = 0;  ///< in FlowFabricConfig::adapters
    uint32_t host = 0;     ///< in BuiltAdapters::hosts
    uint32_t nic = 0;      ///< of that host
    uint8_t port = 1;
    bool is_victim = false;  ///< it is what dies, not its peer
};

}  // namespace simverbs::scenarios::run
