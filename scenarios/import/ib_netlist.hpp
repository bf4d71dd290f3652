// The topology file that ibnetdiscover writes.
#pragma once

#include <optional>
#include <string_view>

#include "scenarios/topologies/topology.hpp"

namespace simverbs::scenarios::imports {

struct IbNetlistOptions {
    sim::SimTime cable_delay = sim::SimTime::ns(10);  ///< the file knows no lengths; 2 m
};

/// Data rate of a link of `width` lanes ("4x") at a speed ("SDR" … "XDR"), line code deducted; nothing if unknown.
[[nodiscard]] std::optional<sim::BitRate> ib_link_rate(std::string_view width_and_speed);

/// Reads the records of switches and channel adapters ("Switch 36 "S-…" # "description" … lid 2 lmc 0", then a line a
/// port). A host is a port of a channel adapter that has a link: two linked ports are two hosts of one server. Hosts
/// are numbered in the order of the switches' ports, so that those of a switch are neighbours. Names come from the
/// descriptions if these are unique, else from the GUIDs. Ports keep their numbers. The adapters inside of switches
/// ("Aggregation Node") are left out. Of two rates of a link's ends the lower one counts. Levels and pods come from the
/// wiring. A link that only one side has, a node without a record, routers and unknown keys are problems.
[[nodiscard]] std::optional<topologies::Topology> read_ib_netlist(std::string_view text, std::string_view file,
                                                                  const IbNetlistOptions& options,
                                                                  DiagnosticSink& sink);

}  // namespace simverbs::scenarios::imports
