// InfiniBand credits: what an end of a link may send, and what it has told the other that it may.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "sim/check.hpp"
#include "sim/units.hpp"

namespace simverbs::link {

// IBA, flow control: each VL counts in blocks of 64 bytes what it has sent (FCTBS) and may send (FCCL), modulo 4096 on
// the wire; the limit is ahead of what was sent by at most half of that.
inline constexpr sim::ByteCount kCreditBytes = 64;
inline constexpr uint32_t kCreditModulus = 4096;
inline constexpr uint32_t kMaxCredits = kCreditModulus / 2;
inline constexpr uint32_t kManagementVl = 15;  ///< takes no credits
inline constexpr uint32_t kCreditFrameBytes = 8;
inline constexpr uint32_t kVls = 16;
/// Credits are told to the peer when they have grown by this part of a VL's buffer …
inline constexpr uint32_t kAdvertisedParts = 8;
/// … or by less, where the buffer has so little room beside a largest packet (4096 bytes and headers) that the peer
/// could wait for the rest for ever. (Real ports send flow control packets every so often.)
inline constexpr uint32_t kLargestPacketBlocks = 66;

[[nodiscard]] constexpr uint32_t credit_blocks(uint32_t bytes) noexcept {
    return static_cast<uint32_t>((bytes + kCreditBytes - 1) / kCreditBytes);
}
/// The free-running credit limit that a received FCCL means to a sender that has sent `fctbs` blocks.
[[nodiscard]] constexpr uint32_t extend_credit_limit(uint32_t fctbs, uint32_t fccl) noexcept {
    const uint32_t ahead = (fccl - fctbs) % kCreditModulus;
    return ahead <= kMaxCredits ? fctbs + ahead : fctbs + ahead - kCreditModulus;
}
static_assert(extend_credit_limit(5000, 5100 % kCreditModulus) == 5100);
static_assert(extend_credit_limit(5000, 4990 % kCreditModulus) == 4990);

/// Both directions of one end of a link, by VL. Buffers of both ends are alike.
class Credits {
  public:
    Credits() = default;
    /// `vl_buffer`: bytes of each VL; at most 128 KiB, the most that the arithmetic of the wire can express.
    explicit Credits(sim::ByteCount vl_buffer) : blocks_(static_cast<uint32_t>(vl_buffer / kCreditBytes)) {
        SIM_CHECK(blocks_ <= kMaxCredits, blocks_);
        for (Vl& vl : vls_) vl.fccl = vl.advertised = blocks_;
        const uint32_t beside = blocks_ > kLargestPacketBlocks ? blocks_ - kLargestPacketBlocks : 0;
        step_ = std::max(std::min(blocks_ / kAdvertisedParts, beside), 1U);
    }

    [[nodiscard]] bool may_send(uint32_t vl, uint32_t bytes) const noexcept {
        return vl == kManagementVl ||
               static_cast<int32_t>(vls_[vl].fccl - vls_[vl].fctbs) >= static_cast<int32_t>(credit_blocks(bytes));
    }
    void sent(uint32_t vl, uint32_t bytes) {
        SIM_CHECK(may_send(vl, bytes), vl, bytes);
        vls_[vl].fctbs += credit_blocks(bytes);
    }
    /// The peer's limit has come.
    void on_limit(uint32_t vl, uint32_t fccl) noexcept { vls_[vl].fccl = extend_credit_limit(vls_[vl].fctbs, fccl); }

    void arrived(uint32_t vl, uint32_t bytes) {
        vls_[vl].abr += credit_blocks(bytes);
        vls_[vl].used += credit_blocks(bytes);
        SIM_CHECK(vl == kManagementVl || vls_[vl].used <= blocks_, vl, vls_[vl].used, blocks_);
    }
    /// Room again for that much. The FCCL to tell the peer, if it is worth a frame.
    [[nodiscard]] std::optional<uint32_t> freed(uint32_t vl, uint32_t bytes) noexcept {
        Vl& v = vls_[vl];
        v.used -= credit_blocks(bytes);
        if (vl == kManagementVl) return std::nullopt;
        const uint32_t limit = v.abr + blocks_ - v.used;
        if (limit - v.advertised < step_) return std::nullopt;
        v.advertised = limit;
        return limit % kCreditModulus;
    }

  private:
    struct Vl {
        uint32_t fctbs = 0;
        uint32_t fccl = 0;
        uint32_t abr = 0;   ///< blocks received
        uint32_t used = 0;  ///< of these, still here
        uint32_t advertised = 0;
    };
    std::array<Vl, kVls> vls_{};
    uint32_t blocks_ = 0;
    uint32_t step_ = 1;  ///< growth that is worth a frame
};

}  // namespace simverbs::link
