// Is a file text at all?
#pragma once

#include <optional>
#include <string_view>

namespace simverbs::scenarios {

struct BadText {
    unsigned char byte = 0;
    int line = 1;
    int column = 1;
};

/// The first byte that is neither printable UTF-8 (RFC 3629: no surrogates, no overlong forms) nor tab, newline or
/// carriage return. Control characters count as bad: a file that has them is binary.
[[nodiscard]] std::optional<BadText> find_bad_text(std::string_view text) noexcept;

}  // namespace simverbs::scenarios
