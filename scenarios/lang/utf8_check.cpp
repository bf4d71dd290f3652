#include "scenarios/lang/utf8_check.hpp"

#include <array>
#include <cstddef>

namespace simverbs::scenarios {

namespace {

/// One row of the table of well-formed sequences, RFC 3629 section 4: lead bytes, and the range of the second byte.
struct Utf8Row {
    unsigned char lead_first, lead_last, second_first, second_last;
    std::size_t length;
};

constexpr std::array<Utf8Row, 8> kRows{{
    {0xC2, 0xDF, 0x80, 0xBF, 2},
    {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3},
    {0xED, 0xED, 0x80, 0x9F, 3},
    {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4},
    {0xF1, 0xF3, 0x80, 0xBF, 4},
    {0xF4, 0xF4, 0x80, 0x8F, 4},
}};

unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
    return static_cast<unsigned char>(text[at]);
}

/// Bytes of the well-formed character at `at`, or 0.
std::size_t character_length(std::string_view text, std::size_t at) noexcept {
    const unsigned char lead = byte_at(text, at);
    if (lead < 0x80) return (lead >= 0x20 && lead != 0x7F) || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
    for (const Utf8Row& row : kRows) {
        if (lead < row.lead_first || lead > row.lead_last) continue;
        if (text.size() - at < row.length) return 0;
        const unsigned char second = byte_at(text, at + 1);
        if (second < row.second_first || second > row.second_last) return 0;
        for (std::size_t i = 2; i < row.length; ++i) {
            if ((byte_at(text, at + i) & 0xC0) != 0x80) return 0;
        }
        return row.length;
    }
    return 0;
}

}  // namespace

std::optional<BadText> find_bad_text(std::string_view text) noexcept {
    int line = 1;
    std::size_t line_start = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = character_length(text, at);
        if (length == 0) return BadText{byte_at(text, at), line, static_cast<int>(at - line_start) + 1};
        if (text[at] == '\n') {
            ++line;
            line_start = at + 1;
        }
        at += length;
    }
    return std::nullopt;
}

}  // namespace simverbs::scenarios
