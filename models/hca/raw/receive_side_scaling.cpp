#include "models/hca/raw/receive_side_scaling.hpp"

#include <algorithm>

namespace simverbs::hca {

/// Addresses first, then ports; source before destination. A frame without any of the fields has the hash 0.
uint32_t ReceiveSideScaling::hash_of(std::span<const uint8_t> frame) const noexcept {
    constexpr size_t kEtherType = 12, kIpv4 = 14, kIpv6End = 54;
    constexpr uint8_t kTcp = 6, kUdp = 17;
    std::array<uint8_t, 2 * 16 + 4> input{};
    size_t used = 0;
    const auto take = [&](uint64_t field, size_t at, size_t bytes) {
        if ((fields & field) == 0 || at + bytes > frame.size()) return;
        std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(at), bytes,
                    input.begin() + static_cast<std::ptrdiff_t>(used));
        used += bytes;
    };
    if (frame.size() < kIpv4 + 20) return 0;
    const uint32_t type = uint32_t{frame[kEtherType]} << 8 | frame[kEtherType + 1];
    size_t ports = 0;
    uint8_t protocol = 0;
    if (type == 0x0800) {
        take(kHashSrcIpv4, 26, 4);
        take(kHashDstIpv4, 30, 4);
        protocol = frame[23];
        ports = kIpv4 + size_t{frame[kIpv4] & 0xFU} * 4;
    } else if (type == 0x86DD) {
        take(kHashSrcIpv6, 22, 16);
        take(kHashDstIpv6, 38, 16);
        protocol = frame[20];
        ports = kIpv6End;
    } else {
        return 0;
    }
    if (protocol == kTcp || protocol == kUdp) {
        take(protocol == kTcp ? kHashSrcPortTcp : kHashSrcPortUdp, ports, 2);
        take(protocol == kTcp ? kHashDstPortTcp : kHashDstPortUdp, ports + 2, 2);
    }
    return toeplitz_hash(key, std::span(input).first(used));
}

}  // namespace simverbs::hca
