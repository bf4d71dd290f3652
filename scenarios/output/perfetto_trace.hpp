// trace.json for ui.perfetto.dev and chrome://tracing.
#pragma once

#include <string>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// Flows as slices of their source hosts (those that overlap on rows of their own); what was sampled of ports, switches
/// and flows as counters. A flow that has not ended lasts until the end of the run.
[[nodiscard]] std::string perfetto_trace(const run::RunResult& result);

}  // namespace simverbs::scenarios::output
