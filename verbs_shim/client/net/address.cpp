#include "verbs_shim/client/net/address.hpp"

#include <cstring>

namespace simverbs::client::net {
namespace {

constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr uint8_t kLabV6[12] = {0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

Meaning meaning_of_v4(uint32_t a, uint16_t port, bool v6) noexcept {
    AddressKind kind = AddressKind::Outside;
    if (a == INADDR_ANY) kind = AddressKind::Any;
    if ((a >> 24) == 127) kind = AddressKind::Loopback;
    if (is_lab_address(a)) kind = AddressKind::Lab;
    return {kind, {a, port}, v6};
}

}  // namespace

Meaning meaning_of(const sockaddr* address, socklen_t length) noexcept {
    if (address == nullptr || length < sizeof(sa_family_t)) return {};
    if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
        sockaddr_in in;
        std::memcpy(&in, address, sizeof in);
        return meaning_of_v4(ntohl(in.sin_addr.s_addr), ntohs(in.sin_port), false);
    }
    if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
        sockaddr_in6 in;
        std::memcpy(&in, address, sizeof in);
        const uint16_t port = ntohs(in.sin6_port);
        uint32_t last;
        std::memcpy(&last, in.sin6_addr.s6_addr + 12, 4);
        last = ntohl(last);
        if (IN6_IS_ADDR_UNSPECIFIED(&in.sin6_addr)) return {AddressKind::Any, {0, port}, true};
        if (IN6_IS_ADDR_LOOPBACK(&in.sin6_addr)) return {AddressKind::Loopback, {0, port}, true};
        const bool mapped = std::memcmp(in.sin6_addr.s6_addr, kMapped, 12) == 0;
        const bool lab = std::memcmp(in.sin6_addr.s6_addr, kLabV6, 12) == 0 && is_lab_address(last);
        if (mapped || lab) return meaning_of_v4(last, port, true);
        return {AddressKind::Outside, {0, port}, true};
    }
    return {};
}

void put_under(const Endpoint& e, bool v6, uint32_t block, sockaddr_storage& out, socklen_t& length) noexcept {
    std::memset(&out, 0, sizeof out);
    const uint32_t under = htonl(under_of_lab(e.address, block));
    if (!v6) {
        sockaddr_in in{};
        in.sin_family = AF_INET;
        in.sin_port = htons(e.port);
        in.sin_addr.s_addr = under;
        std::memcpy(&out, &in, sizeof in);
        length = sizeof in;
        return;
    }
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(e.port);
    std::memcpy(in.sin6_addr.s6_addr, kMapped, 12);
    std::memcpy(in.sin6_addr.s6_addr + 12, &under, 4);
    std::memcpy(&out, &in, sizeof in);
    length = sizeof in;
}

std::optional<Endpoint> lab_endpoint_of_under(const sockaddr* address, socklen_t length, uint32_t block) noexcept {
    const Meaning m = meaning_of(address, length);
    if (m.kind != AddressKind::Loopback || !is_under_address(m.endpoint.address, block)) return std::nullopt;
    return Endpoint{lab_of_under(m.endpoint.address), m.endpoint.port};
}

void to_program(sockaddr* address, socklen_t length, uint32_t block) noexcept {
    const auto e = lab_endpoint_of_under(address, length, block);
    if (!e) return;
    const uint32_t shown = htonl(e->address);
    if (address->sa_family == AF_INET) {
        std::memcpy(reinterpret_cast<char*>(address) + offsetof(sockaddr_in, sin_addr), &shown, 4);
    } else {
        std::memcpy(reinterpret_cast<char*>(address) + offsetof(sockaddr_in6, sin6_addr) + 12, &shown, 4);
    }
}

}  // namespace simverbs::client::net
