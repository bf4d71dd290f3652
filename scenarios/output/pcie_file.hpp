// pcie.csv: how busy the parts of the hosts' insides were over time.
#pragma once

#include <string>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// A line for each part and each stretch of time in which it was used. "" without platforms.
[[nodiscard]] std::string pcie_csv(const run::RunResult& result);

}  // namespace simverbs::scenarios::output
