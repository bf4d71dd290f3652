// A completion queue as the adapter sees it: it counts, the host's software holds the entries.
#pragma once

#include <cstdint>

#include "models/hca/transport/fifo.hpp"
#include "models/host/host_complex.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

enum class CqArm : uint8_t { None, Solicited, Any };

struct Cq {
    uint32_t handle = 0;
    uint32_t owner = 0;
    uint32_t capacity = 0;
    uint32_t unpolled = 0;  ///< written and not reported consumed
    uint32_t users = 0;     ///< QP queues that complete here
    bool has_channel = false, overrun = false;
    host::MemoryId memory = host::kNearestMemory;
    CqArm arm = CqArm::None;
    sim::SimTime armed_at;
    sim::SimTime last_visible;
    /// A completion that was written but may not have been visible when the CQ is armed.
    struct Recent {
        sim::SimTime visible_at;
        bool solicited = false;
    };
    Fifo<Recent> recent;  ///< only with a channel
};

}  // namespace simverbs::hca
