// Rate control of a reliable connection: what an algorithm (models/cc) needs beside the QP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "models/cc/congestion_control.hpp"
#include "models/wire/packet.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// Of all RC QPs of an adapter that send over its ports.
struct CongestionConfig {
    /// null: none. Adapters understand what CNPs (on InfiniBand: BECNs) alone tell it: see is_understood.
    const cc::CongestionControl* algorithm = nullptr;
    uint8_t cnp_priority = 6;
    /// From one port to another; packet and payload bytes are those of the QP.
    std::function<cc::PathFacts(wire::LeafId from, wire::LeafId to)> path_facts;

    /// Adapters measure no RTT, and read neither INT nor ECN echoes.
    [[nodiscard]] static bool is_understood(const cc::CongestionControl& algorithm) noexcept {
        const cc::Needs needs = algorithm.needs();
        return needs.cnp && !needs.ecn_echo && !needs.rtt && !needs.hop_int;
    }
};

struct QpCongestion {
    cc::PathFacts path;
    cc::Control control;
    sim::SimTime next_time;                       ///< of the next packet; from these:
    sim::SimTime paced_from;                      ///< when the last one's time began
    uint32_t paced_bytes = 0;                     ///< its wire bytes
    sim::SimTime last_cnp = sim::SimTime::max();  ///< that this end has sent; max(): none
    alignas(8) std::array<std::byte, cc::CongestionControl::kMaxState> state{};
};

}  // namespace simverbs::hca
