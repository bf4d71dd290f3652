// What goes wrong in a fabric of flows: faults of links, pause storms.
#include <algorithm>

#include "scenarios/run/flow_fabric.hpp"

namespace simverbs::scenarios::run {

namespace {

/// A fault with the keys of the flows that it looks for: their data one way, their acknowledgements and CNPs the other.
link::LinkFault with_flows(const FabricFault& fault, const flow::FlowTable& table) {
    link::LinkFault to = fault.fault;
    if (!fault.by_flow) return to;
    std::vector<uint64_t> keys;
    for (const flow::FlowIndex f : fault.flows) {
        keys.push_back(link::flow_key(table.spec(f).dst, table.destination_number(f), false));
        keys.push_back(link::flow_key(table.spec(f).src, table.source_number(f), true));
    }
    std::ranges::sort(keys);
    if (!to.match) to.match.emplace();
    to.match->flows = std::move(keys);
    return to;
}

}  // namespace

void FlowFabric::set_faults(uint32_t link_index) {
    std::vector<link::LinkFault> faults[2];
    if (const double loss = topology_.links[link_index].packet_loss; loss > 0)
        for (auto& direction : faults) direction.push_back({.kind = link::FaultKind::Drop, .probability = loss});
    for (const FabricFault& f : config_.faults)
        if (f.link == link_index) faults[f.from_a ? 0 : 1].push_back(with_flows(f, *flows_));
    if (!faults[0].empty()) links_[link_index]->set_faults_a_to_b(std::move(faults[0]));
    if (!faults[1].empty()) links_[link_index]->set_faults_b_to_a(std::move(faults[1]));
}

void FlowFabric::set_storms() {
    for (const FabricStorm& s : config_.storms) {
        const topologies::Link& l = topology_.links[s.link];
        const topologies::LinkEnd& end = s.at_a ? l.a : l.b;
        const pfc::PauseStorm storm(s.priority, s.from, s.until);
        if (end.node.is_switch)
            switches_[end.node.index]->add_pause_storm(end.port, storm);
        else
            nics_[end.node.index]->add_pause_storm(storm);
    }
}

uint64_t FlowFabric::storm_frames(const FabricStorm& storm) const {
    const topologies::Link& l = topology_.links[storm.link];
    const topologies::LinkEnd& end = storm.at_a ? l.a : l.b;
    return end.node.is_switch ? switches_[end.node.index]->storm_frames(end.port, storm.priority)
                              : nics_[end.node.index]->storm_frames(storm.priority);
}

}  // namespace simverbs::scenarios::run
