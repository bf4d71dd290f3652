// A table of text in a box of its own, within which it scrolls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simverbs::scenarios::report {

struct Cell {
    std::string text;        ///< any text
    std::string_view style;  ///< class names: "number", "good", "bad", "warn"
};

/// First cells of rows are their headings. `caption` says what the table is, for those who hear it.
[[nodiscard]] std::string html_table(std::string_view caption, const std::vector<Cell>& head,
                                     const std::vector<std::vector<Cell>>& rows);

}  // namespace simverbs::scenarios::report
