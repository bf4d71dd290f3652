#include "models/wire/gid.hpp"

#include <arpa/inet.h>

#include "models/wire/byte_order.hpp"

namespace simverbs::wire {

std::string to_string(const Gid& gid) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < Gid::size; ++i) {
        if (i != 0 && i % 2 == 0) text += ':';
        text += kHex[gid.bytes[i] >> 4];
        text += kHex[gid.bytes[i] & 0xF];
    }
    return text;
}

std::optional<Gid> parse_gid(std::string_view text) {
    const std::string terminated(text);
    Gid gid;
    if (inet_pton(AF_INET6, terminated.c_str(), gid.bytes.data()) == 1) return gid;
    std::array<std::uint8_t, 4> ipv4{};
    if (inet_pton(AF_INET, terminated.c_str(), ipv4.data()) == 1) return gid_from_ipv4(load_be32(ipv4, 0));
    return std::nullopt;
}

}  // namespace simverbs::wire
