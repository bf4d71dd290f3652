// Expectations against the result of a run.
#pragma once

#include <functional>
#include <vector>

#include "scenarios/expect/verdict.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/expectation_spec.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::expect {

/// A verdict for each expectation, in their order. Then, as implicit ones and only if they are not met: a run must not
/// get stuck (unless an expectation of deadlocks or unfinished flows is met because there are some), and every fault
/// that must fire fires (unless an expectation speaks of it).
///
/// Percentiles are by nearest rank. Flow metrics count measured flows only. Of a run's part [from, until) they count
/// the flows that ended in it (`flows`: that started in it), payload and counters by what they grew.
[[nodiscard]] std::vector<ExpectationVerdict> evaluate(const std::vector<ExpectationSpec>& expectations,
                                                       const run::RunResult& result);

/// Adds every name in an expectation that does not exist in the network that was built (names of generated fabrics are
/// known only then), and every metric that what is named does not have. Of `result` only names and flows are read, so
/// that this can be asked before a run. `is_known`: of which selectors it can be told whether they exist.
void check_names(const std::vector<ExpectationSpec>& expectations, const run::RunResult& result, DiagnosticSink& sink,
                 const std::function<bool(const Selector&)>& is_known = {});

}  // namespace simverbs::scenarios::expect
