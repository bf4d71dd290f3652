// topology.txt of the HPCC ns-3 artifact.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::imports {

/// A fabric and the file's numbers of its nodes: hosts and switches share one numbering there.
struct HpccTopology {
    topologies::Topology topology;
    std::vector<topologies::NodeRef> nodes;  ///< by the file's number
    /// Lines after the last link counted that look like links. The artifact's samples have such, and its program does
    /// not read them; worth a warning.
    uint32_t unread_lines = 0;
};

/// Reads
///     NODES SWITCHES LINKS
///     the switches' numbers, in one or several lines
///     SRC DST RATE DELAY LOSS            (for each link, e.g. "0 320 100Gbps 1000ns 0")
/// As there, what follows the last link that the first line counts is not read. Node 7 becomes h7 or sw7; levels and
/// pods come from the wiring. Every problem goes to `sink`; there is no result then.
[[nodiscard]] std::optional<HpccTopology> read_hpcc_topology(std::string_view text, std::string_view file,
                                                             DiagnosticSink& sink);

}  // namespace simverbs::scenarios::imports
