// What a metric of an expression is in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/expect/result_index.hpp"
#include "scenarios/lang/expectation_spec.hpp"

namespace simverbs::scenarios::expect {

enum class OwnerKind : uint8_t { None, Flow, Port, Switch, Link, PcieLink, Iteration };

struct MeasuredValue {
    double value = 0;
    uint32_t owner = 0;  ///< flow, port, … number
};

struct Measurement {
    MetricUnit unit = MetricUnit::Count;
    std::optional<double> value;
    std::string problem;  ///< why there is no value; else ""
    std::string remark;   ///< what the value leaves out: "2 of 5 flows have no FCT"
    OwnerKind owners = OwnerKind::None;
    std::vector<MeasuredValue> values;  ///< of which `value` is the statistic, or the sum
};

/// Why no run of this network can tell a metric, and what can be asked instead; empty if one can, or if a name does not
/// exist. Reads names only.
struct MetricProblem {
    std::string problem;
    std::string advice;
};
[[nodiscard]] MetricProblem check_metric(const MetricExpression& expression, const ResultIndex& index);

/// Never fails: a metric that the run cannot tell has a problem instead of a value.
[[nodiscard]] Measurement measure(const MetricExpression& expression, const ResultIndex& index);

/// "flow websearch[3], h3 → h77, 1.2 MB", "tor0/5", "iteration 4 of rail0" …
[[nodiscard]] std::string owner_text(const Measurement& measurement, uint32_t owner, const ResultIndex& index);

}  // namespace simverbs::scenarios::expect
