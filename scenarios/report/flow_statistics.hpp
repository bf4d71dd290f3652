// What a report tells of flows: pure functions of a run's records.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::report {

/// From when the flow's source could begin to its last ACK; nullopt if it has not ended in success.
[[nodiscard]] std::optional<sim::SimTime> completion_time(const run::FlowRecord& flow);
/// Completion time over that in the empty network.
[[nodiscard]] std::optional<double> slowdown(const run::FlowRecord& flow);

/// Nearest rank: the smallest of `sorted` that at least `percent` of them do not exceed. `sorted` must not be empty.
[[nodiscard]] double percentile(const std::vector<double>& sorted, double percent);

struct FlowTotals {
    uint64_t flows = 0;
    uint64_t completed = 0;
    uint64_t failed = 0;
    uint64_t unfinished = 0;
    uint64_t measured = 0;     ///< in the window of measurement: what percentiles speak of
    double bytes = 0;          ///< of the flows that completed
    double bits_a_second = 0;  ///< `bytes` over the time from the first start to the last completion
    uint64_t retransmitted = 0, timeouts = 0, naks = 0, cnps = 0;
    std::optional<double> slowdown_p50, slowdown_p95, slowdown_p99, slowdown_max;
    std::optional<double> fct_p50_us, fct_p99_us;
};
/// Totals of one group, or of all flows.
[[nodiscard]] FlowTotals total_flows(const std::vector<run::FlowRecord>& flows, std::optional<uint32_t> group = {});

/// Flows of like size. Bins are the same in all runs: kBinsPerDecade from one power of ten to the next.
inline constexpr int kBinsPerDecade = 4;
struct SizeBin {
    double bytes = 0;  ///< geometric mean of its flows
    uint64_t flows = 0;
    double p50 = 0, p95 = 0, p99 = 0;  ///< of slowdown
};
/// The bins with flows that completed and are measured, by size.
[[nodiscard]] std::vector<SizeBin> slowdown_by_size(const std::vector<run::FlowRecord>& flows);

/// (value, share of values not above it) of `sorted`, at most a few hundred points, denser towards 1.
[[nodiscard]] std::vector<std::pair<double, double>> distribution(const std::vector<double>& sorted);

/// Goodput of all flows in equal intervals from 0 to the end of the run; the bytes of a flow that has arrived are
/// spread evenly from its start to its last byte.
struct GoodputOverTime {
    sim::SimTime interval;
    std::vector<double> bits_a_second;
};
[[nodiscard]] GoodputOverTime goodput_over_time(const run::RunResult& result, size_t intervals);

/// Indices of the flows that fared worst, worst first: failed, unfinished, then by slowdown.
[[nodiscard]] std::vector<uint32_t> worst_flows(const std::vector<run::FlowRecord>& flows, size_t most);

}  // namespace simverbs::scenarios::report
