// Distributions of flow sizes as piecewise linear CDFs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::workloads {

/// `percent` of all flows have at most `bytes`.
struct CdfPoint {
    sim::ByteCount bytes = 0;
    double percent = 0;
};

/// What is wrong with a CDF's points, of the n-th each; "" if nothing.
struct CdfProblem {
    std::size_t point = 0;
    std::string problem;
    std::string expected;
};
/// Both columns rise strictly (the first point may have 0 %), nothing is negative, the last point has 100 %.
[[nodiscard]] std::vector<CdfProblem> check_cdf(std::span<const CdfPoint> points);

/// A CDF, linear between its points, from the point (0 bytes, 0 %) if the first point has more than 0 %: that is what
/// the generator of the HPCC artifact does with its files, which all begin with "0 0".
class SizeDistribution {
  public:
    SizeDistribution() = default;
    /// `points` must be right (check_cdf).
    explicit SizeDistribution(std::span<const CdfPoint> points);

    /// Inverse transform of `u` in [0, 1): rounded down to a whole byte, at least 1.
    [[nodiscard]] sim::ByteCount size_at(double u) const;
    /// Share (0 to 1) of flows of at most `bytes`, before rounding.
    [[nodiscard]] double share_up_to(double bytes) const;
    /// Mean size before rounding: the areas of the trapezoids.
    [[nodiscard]] double mean_bytes() const;
    [[nodiscard]] std::span<const CdfPoint> points() const noexcept { return points_; }

  private:
    std::vector<CdfPoint> points_;
};

/// A distribution of the literature by name.
struct BuiltInDistribution {
    std::string_view name;
    std::string_view source;
    std::span<const CdfPoint> points;
};

/// WebSearch, FbHdp, AliStorage2019.
[[nodiscard]] std::span<const BuiltInDistribution> built_in_distributions() noexcept;
/// By name, in any case (WebSearch, FbHdp or FbHadoop, AliStorage2019 or AliStorage); nullptr if there is none.
[[nodiscard]] const BuiltInDistribution* find_distribution(std::string_view name) noexcept;

}  // namespace simverbs::scenarios::workloads
