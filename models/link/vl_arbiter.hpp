// InfiniBand's VL arbitration: which virtual lane of a port sends next.
#pragma once

#include <array>
#include <cstdint>

#include "models/link/credits.hpp"

namespace simverbs::link {

/// The two tables of a port, one entry a VL, and the Limit of High-Priority. Source: IBA, VL arbitration and
/// prioritization.
struct VlArbitration {
    static constexpr uint8_t kNoLimit = 255;
    static constexpr uint32_t kLimitBytes = 4096;
    using Weights = std::array<uint8_t, kVls>;  ///< in 64 bytes; 0: the VL is not in this table

    Weights high{};
    Weights low{};
    uint8_t high_limit = kNoLimit;  ///< 4 KiB each; 0: one packet

    /// VLs (bit v: VL v) that a table serves.
    [[nodiscard]] static constexpr uint32_t served(const Weights& table) noexcept {
        uint32_t vls = 0;
        for (uint32_t vl = 0; vl < kVls; ++vl) vls |= table[vl] != 0 ? 1U << vl : 0U;
        return vls;
    }
};

/// The arbiter of one port. Within a table VLs share by weight: deficit round robin in bytes, so that weights below a
/// packet's size count in the long run too.
class VlArbiter {
  public:
    /// One of the VLs that may send (`sendable`, not zero, each served by some table). `bytes_of(vl)`: of its next
    /// packet, which counts as sent.
    template <class BytesOf>
    [[nodiscard]] uint32_t choose(const VlArbitration& tables, uint32_t sendable, const BytesOf& bytes_of) {
        const uint32_t high = sendable & VlArbitration::served(tables.high);
        const uint32_t low = sendable & VlArbitration::served(tables.low);
        const bool is_turn_over = tables.high_limit != VlArbitration::kNoLimit && high_sent_ != 0 &&
                                  high_sent_ >= uint32_t{tables.high_limit} * VlArbitration::kLimitBytes;
        if (low == 0 || (high != 0 && !is_turn_over)) {
            if (is_turn_over) high_sent_ = 0;  // the low ones had their chance
            const uint32_t vl = high_.next(tables.high, high, bytes_of);
            high_sent_ += bytes_of(vl);
            return vl;
        }
        high_sent_ = 0;
        return low_.next(tables.low, low, bytes_of);
    }

  private:
    struct RoundRobin {
        std::array<int32_t, kVls> deficit{};
        uint32_t turn = 0;

        template <class BytesOf>
        uint32_t next(const VlArbitration::Weights& weights, uint32_t sendable, const BytesOf& bytes_of) {
            for (;;) {
                if (((sendable >> turn) & 1) == 0) {
                    deficit[turn] = 0;
                } else if (const auto bytes = static_cast<int32_t>(bytes_of(turn)); deficit[turn] >= bytes) {
                    deficit[turn] -= bytes;
                    return turn;
                }
                turn = (turn + 1) % kVls;
                if (((sendable >> turn) & 1) != 0) deficit[turn] += static_cast<int32_t>(weights[turn] * kCreditBytes);
            }
        }
    };
    RoundRobin high_;
    RoundRobin low_;
    uint32_t high_sent_ = 0;  ///< bytes since the low ones had their chance
};

}  // namespace simverbs::link
