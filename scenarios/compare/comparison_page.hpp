// The page of runs side by side.
#pragma once

#include <string>
#include <vector>

#include "scenarios/compare/compared_run.hpp"

namespace simverbs::scenarios::compare {

/// One self-contained page, of the kind of render_report: the table, expectations, charts with a line for each run.
[[nodiscard]] std::string render_comparison(const std::vector<ComparedRun>& runs);

}  // namespace simverbs::scenarios::compare
