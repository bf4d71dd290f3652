#include "verbs_shim/server/cm/cm_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace simverbs::server {

namespace {

constexpr uint32_t kLabNetwork = 0x0A00;  // 10.0.0.0/16

uint32_t last_four(const hca::Gid& ip) noexcept {
    return (uint32_t{ip[12]} << 24) | (uint32_t{ip[13]} << 16) | (uint32_t{ip[14]} << 8) | ip[15];
}

bool is_ipv4_mapped(const hca::Gid& ip) noexcept {
    return std::all_of(ip.begin(), ip.begin() + 10, [](uint8_t b) { return b == 0; }) && ip[10] == 0xFF &&
           ip[11] == 0xFF;
}

}  // namespace

bool CmAddress::is_any() const noexcept {
    if (is_ipv4_mapped(ip)) return last_four(ip) == 0;
    return std::all_of(ip.begin(), ip.end(), [](uint8_t b) { return b == 0; });
}

bool CmAddress::is_loopback() const noexcept {
    if (is_ipv4_mapped(ip)) return ip[12] == 127;
    return std::all_of(ip.begin(), ip.begin() + 15, [](uint8_t b) { return b == 0; }) && ip[15] == 1;
}

bool CmAddress::is_multicast() const noexcept {
    return is_ipv4_mapped(ip) ? (ip[12] & 0xF0) == 0xE0 : ip[0] == 0xFF;
}

std::optional<uint32_t> CmAddress::lab_ipv4() const noexcept {
    const bool global = ip[0] == 0xFD && std::all_of(ip.begin() + 1, ip.begin() + 12, [](uint8_t b) { return b == 0; });
    if (!is_ipv4_mapped(ip) && !global) return std::nullopt;
    const uint32_t v4 = last_four(ip);
    return v4 >> 16 == kLabNetwork && (v4 & 0xFFFF) != 0 ? std::optional(v4) : std::nullopt;
}

std::optional<CmAddress> read_address(const void* from, size_t bytes) noexcept {
    sa_family_t family = 0;
    if (bytes < sizeof family) return std::nullopt;
    std::memcpy(&family, from, sizeof family);
    CmAddress a;
    a.family = family;
    if (family == AF_INET && bytes >= sizeof(sockaddr_in)) {
        sockaddr_in in;
        std::memcpy(&in, from, sizeof in);
        a.ip[10] = a.ip[11] = 0xFF;
        std::memcpy(a.ip.data() + 12, &in.sin_addr, 4);
        a.port = ntohs(in.sin_port);
        return a;
    }
    if (family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
        sockaddr_in6 in;
        std::memcpy(&in, from, sizeof in);
        std::memcpy(a.ip.data(), &in.sin6_addr, 16);
        a.port = ntohs(in.sin6_port);
        return a;
    }
    return std::nullopt;
}

CmAddress address_of_ipv4(uint32_t ipv4, uint16_t port) noexcept {
    CmAddress a;
    a.family = AF_INET;
    a.ip[10] = a.ip[11] = 0xFF;
    for (size_t i = 0; i < 4; ++i) a.ip[12 + i] = static_cast<uint8_t>(ipv4 >> (24 - 8 * i));
    a.port = port;
    return a;
}

size_t write_address(const CmAddress& address, void* to, size_t room) noexcept {
    if (address.family == AF_INET && room >= sizeof(sockaddr_in)) {
        sockaddr_in in{};
        in.sin_family = AF_INET;
        in.sin_port = htons(address.port);
        std::memcpy(&in.sin_addr, address.ip.data() + 12, 4);
        std::memcpy(to, &in, sizeof in);
        return sizeof in;
    }
    if (address.family == AF_INET6 && room >= sizeof(sockaddr_in6)) {
        sockaddr_in6 in{};
        in.sin6_family = AF_INET6;
        in.sin6_port = htons(address.port);
        std::memcpy(&in.sin6_addr, address.ip.data(), 16);
        std::memcpy(to, &in, sizeof in);
        return sizeof in;
    }
    return 0;
}

std::string to_text(const CmAddress& address) {
    char text[INET6_ADDRSTRLEN] = "?";
    if (address.family == AF_INET)
        inet_ntop(AF_INET, address.ip.data() + 12, text, sizeof text);
    else
        inet_ntop(AF_INET6, address.ip.data(), text, sizeof text);
    return std::string(text) + " port " + std::to_string(address.port);
}

}  // namespace simverbs::server
