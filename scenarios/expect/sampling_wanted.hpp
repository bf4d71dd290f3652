// What must be sampled while a run goes on, so that its expectations can be evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/lang/expectation_spec.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::expect {

/// Whom, when, how often. Names may not exist before the fabric is built: see sampled_parts.
struct SamplingWanted {
    std::vector<Selector> ports;  ///< counters and queues; kinds as ResultIndex::ports takes
    std::vector<Selector> switches;
    std::vector<Selector> flows;
    /// Samples must be taken at these very instants (ascending), beside those at a regular interval.
    std::vector<sim::SimTime> instants;
    /// A regular interval is needed: some expectation asks for values over time.
    bool needs_interval = false;
    /// The longest interval that serves every `within`; absent: any.
    std::optional<sim::SimTime> interval;

    [[nodiscard]] bool is_empty() const noexcept { return ports.empty() && switches.empty() && flows.empty(); }
};

[[nodiscard]] SamplingWanted sampling_wanted(const std::vector<ExpectationSpec>& expectations);

/// The numbers in a RunResult of what is to be sampled, ascending, each once.
struct SampledParts {
    std::vector<uint32_t> ports;
    std::vector<uint32_t> switches;
    std::vector<uint32_t> flows;
};
/// `result` needs its names and flows only. Names that do not exist are passed over: see check_names.
[[nodiscard]] SampledParts sampled_parts(const SamplingWanted& wanted, const run::RunResult& result);

}  // namespace simverbs::scenarios::expect
