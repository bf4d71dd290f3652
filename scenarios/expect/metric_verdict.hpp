// Verdicts on single statements. Internal to scenarios/expect.
#pragma once

#include "scenarios/expect/result_index.hpp"
#include "scenarios/expect/verdict.hpp"
#include "scenarios/lang/expectation_spec.hpp"

namespace simverbs::scenarios::expect {

/// Each fills in outcome, values and sentence.
void judge(const MetricExpectation& claim, const ResultIndex& index, ExpectationVerdict& verdict);
void judge(const FaultExpectation& claim, const ResultIndex& index, ExpectationVerdict& verdict);
void judge(const CompletionExpectation& claim, const ResultIndex& index, ExpectationVerdict& verdict);

}  // namespace simverbs::scenarios::expect
