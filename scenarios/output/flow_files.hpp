// Files with a line for each flow.
#pragma once

#include <string>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// flows.csv, in the flows' order. Times are ps; what did not happen is empty.
[[nodiscard]] std::string flows_csv(const run::RunResult& result);

/// fct.txt of the HPCC ns-3 simulator: "SIP DIP SPORT DPORT BYTES START FCT STANDALONE_FCT" (times in ns, addresses as
/// hexadecimal numbers), a line for each flow that completed, in the order of completion. Hosts have the addresses that
/// they have there; DPORT tells incast (200) from other flows (100), as its scripts want it.
[[nodiscard]] std::string hpcc_fct(const run::RunResult& result);

/// "pending", "success", "retry_exceeded".
[[nodiscard]] const char* status_text(flow::FlowStatus status) noexcept;

}  // namespace simverbs::scenarios::output
