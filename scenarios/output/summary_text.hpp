// What a terminal shows of a run.
#pragma once

#include <string>
#include <vector>

#include "scenarios/expect/verdict.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// About 25 lines of at most 80 columns: how the run ended, flows, throughput, a line for each group (of many groups
/// the first ones), what the network did, warnings, and each expectation (failures first if there are many).
[[nodiscard]] std::string summary_text(const run::RunResult& result,
                                       const std::vector<expect::ExpectationVerdict>& verdicts);

/// How often each fault fired, and when; or why not.
[[nodiscard]] std::string fault_lines(const run::RunResult& result);

}  // namespace simverbs::scenarios::output
