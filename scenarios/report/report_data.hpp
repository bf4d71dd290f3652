// The data block of the page: what its charts and sortable tables show.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "scenarios/report/report.hpp"

namespace simverbs::scenarios::report {

/// How the run is told from others: its name in the sweep, else the scenario's.
[[nodiscard]] std::string run_label(const run::RunResult& result);

/// The data of all runs, cut to what a page of a few megabytes holds; the cuts are told in it. Numbers that are not
/// finite are null. scenarios/report/script/report.js reads it.
[[nodiscard]] nlohmann::json report_data(const std::vector<ReportRun>& runs);

/// Of it what charts show in which all runs stand together. scenarios/report/script/compare.js reads it.
[[nodiscard]] nlohmann::json comparison_data(const std::vector<ReportRun>& runs);

}  // namespace simverbs::scenarios::report
