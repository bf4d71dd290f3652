// Files of counters and of values over time.
#pragma once

#include <string>
#include <vector>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// counters.csv: a line for each port, with what it had counted at the end.
[[nodiscard]] std::string counters_csv(const run::RunResult& result);

/// series.csv: "time_ps,kind,name,value_name,value", one value a line, by place, then value, then time. Values are
///   queue_bytes (port; of all priorities), queue_bytes_N (of priority N, where it ever was above 0),
///   sent_bps and utilisation (port; mean since the sample before, or since 0),
///   pauses_sent, paused_ps, marks, drops (port; so far), buffer_bytes (switch),
///   rate_bps, delivered_bytes, rtt_ps (flow).
/// `what` limits it to some of "queue", "rate", "utilisation", "pauses", "marks", "buffer"; empty: everything.
[[nodiscard]] std::string series_csv(const run::RunResult& result, const std::vector<std::string>& what = {});

}  // namespace simverbs::scenarios::output
