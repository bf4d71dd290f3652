// Addresses of simulated hosts and what stands for them underneath. A program sees 10.0.hi.lo (IPv6: fd00::10.0.hi.lo
// and
// ::ffff:10.0.hi.lo); the kernel sees 127.L.hi.lo (IPv6 sockets: ::ffff:127.L.hi.lo), L being the lab's own block.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>

namespace simverbs::client::net {

/// An IPv4 address and port in host byte order.
struct Endpoint {
    uint32_t address = 0;
    uint16_t port = 0;
};

inline constexpr uint32_t kLabNetwork = 0x0A000000;  // 10.0.0.0/16
inline constexpr uint32_t kLabMask = 0xFFFF0000;

constexpr bool is_lab_address(uint32_t a) noexcept {
    return (a & kLabMask) == kLabNetwork && (a & 0xFFFF) != 0;
}
constexpr uint32_t under_of_lab(uint32_t a, uint32_t block) noexcept {
    return 0x7F000000 | (block << 16) | (a & 0xFFFF);
}
constexpr bool is_under_address(uint32_t a, uint32_t block) noexcept {
    return (a & 0xFFFF0000) == (0x7F000000 | (block << 16));
}
constexpr uint32_t lab_of_under(uint32_t a) noexcept {
    return kLabNetwork | (a & 0xFFFF);
}

/// What a program's address means on a simulated host.
enum class AddressKind { NotIp, Outside, Any, Loopback, Lab };

struct Meaning {
    AddressKind kind = AddressKind::NotIp;
    Endpoint endpoint;  ///< Lab: the simulated address; Loopback, Any: only the port is meaningful
    bool v6 = false;
};

/// Reads a sockaddr as a program on a simulated host means it.
Meaning meaning_of(const sockaddr* address, socklen_t length) noexcept;

/// Writes the sockaddr that the kernel gets for `e` (a simulated address), in the family of the socket.
void put_under(const Endpoint& e, bool v6, uint32_t block, sockaddr_storage& out, socklen_t& length) noexcept;

/// Turns an address that came from the kernel into what the program sees, in place; others are left alone.
void to_program(sockaddr* address, socklen_t length, uint32_t block) noexcept;

/// The endpoint that a kernel address of this lab stands for, if it is one.
std::optional<Endpoint> lab_endpoint_of_under(const sockaddr* address, socklen_t length, uint32_t block) noexcept;

}  // namespace simverbs::client::net
