// Values of metrics as people read them.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/lang/expectation_spec.hpp"

namespace simverbs::scenarios::expect {

/// "12.3", "97.5 %", "1.25 us", "1.2 MB", "39.7 Gb/s": at most four significant digits; counts are whole.
[[nodiscard]] std::string value_text(MetricUnit unit, double value);
/// The same with all digits that tell it from its neighbours.
[[nodiscard]] std::string exact_value_text(MetricUnit unit, double value);

/// "<", "==", …
[[nodiscard]] std::string_view comparison_text(Comparison comparison) noexcept;
/// "fct.slowdown.p99 of websearch from 5 ms".
[[nodiscard]] std::string expression_text(const MetricExpression& expression);
/// "websearch", "flow websearch[3]", "link tor0/5", "queue tor0/5 priority 3"; "" for the run.
[[nodiscard]] std::string selector_text(const Selector& selector);

}  // namespace simverbs::scenarios::expect
