// The numbers of runs side by side.
#pragma once

#include <string>
#include <vector>

#include "scenarios/compare/compared_run.hpp"

namespace simverbs::scenarios::compare {

struct ComparisonRow {
    std::string name;
    std::vector<std::string> values;  ///< of each run
    std::vector<std::string> ratios;  ///< of each run but the first: its value over the first's; empty: no numbers
};

struct ComparisonSection {
    std::string title;
    std::vector<ComparisonRow> rows;
};

/// What the runs are (of names, settings and seed those that differ), their totals, their groups. Two runs or more.
[[nodiscard]] std::vector<ComparisonSection> compare_runs(const std::vector<ComparedRun>& runs);

/// "", "A", "B", "B/A", "C", "C/A": the heads of the columns.
[[nodiscard]] std::vector<std::string> column_heads(std::size_t runs);
/// A row's texts, in these columns.
[[nodiscard]] std::vector<std::string> texts_of(const ComparisonRow& row);

/// For the terminal.
[[nodiscard]] std::string comparison_text(const std::vector<ComparedRun>& runs);

}  // namespace simverbs::scenarios::compare
