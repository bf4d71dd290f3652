// Numbers in fields of comma-separated values.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace simverbs::scenarios::compare {

/// nullopt where `text` is not a number of this type from its first to its last character.
template <typename Number>
[[nodiscard]] std::optional<Number> number_of(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc() || stopped != end) return std::nullopt;
    return value;
}

}  // namespace simverbs::scenarios::compare
