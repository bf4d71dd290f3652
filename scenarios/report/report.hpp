// The page of a run, or of the runs of a sweep: report.html.
#pragma once

#include <string>
#include <vector>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::report {

/// What has become of one expectation.
struct Verdict {
    std::string name;  ///< "" or how the scenario calls it
    bool passed = false;
    std::string sentence;  ///< "fct.slowdown.p99 of websearch < 10"
    std::string measured;  ///< "7.31"
    std::string wanted;    ///< "< 10"
};

struct ReportRun {
    const run::RunResult& result;
    std::vector<Verdict> verdicts;
};

/// One self-contained HTML page (UTF-8; nothing is fetched) about all `runs`, side by side. The same runs give the same
/// bytes: what differs from run to run (the fields named wall_*) is not told. Any text may stand in names; bytes that
/// are not UTF-8 become U+FFFD.
[[nodiscard]] std::string render_report(const std::vector<ReportRun>& runs);

/// Whether this build has the chart library (Chart.js). Without it the page has its tables, and says what is missing.
[[nodiscard]] bool report_has_charts() noexcept;

}  // namespace simverbs::scenarios::report
