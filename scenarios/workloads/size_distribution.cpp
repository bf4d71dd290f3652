#include "scenarios/workloads/size_distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/check.hpp"

namespace simverbs::scenarios::workloads {

std::vector<CdfProblem> check_cdf(std::span<const CdfPoint> points) {
    std::vector<CdfProblem> problems;
    if (points.empty()) return {{0, "the CDF has no points", "points that end with 100 %"}};
    for (std::size_t i = 0; i < points.size(); ++i) {
        const CdfPoint& point = points[i];
        if (point.bytes < 0) problems.push_back({i, fmt::format("{} bytes are negative", point.bytes), "0 or more"});
        if (!(point.percent >= 0 && point.percent <= 100)) {
            problems.push_back({i, fmt::format("{:g} is no percentage", point.percent), "0 to 100"});
        }
        if (i == 0) {
            if (point.bytes == 0 && point.percent > 0) {
                problems.push_back({i, fmt::format("{:g} % of the flows have 0 bytes", point.percent), "0 %"});
            }
            continue;
        }
        const CdfPoint& last = points[i - 1];
        if (point.bytes <= last.bytes) {
            problems.push_back({i, fmt::format("{} bytes after {} bytes", point.bytes, last.bytes), "rising sizes"});
        }
        if (!(point.percent > last.percent)) {
            problems.push_back(
                {i, fmt::format("{:g} % after {:g} %", point.percent, last.percent), "rising percentages"});
        }
    }
    if (points.back().percent != 100 || points.back().bytes < 1) {
        problems.push_back(
            {points.size() - 1,
             fmt::format("the CDF ends at {:g} % and {} bytes", points.back().percent, points.back().bytes),
             "a last point with 100 % and at least 1 byte"});
    }
    return problems;
}

SizeDistribution::SizeDistribution(std::span<const CdfPoint> points) {
    SIM_CHECK(check_cdf(points).empty());
    if (points.front().percent > 0) points_.push_back({0, 0});
    points_.insert(points_.end(), points.begin(), points.end());
    // A CDF of one point (all flows of one size at 100 %) is a line from 0 to it: what the rule above says.
}

sim::ByteCount SizeDistribution::size_at(double u) const {
    const double percent = u * 100;
    const auto above = std::find_if(points_.begin() + 1, points_.end() - 1,
                                    [&](const CdfPoint& point) { return percent <= point.percent; });
    const CdfPoint& b = *above;
    const CdfPoint& a = *(above - 1);
    const double bytes = static_cast<double>(a.bytes) +
                         static_cast<double>(b.bytes - a.bytes) / (b.percent - a.percent) * (percent - a.percent);
    return std::max<sim::ByteCount>(1, static_cast<sim::ByteCount>(bytes));
}

double SizeDistribution::share_up_to(double bytes) const {
    if (bytes <= static_cast<double>(points_.front().bytes)) return 0;
    if (bytes >= static_cast<double>(points_.back().bytes)) return 1;
    const auto above = std::find_if(points_.begin(), points_.end(),
                                    [&](const CdfPoint& point) { return bytes <= static_cast<double>(point.bytes); });
    const CdfPoint& b = *above;
    const CdfPoint& a = *(above - 1);
    return (a.percent +
            (b.percent - a.percent) * (bytes - static_cast<double>(a.bytes)) / static_cast<double>(b.bytes - a.bytes)) /
           100;
}

double SizeDistribution::mean_bytes() const {
    double sum = 0;
    for (std::size_t i = 1; i < points_.size(); ++i) {
        sum += (static_cast<double>(points_[i].bytes) + static_cast<double>(points_[i - 1].bytes)) / 2 *
               (points_[i].percent - points_[i - 1].percent);
    }
    return sum / 100;
}

}  // namespace simverbs::scenarios::workloads
