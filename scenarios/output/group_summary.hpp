// What tables say of each workload and of the run: the numbers of result.json and of the summary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/expect/result_index.hpp"
#include "scenarios/expect/statistic.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// Flows of more than `above` and at most `up_to` bytes.
struct SizeBin {
    sim::ByteCount above = 0;
    sim::ByteCount up_to = 0;
    expect::Distribution fct;  ///< ps
    expect::Distribution slowdown;
};

/// Of measured flows, unless said otherwise; distributions are those of the metrics of the same name.
struct GroupSummary {
    uint64_t flows = 0;  ///< measured or not
    uint64_t measured = 0;
    uint64_t completed = 0;
    uint64_t unfinished = 0;
    uint64_t errors = 0;
    uint64_t retransmissions = 0;
    uint64_t timeouts = 0;
    uint64_t naks = 0;
    uint64_t cnps = 0;
    sim::ByteCount delivered = 0;   ///< payload, as far as it is known
    expect::Distribution fct;       ///< ps
    expect::Distribution slowdown;  ///< over the empty network's
    expect::Distribution goodput;   ///< bit/s
    expect::Distribution bus_bandwidth;
    std::optional<double> fairness;
    std::vector<SizeBin> by_size;
};

[[nodiscard]] GroupSummary summary_of_group(const expect::ResultIndex& index, uint32_t group);

/// Upper ends of size bins, ascending: for the WebSearch distribution the sizes at which the HPCC paper's figures have
/// their points; else the deciles (nearest rank) of the sizes themselves, equal ones merged.
[[nodiscard]] std::vector<sim::ByteCount> size_bin_ends(const std::string& size_distribution,
                                                        std::vector<sim::ByteCount> sizes);

/// Counters of all ports and flows.
struct Totals {
    GroupSummary flows;  ///< of all groups; without distributions and bins
    run::PortCounts ports;
    sim::ByteCount max_queue = 0;
    std::string max_queue_at;
    sim::ByteCount max_buffer = 0;
    std::string max_buffer_at;
    std::optional<double> throughput;  ///< bit/s, as the metric of this name
};
[[nodiscard]] Totals totals_of(const expect::ResultIndex& index);

/// The run's own warnings, then what its numbers give cause to say: packets of a lossless class were dropped (by how
/// much the headroom is too small), pause storms, deadlocks, no flow measured.
[[nodiscard]] std::vector<std::string> warnings_of(const expect::ResultIndex& index);

}  // namespace simverbs::scenarios::output
