// Many values as one number.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scenarios/lang/expectation_spec.hpp"

namespace simverbs::scenarios::expect {

/// Nearest rank: the smallest of the values such that at least `percent` % of them are not above it; percent 0 is the
/// least. `sorted` is not empty and ascends. No interpolation: the result is one of the values.
[[nodiscard]] double nearest_rank(std::span<const double> sorted, double percent);

/// The statistic "mean", "max", …, as MetricInfo names its default; None if the name is empty.
[[nodiscard]] Statistic default_statistic(const MetricInfo& metric);

/// `values` is not empty, unless the statistic is Total or Count. None counts as Total.
[[nodiscard]] double apply_statistic(const Statistic& statistic, std::vector<double> values);

/// What tables show of many values.
struct Distribution {
    std::size_t count = 0;
    double mean = 0;
    double min = 0;
    double p50 = 0;
    double p95 = 0;
    double p99 = 0;
    double max = 0;
};
[[nodiscard]] Distribution distribution_of(std::vector<double> values);

/// Jain's index: (sum x)^2 / (n * sum x^2); 1 if all are equal, 1/n if one has everything. 0 if all are 0.
[[nodiscard]] double jain_index(std::span<const double> values);

}  // namespace simverbs::scenarios::expect
