// flow.txt and trace.txt of the HPCC ns-3 artifact, and files of flow size distributions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/import/hpcc_topology.hpp"
#include "scenarios/workloads/flow_list.hpp"
#include "scenarios/workloads/size_distribution.hpp"

namespace simverbs::scenarios::imports {

/// Flows of the file by host, in its order and with its times, which in the artifact begin at 2 s.
struct HpccFlows {
    std::vector<workloads::ListedFlow> flows;
    uint32_t unread_lines = 0;  ///< as in HpccTopology
};

/// Reads the number of flows and then, for each, "SRC DST PRIORITY DPORT BYTES START" (START in seconds; nodes by the
/// topology file's numbers). DPORT tells flows apart there and is not needed. As there, what follows the last flow that
/// the first line counts is not read.
[[nodiscard]] std::optional<HpccFlows> read_hpcc_flows(std::string_view text, std::string_view file,
                                                       const HpccTopology& topology, DiagnosticSink& sink);

/// Makes the earliest flow start at 0.
void start_at_zero(std::vector<workloads::ListedFlow>& flows);

/// Nodes whose packets are to be traced.
struct HpccTrace {
    std::vector<topologies::NodeRef> nodes;
    uint32_t left_out =
        0;  ///< nodes that the topology does not have: the artifact's sample serves all of its topologies
};

/// Reads the number of nodes to trace and then their numbers, in one or several lines; further ones are not read.
[[nodiscard]] std::optional<HpccTrace> read_hpcc_trace(std::string_view text, std::string_view file,
                                                       const HpccTopology& topology, DiagnosticSink& sink);

/// Reads lines "BYTES PERCENT" of a CDF ('#' begins a comment).
[[nodiscard]] std::optional<std::vector<workloads::CdfPoint>> read_cdf(std::string_view text, std::string_view file,
                                                                       DiagnosticSink& sink);

}  // namespace simverbs::scenarios::imports
