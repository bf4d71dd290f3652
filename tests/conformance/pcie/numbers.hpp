// The tables of docs/pcie.md, measured.
#pragma once

#include <string>
#include <vector>

namespace simverbs::test {

/// One table: its title and its Markdown.
struct NumberTable {
    std::string title, rows;
};

[[nodiscard]] std::vector<NumberTable> pcie_numbers();

}  // namespace simverbs::test
