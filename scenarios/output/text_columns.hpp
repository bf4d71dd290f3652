// How wide a text is in a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace simverbs::scenarios::output {

/// Characters, not bytes: all but the continuation bytes of UTF-8.
[[nodiscard]] inline std::size_t columns_of(std::string_view text) {
    constexpr unsigned kMask = 0xc0;
    constexpr unsigned kContinuation = 0x80;
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & kMask) != kContinuation; }));
}

}  // namespace simverbs::scenarios::output
