#include "models/wire/icrc.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "models/wire/bth.hpp"
#include "models/wire/grh.hpp"
#include "models/wire/ipv4_header.hpp"
#include "models/wire/ipv6_header.hpp"
#include "models/wire/lrh.hpp"
#include "models/wire/udp_header.hpp"

namespace simverbs::wire {
namespace {

constexpr std::size_t kMaxIpv4HeaderBytes = 60;
/// Room for the largest masked prefix: the stand-in for the LRH, an IPv4 header with all options, UDP, BTH.
constexpr std::size_t kMaxMaskedBytes = Lrh::size + kMaxIpv4HeaderBytes + UdpHeader::size + Bth::size;

/// GRH and IPv6 header are alike: class and flow label behind the version, hop limit in byte 7.
void mask_ipv6_like(std::span<std::uint8_t> header) noexcept {
    header[0] |= 0x0F;
    std::fill_n(header.begin() + 1, 3, std::uint8_t{0xFF});
    header[7] = 0xFF;
}

void mask_ipv4(std::span<std::uint8_t> header) noexcept {
    header[1] = 0xFF;
    header[8] = 0xFF;
    std::fill_n(header.begin() + 10, 2, std::uint8_t{0xFF});
}

/// Bytes from the start of `packet` to its BTH; 0 if the packet is too short to tell.
std::size_t bytes_before_bth(LinkType link, std::span<const std::uint8_t> packet) noexcept {
    switch (link) {
        case LinkType::InfiniBandLocal:
        case LinkType::InfiniBandGlobal:
            if (packet.size() < Lrh::size) return 0;
            return (packet[1] & 3) == static_cast<std::uint8_t>(LinkNextHeader::IbaGlobal) ? Lrh::size + Grh::size
                                                                                           : Lrh::size;
        case LinkType::RoceV1:
            return Grh::size;
        case LinkType::RoceV2Ipv4:
            return packet.empty() ? 0 : std::size_t{packet[0] & 0xFu} * 4 + UdpHeader::size;
        case LinkType::RoceV2Ipv6:
            return Ipv6Header::size + UdpHeader::size;
    }
    return 0;
}

void mask_link_headers(LinkType link, std::span<std::uint8_t> headers) noexcept {
    switch (link) {
        case LinkType::InfiniBandLocal:
        case LinkType::InfiniBandGlobal:
            headers[0] |= 0xF0;
            if (headers.size() > Lrh::size) mask_ipv6_like(headers.subspan(Lrh::size));
            return;
        case LinkType::RoceV1:
            mask_ipv6_like(headers);
            return;
        case LinkType::RoceV2Ipv4:
            mask_ipv4(headers);
            break;
        case LinkType::RoceV2Ipv6:
            mask_ipv6_like(headers);
            break;
    }
    std::fill_n(headers.end() - 2, 2, std::uint8_t{0xFF});
}

}  // namespace

std::uint32_t icrc(LinkType link, std::span<const std::uint8_t> packet) noexcept {
    const std::size_t bth_at = bytes_before_bth(link, packet);
    const std::size_t header_bytes = bth_at + Bth::size;
    const bool ip_too_short = link == LinkType::RoceV2Ipv4 && bth_at < Ipv4Header::size + UdpHeader::size;
    if (bth_at == 0 || ip_too_short || packet.size() < header_bytes) return 0;

    std::array<std::uint8_t, kMaxMaskedBytes> masked;
    const std::size_t stand_in = is_infiniband(link) ? 0 : Lrh::size;
    std::fill_n(masked.begin(), stand_in, std::uint8_t{0xFF});
    const auto headers = std::span(masked).subspan(stand_in, header_bytes);
    std::copy_n(packet.begin(), header_bytes, headers.begin());
    mask_link_headers(link, headers.first(bth_at));
    headers[bth_at + 4] = 0xFF;

    auto crc = crc32_z(0, masked.data(), stand_in + header_bytes);
    crc = crc32_z(crc, packet.data() + header_bytes, packet.size() - header_bytes);
    return static_cast<std::uint32_t>(crc);
}

}  // namespace simverbs::wire
