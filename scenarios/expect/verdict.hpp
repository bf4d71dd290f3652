// What has become of an expectation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/metric_table.hpp"

namespace simverbs::scenarios::expect {

enum class Outcome : uint8_t {
    Passed,
    Failed,
    NotEvaluable,  ///< the run cannot say: not measured, nothing to measure, or a name that does not exist
};

/// "passed", "failed", "not evaluable".
[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

struct ExpectationVerdict {
    std::string name;
    std::string text;  ///< the statement
    Outcome outcome = Outcome::NotEvaluable;
    MetricUnit unit = MetricUnit::Count;  ///< of both values: bit/s, bytes, ps, a ratio as 0…1
    std::optional<double> measured;
    std::optional<double> wanted_value;
    std::string wanted;        ///< "< 10"
    std::string sentence;      ///< for people: what was measured, what was expected, who is to blame
    bool is_implicit = false;  ///< nobody has written it: a run must not get stuck, a fault must fire
    std::string path;
    SourcePosition position;
};

/// One that cannot be evaluated is not met.
[[nodiscard]] bool all_passed(const std::vector<ExpectationVerdict>& verdicts) noexcept;

}  // namespace simverbs::scenarios::expect
