#include "models/wire/mac_address.hpp"

#include <charconv>

namespace simverbs::wire {

std::string to_string(const MacAddress& mac) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : mac.bytes) {
        if (!text.empty()) text += ':';
        text += kHex[byte >> 4];
        text += kHex[byte & 0xF];
    }
    return text;
}

std::optional<MacAddress> parse_mac(std::string_view text) {
    if (text.size() != 17) return std::nullopt;
    MacAddress mac;
    for (std::size_t i = 0; i < MacAddress::size; ++i) {
        const char* begin = text.data() + 3 * i;
        const auto [end, error] = std::from_chars(begin, begin + 2, mac.bytes[i], 16);
        if (error != std::errc{} || end != begin + 2) return std::nullopt;
        if (i + 1 < MacAddress::size && *end != ':' && *end != '-') return std::nullopt;
    }
    return mac;
}

}  // namespace simverbs::wire
