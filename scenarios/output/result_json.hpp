// result.json: everything that a run has measured and claimed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/expect/verdict.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// docs/result_format.md describes it. A key that is removed or changes its meaning makes a new version; new keys do
/// not.
inline constexpr std::string_view kResultFormat = "simverbs-result";
inline constexpr int kResultVersion = 1;

/// The words of `ending` and of an expectation's `unit`.
[[nodiscard]] std::string_view ending_text(run::RunEnding ending);
[[nodiscard]] std::string_view unit_text(MetricUnit unit);

[[nodiscard]] std::string result_json(const run::RunResult& result,
                                      const std::vector<expect::ExpectationVerdict>& verdicts);

}  // namespace simverbs::scenarios::output
