// Single flows: an explicit list, or a .pairs file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/workloads/workload_common.hpp"

namespace simverbs::scenarios::workloads {

/// One flow of a list.
struct ListedFlow {
    flow::HostIndex src = 0;
    flow::HostIndex dst = 0;
    sim::ByteCount bytes = 0;
    sim::SimTime start;  ///< after WorkloadCommon::start
    std::optional<uint8_t> priority;
};

struct FlowListParameters {
    WorkloadCommon common;
    std::vector<ListedFlow> flows;
};

/// Adds the flows of a list, in its order.
[[nodiscard]] Problems append_flow_list(flow::FlowPlan& plan, const FlowListParameters& parameters);

/// Reads lines "src dst bytes" (hosts by number; '#' starts a comment). All start at once. Problems go to `sink` with
/// `file` and the line; the result is empty then.
[[nodiscard]] std::vector<ListedFlow> read_pairs(std::string_view text, std::string_view file, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::workloads
