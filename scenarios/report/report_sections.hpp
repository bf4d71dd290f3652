// The parts of the page that are there without its script: verdicts, key figures, workloads, faults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/report/report.hpp"

namespace simverbs::scenarios::report {

/// All expectations are met and every fault that must fire has fired.
[[nodiscard]] bool is_success(const ReportRun& run);

/// A <section> under its heading. Both `heading` and `content` are HTML.
[[nodiscard]] std::string section(std::string_view id, std::string_view heading, std::string_view content);

// Each is HTML: a whole <section> or <header>, "" where it has nothing to tell.
[[nodiscard]] std::string header_html(const std::vector<ReportRun>& runs);
[[nodiscard]] std::string key_figures_html(const std::vector<ReportRun>& runs);
[[nodiscard]] std::string stuck_html(const std::vector<ReportRun>& runs);
[[nodiscard]] std::string expectations_html(const std::vector<ReportRun>& runs);
[[nodiscard]] std::string workloads_html(const std::vector<ReportRun>& runs);
[[nodiscard]] std::string programs_html(const std::vector<ReportRun>& runs);
[[nodiscard]] std::string faults_html(const std::vector<ReportRun>& runs);
[[nodiscard]] std::string settings_html(const std::vector<ReportRun>& runs);

}  // namespace simverbs::scenarios::report
