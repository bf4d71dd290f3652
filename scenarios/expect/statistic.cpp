#include "scenarios/expect/statistic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simverbs::scenarios::expect {

namespace {

/// Forgives that 99.9 % of 1000 is not exactly 999 in binary.
constexpr double kRankTolerance = 1e-9;

double sum_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

double nearest_rank(std::span<const double> sorted, double percent) {
    const auto count = static_cast<double>(sorted.size());
    const double rank = std::ceil(percent / 100 * count * (1 - kRankTolerance));
    return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1];
}

Statistic default_statistic(const MetricInfo& metric) {
    if (metric.default_statistic == "mean") return {StatisticKind::Mean, 0};
    if (metric.default_statistic == "max") return {StatisticKind::Max, 0};
    return {};
}

double apply_statistic(const Statistic& statistic, std::vector<double> values) {
    switch (statistic.kind) {
        case StatisticKind::None:
        case StatisticKind::Total:
            return sum_of(values);
        case StatisticKind::Count:
            return static_cast<double>(values.size());
        case StatisticKind::Mean:
            return sum_of(values) / static_cast<double>(values.size());
        case StatisticKind::Min:
            return *std::min_element(values.begin(), values.end());
        case StatisticKind::Max:
            return *std::max_element(values.begin(), values.end());
        case StatisticKind::Percentile:
            std::sort(values.begin(), values.end());
            return nearest_rank(values, statistic.percentile);
    }
    return 0;
}

Distribution distribution_of(std::vector<double> values) {
    if (values.empty()) return {};
    const double mean = sum_of(values) / static_cast<double>(values.size());
    std::sort(values.begin(), values.end());
    return {values.size(),
            mean,
            values.front(),
            nearest_rank(values, 50),
            nearest_rank(values, 95),
            nearest_rank(values, 99),
            values.back()};
}

double jain_index(std::span<const double> values) {
    const double sum = sum_of(values);
    const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 0;
}

}  // namespace simverbs::scenarios::expect
