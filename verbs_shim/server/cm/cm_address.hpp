// Addresses of rdma_cm: sockaddrs of a program on a simulated host, and the GIDs that they stand for.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "models/hca/verbs_types.hpp"

namespace simverbs::server {

/// An IP address and port. IPv4 in mapped form; `family` 0 means that there is none yet.
struct CmAddress {
    uint16_t family = 0;  ///< AF_INET, AF_INET6
    hca::Gid ip{};
    uint16_t port = 0;

    [[nodiscard]] bool is_any() const noexcept;
    [[nodiscard]] bool is_loopback() const noexcept;
    [[nodiscard]] bool is_multicast() const noexcept;
    /// The simulated IPv4 address that it is, in host order, also if written as IPv6 (fd00::10.0.hi.lo).
    [[nodiscard]] std::optional<uint32_t> lab_ipv4() const noexcept;
};

/// Reads a sockaddr of `bytes` bytes; nullopt if it is of no family that rdma_cm has here.
[[nodiscard]] std::optional<CmAddress> read_address(const void* from, size_t bytes) noexcept;
[[nodiscard]] CmAddress address_of_ipv4(uint32_t ipv4, uint16_t port) noexcept;
/// Writes it as a sockaddr_in or sockaddr_in6; returns its size, 0 for none.
size_t write_address(const CmAddress& address, void* to, size_t room) noexcept;
[[nodiscard]] std::string to_text(const CmAddress& address);

}  // namespace simverbs::server
