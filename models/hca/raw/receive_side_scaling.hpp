// Receive side scaling: which of several queues gets a frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace simverbs::hca {

/// Bits of ibv_rx_hash_fields: what of a frame is hashed, if it has it.
enum RxHashField : uint64_t {
    kHashSrcIpv4 = 1 << 0,
    kHashDstIpv4 = 1 << 1,
    kHashSrcIpv6 = 1 << 2,
    kHashDstIpv6 = 1 << 3,
    kHashSrcPortTcp = 1 << 4,
    kHashDstPortTcp = 1 << 5,
    kHashSrcPortUdp = 1 << 6,
    kHashDstPortUdp = 1 << 7,
};
inline constexpr uint64_t kAllHashFields = 0xFF;
inline constexpr size_t kToeplitzKeyBytes = 40;
using ToeplitzKey = std::array<uint8_t, kToeplitzKeyBytes>;

/// Source: Microsoft, "RSS hashing functions": for each bit of the input that is set, the 32 bits of the key from that
/// place on. The input must be shorter than the key by four bytes.
[[nodiscard]] constexpr uint32_t toeplitz_hash(const ToeplitzKey& key, std::span<const uint8_t> input) noexcept {
    uint32_t hash = 0;
    uint32_t window = uint32_t{key[0]} << 24 | uint32_t{key[1]} << 16 | uint32_t{key[2]} << 8 | key[3];
    for (size_t i = 0; i < input.size(); ++i) {
        for (uint32_t bit = 0; bit < 8; ++bit) {
            if (((input[i] >> (7 - bit)) & 1) != 0) hash ^= window;
            const uint32_t next = i + 4 < key.size() ? (key[i + 4] >> (7 - bit)) & 1U : 0U;
            window = window << 1 | next;
        }
    }
    return hash;
}

/// How an RSS QP spreads its frames.
struct ReceiveSideScaling {
    std::vector<uint32_t> queues;  ///< QP numbers of the indirection table; a power of two of them
    uint64_t fields = 0;           ///< RxHashField
    ToeplitzKey key{};

    /// `frame`: its first bytes, untagged.
    [[nodiscard]] uint32_t queue_for(std::span<const uint8_t> frame) const noexcept {
        return queues[hash_of(frame) % queues.size()];
    }
    [[nodiscard]] uint32_t hash_of(std::span<const uint8_t> frame) const noexcept;
};

}  // namespace simverbs::hca
