// Every metric that an expectation can speak of: the one readable list.
#pragma once

#include <span>
#include <string_view>

namespace simverbs::scenarios {

enum class MetricUnit {
    Count,   ///< a number of events: "5"
    Number,  ///< a ratio that may be above 1: "9.5"
    Ratio,   ///< a share: "97 %" or "0.97"
    Time,
    Size,
    Rate,
};

/// What a metric can be asked of. Run is always possible.
enum class SelectorKind : unsigned { Run, Group, Flow, Host, Switch, Link, Port, Queue, Slot };

/// A set of SelectorKinds.
class SelectorSet {
  public:
    template <typename... Kinds>
    explicit constexpr SelectorSet(Kinds... kinds) noexcept : bits_((0U | ... | bit(kinds))) {}
    [[nodiscard]] constexpr bool contains(SelectorKind kind) const noexcept { return (bits_ & bit(kind)) != 0; }

  private:
    static constexpr unsigned bit(SelectorKind kind) noexcept { return 1U << static_cast<unsigned>(kind); }
    unsigned bits_ = 0;
};

/// One metric. `statistics`: it has many values (one a flow, a message or a sample) of which a statistic may be asked;
/// without one, `default_statistic` counts. Others are one number, summed over what is selected.
struct MetricInfo {
    std::string_view name;
    MetricUnit unit = MetricUnit::Count;
    SelectorSet selectors;
    std::string_view default_statistic = {};  ///< "" = one number, no statistics
    std::string_view help;
};

/// Every metric, in the manual's order.
[[nodiscard]] std::span<const MetricInfo> metrics() noexcept;
[[nodiscard]] const MetricInfo* find_metric(std::string_view name) noexcept;

/// "group": the word that stands for a kind in an expectation.
[[nodiscard]] std::string_view selector_name(SelectorKind kind) noexcept;

}  // namespace simverbs::scenarios
