// What a report tells of ports, links and nodes: pure functions of a run's records.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::report {

/// Share of the run in which the port sent.
[[nodiscard]] double utilisation(const run::PortRecord& port, sim::SimTime simulated_time);
/// Share of the run in which the port's sending was paused.
[[nodiscard]] double paused_share(const run::PortRecord& port, sim::SimTime simulated_time);
/// Packets that a port has lost, for whatever reason.
[[nodiscard]] uint64_t all_drops(const run::PortCounts& counts);

struct PortTotals {
    uint64_t drops = 0, lossless_drops = 0, watchdog_drops = 0, corrupted = 0, trims = 0, marks = 0, pauses = 0,
             pause_storms = 0;
    sim::SimTime paused_time;
    sim::ByteCount max_queue = 0;
};
[[nodiscard]] PortTotals total_ports(const run::RunResult& result);

/// Indices of the ports that a reader would look at first: with drops, then paused longest, then busiest.
[[nodiscard]] std::vector<uint32_t> notable_ports(const run::RunResult& result, size_t most);

/// Where the picture of the topology has its nodes: hosts are on level 0, a switch one above the lowest neighbour.
struct PlacedNode {
    bool is_switch = false;
    uint32_t index = 0;  ///< in RunResult::switches or hosts
    uint32_t level = 0;
    uint32_t place = 0;  ///< on its level, from the left
};
/// Hosts, then switches, each in their order.
[[nodiscard]] std::vector<PlacedNode> place_nodes(const run::RunResult& result);

}  // namespace simverbs::scenarios::report
