// What happens first within one picosecond. The only place where order at equal time is decided.
#pragma once

#include <cstdint>

namespace simverbs::sim {

/// Order of events with equal time. Three bits of an event's key.
/// Egress selection is Transmit: hardware arbitrates among everything that is present at that instant.
enum class EventPhase : uint8_t {
    Fault = 0,
    Deliver = 1,
    Timer = 2,
    RateUpdate = 3,
    Transmit = 4,
    Observe = 5,
};

}  // namespace simverbs::sim
