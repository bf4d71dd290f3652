// The addresses that rdma_cm puts in front of a REQ's private data (IBTA annex A11, "RDMA IP CM Service").
#pragma once

#include "models/cm/field_table.hpp"

namespace simverbs::cm {

struct IpCmHeader {
    static constexpr size_t size = 36;

    uint8_t version = 0;
    uint8_t ip_version = 4;
    uint8_t reserved = 0;
    uint16_t source_port = 0;
    std::array<uint8_t, 16> source{}, destination{};  ///< IPv4 in the last four bytes

    static constexpr auto fields() noexcept {
        using M = IpCmHeader;
        return std::tuple{at<&M::version>(0, 8),      at<&M::ip_version>(1, 0, 4), at<&M::reserved>(1, 4, 4),
                          at<&M::source_port>(2, 16), at<&M::source>(4, 128),      at<&M::destination>(20, 128)};
    }
};
static_assert(is_sound<IpCmHeader>(IpCmHeader::size));

/// Port spaces of rdma_cm, as bytes 4 and 5 of a service id.
enum class PortSpace : uint16_t { Ipoib = 0x0002, Tcp = 0x0106, Udp = 0x0111, Ib = 0x013F };

constexpr uint64_t ip_service_id(PortSpace space, uint16_t port) noexcept {
    return (uint64_t{static_cast<uint16_t>(space)} << 16) | port;
}

}  // namespace simverbs::cm
