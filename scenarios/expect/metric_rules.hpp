// How each metric is collected from a run's result. Internal to scenarios/expect.
#pragma once

#include <span>
#include <string_view>

#include "scenarios/expect/measurement.hpp"

namespace simverbs::scenarios::expect {

/// What must be sampled while a run goes on for a metric that is asked of a part of the run's time.
enum class SampleNeed : uint8_t {
    Nothing,       ///< the end of the run, or the flows' own times, say everything
    PortCounts,    ///< counters at `from` and `until`; within: often
    Delivered,     ///< payload of flows at `from` and `until`
    FlowValues,    ///< always, often
    QueueLength,   ///< often, unless the highest of the whole run is asked
    BufferLength,  ///< as QueueLength
    Delays,        ///< at `from` and `until`
};

/// Part of a run's time: [from, until), the run's last instant included if it goes that far.
struct TimeSpan {
    sim::SimTime from;
    sim::SimTime until;
    bool is_whole = true;     ///< all of the run
    bool reaches_end = true;  ///< of the run

    [[nodiscard]] bool contains(sim::SimTime time) const noexcept {
        return time >= from && (time < until || (reaches_end && time == until));
    }
    [[nodiscard]] sim::SimTime length() const noexcept { return until - from; }
};

/// One thing that is to be collected. `out` has its unit; collectors add values, or set the value or a problem.
struct Question {
    const MetricExpression& expression;
    const ResultIndex& index;
    TimeSpan span;
    Statistic statistic;  ///< the metric's default if none is asked

    [[nodiscard]] const run::RunResult& result() const noexcept { return index.result(); }
};

/// Which ports can answer.
enum class MetricScope : uint8_t {
    Everything,
    WholePorts,   ///< ports, not one priority of them
    SwitchPorts,  ///< ports of switches and their priorities
};

using Collector = void (*)(const Question&, Measurement& out);

struct MetricRule {
    std::string_view name;
    SampleNeed need = SampleNeed::Nothing;
    bool allows_within = false;
    Collector collect = nullptr;
    MetricScope scope = MetricScope::Everything;
};

[[nodiscard]] std::span<const MetricRule> flow_time_rules() noexcept;
[[nodiscard]] std::span<const MetricRule> flow_count_rules() noexcept;
[[nodiscard]] std::span<const MetricRule> flow_rate_rules() noexcept;
[[nodiscard]] std::span<const MetricRule> port_rules() noexcept;
[[nodiscard]] std::span<const MetricRule> queue_rules() noexcept;
[[nodiscard]] std::span<const MetricRule> pcie_rules() noexcept;
[[nodiscard]] std::span<const MetricRule> run_rules() noexcept;

/// nullptr if nobody knows how: a mistake that a test finds.
[[nodiscard]] const MetricRule* find_rule(std::string_view metric) noexcept;

/// Does the question need samples that are taken often (SamplingWanted::interval)?
[[nodiscard]] bool needs_series(const MetricExpression& expression, const MetricRule& rule) noexcept;

/// Payload of a flow that had arrived at `time`; absent if nobody knows.
[[nodiscard]] std::optional<sim::ByteCount> delivered_at(const ResultIndex& index, uint32_t flow, sim::SimTime time);

/// Goodput of each selected flow that was active in the time asked, into out.values.
void collect_goodput(const Question& question, Measurement& out);

}  // namespace simverbs::scenarios::expect
