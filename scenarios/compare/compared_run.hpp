// A run as its folder tells it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/report/report.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::compare {

/// Of a distribution in result.json; all absent where it has none.
struct Percentiles {
    std::optional<double> mean, p50, p95, p99;
};

struct ComparedGroup {
    std::string name;
    double flows = 0;
    double completed = 0;
    Percentiles fct;            ///< ps
    Percentiles slowdown;       ///< over the empty network's
    Percentiles goodput;        ///< bit/s
    Percentiles bus_bandwidth;  ///< bit/s; of collectives
};

struct ComparedTotals {
    double completed = 0;
    double retransmissions = 0;
    double timeouts = 0;
    double drops = 0;
    double lossless_drops = 0;
    double marks = 0;
    double pauses = 0;  ///< sent
    double paused = 0;  ///< ps
    double max_queue = 0;
    std::optional<double> throughput;  ///< bit/s
};

struct ComparedRun {
    std::string folder;    ///< of its result.json
    std::string run_name;  ///< in its sweep, else ""
    std::vector<ComparedGroup> groups;
    ComparedTotals totals;
    std::vector<report::Verdict> verdicts;
    /// What files have: names, settings, groups; flows (flows.csv) and samples (series.csv) where they are. Its
    /// `run_name` is what charts call the run.
    run::RunResult result;
    std::vector<std::string> notes;  ///< what is missing, a sentence each
};

}  // namespace simverbs::scenarios::compare
