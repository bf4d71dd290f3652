// Flow steering: which raw packet QPs get a frame that is none of RoCE's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/hca/raw/receive_side_scaling.hpp"

namespace simverbs::hca {

/// ibv_flow_attr_type.
enum class SteeringType : uint8_t {
    Normal = 0,      ///< frames that fit the pattern
    AllDefault = 1,  ///< what no Normal rule takes
    McDefault = 2,   ///< the same, multicast only; goes before AllDefault
    Sniffer = 3,     ///< every frame, whoever else gets it
};

/// The headers of an untagged frame, byte by byte: Ethernet, IPv4 without options or IPv6, the ports of TCP or UDP.
struct FramePattern {
    static constexpr size_t kBytes = 58;
    std::array<uint8_t, kBytes> value{}, mask{};

    [[nodiscard]] constexpr bool fits(std::span<const uint8_t> frame) const noexcept {
        for (size_t i = 0; i < kBytes; ++i) {
            if (mask[i] == 0) continue;
            if (i >= frame.size() || ((frame[i] ^ value[i]) & mask[i]) != 0) return false;
        }
        return true;
    }
};

struct SteeringRule {
    SteeringType type = SteeringType::Normal;
    uint16_t priority = 0;  ///< of Normal rules that fit, those with the lowest number count
    uint8_t port_num = 1;
    FramePattern pattern;
    std::optional<ReceiveSideScaling> spread;  ///< of an RSS QP: to these queues instead of the QP itself
};

}  // namespace simverbs::hca
