// Results of runs that never were, for tests of reports: plausible at a glance, the same every time.
#pragma once

#include <vector>

#include "scenarios/report/report.hpp"

namespace simverbs::scenarios::report {

/// A k=4 fat tree of 16 hosts under load: flows of all sizes, samples of ports, switches and flows, pauses, marks,
/// a few flows that did not end. `load` (about 0.3 to 1) sets how slow the flows are.
[[nodiscard]] run::RunResult rich_result(double load);
/// No flows, no samples; one host, nothing else.
[[nodiscard]] run::RunResult empty_result();
/// Stuck; names with markup, quotes, 500 characters, bytes that are not UTF-8; sizes, times and rates of 0.
[[nodiscard]] run::RunResult hostile_result();
/// `flows` flows on a k=8 fat tree of 128 hosts, nothing sampled.
[[nodiscard]] run::RunResult large_result(uint32_t flows);

[[nodiscard]] std::vector<Verdict> sample_verdicts(bool all_met);

}  // namespace simverbs::scenarios::report
