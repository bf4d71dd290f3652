#include "scenarios/run/collect_result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/run/collect_inside.hpp"

namespace simverbs::scenarios::run {

namespace {

bool is_measured(const ScenarioSpec& spec, sim::SimTime start) {
    return start >= spec.run.measure_from && start < spec.run.measure_until.value_or(sim::SimTime::max());
}

void collect_flows(const ScenarioSpec& spec, const BuiltScenario& built, RunResult& result) {
    const flow::FlowTable& table = built.fabric->flows();
    std::vector<uint32_t> numbers(result.groups.size(), 0);
    result.flows.resize(table.size());
    for (uint32_t i = 0; i < table.size(); ++i) {
        const flow::FlowSpec& f = table.spec(i);
        const flow::FlowResult& r = table.result(i);
        FlowRecord& to = result.flows[i];
        to.group = f.group;
        to.number = numbers[f.group]++;
        to.src = f.src;
        to.dst = f.dst;
        // On Ethernet the one that the sender gives it, whatever the packets say; on InfiniBand the SL.
        const auto& classes = built.fabric->nic(f.src).config().classes;
        to.priority = result.is_infiniband ? f.priority : classes[f.priority];
        to.bytes = f.bytes;
        to.planned = f.start;
        to.started = r.started;
        to.received = r.received;
        to.acknowledged = r.acknowledged;
        to.ideal = built.fabric->ideal_time(f.src, f.dst, f.bytes);
        to.delivered = built.fabric->bytes_received(i);
        to.retransmitted = r.retransmitted;
        to.timeouts = r.timeouts;
        to.naks = r.naks;
        to.cnps = r.cnps;
        to.status = r.status;
        const sim::SimTime start = r.started != sim::SimTime::max() ? r.started : f.start;
        to.is_measured = is_measured(spec, start);
    }
}

}  // namespace

void name_parts(const BuiltTopology& topology, RunResult& result) {
    const topologies::Topology& t = topology.topology;
    result.hosts.resize(t.hosts.size());
    result.switches.resize(t.switches.size());
    for (size_t i = 0; i < t.hosts.size(); ++i) result.hosts[i].name = t.hosts[i].name;
    for (size_t i = 0; i < t.switches.size(); ++i) result.switches[i].name = t.switches[i].name;
    for (uint32_t i = 0; i < t.links.size(); ++i) {
        const topologies::Link& l = t.links[i];
        LinkRecord record;
        record.rate = l.rate;
        record.delay = l.delay;
        record.name = topology.port_name(l.a) + " - " + topology.port_name(l.b);
        for (const topologies::LinkEnd* end : {&l.a, &l.b}) {
            const auto index = static_cast<uint32_t>(result.ports.size());
            (end == &l.a ? record.a : record.b) = index;
            PortRecord port;
            port.name = topology.port_name(*end);
            port.is_switch = end->node.is_switch;
            port.node = end->node.index;
            port.port = end->port;
            port.link = i;
            port.rate = l.rate;
            result.ports.push_back(std::move(port));
            if (end->node.is_switch)
                result.switches[end->node.index].ports.push_back(index);
            else
                result.hosts[end->node.index].port = index;
        }
        result.links.push_back(std::move(record));
    }
}

void name_flows(const ScenarioSpec& spec, const flow::FlowPlan& plan, RunResult& result) {
    std::vector<uint32_t> numbers(result.groups.size(), 0);
    result.flows.resize(plan.flows.size());
    for (size_t i = 0; i < plan.flows.size(); ++i) {
        const flow::FlowSpec& f = plan.flows[i];
        FlowRecord& to = result.flows[i];
        to.group = f.group;
        to.number = numbers[f.group]++;
        to.src = f.src;
        to.dst = f.dst;
        to.is_measured = is_measured(spec, f.start);
    }
}

void describe_parts(const ScenarioSpec& spec, const BuiltScenario& built, RunResult& result) {
    name_parts(built.topology, result);
    name_insides(built.adapters, result);
    for (size_t i = 0; i < result.switches.size(); ++i) {
        SwitchRecord& s = result.switches[i];
        const fabric::SwitchConfig& c = built.fabric->fabric_switch(i).config();
        s.buffer = c.buffer.total < fabric::BufferConfig::kUnlimited ? c.buffer.total : 0;
        s.headroom = c.buffer.lossless != 0 ? c.buffer.headroom : 0;
    }
    collect_flows(spec, built, result);
}

/// What every kind of port counts alike.
void take_traffic(const auto& c, PortCounts& to) {
    to.tx_packets = c.tx_packets;
    to.tx_bytes = c.tx_bytes;
    to.rx_packets = c.rx_packets;
    to.rx_bytes = c.rx_bytes;
}

PortCounts counts_of(const BuiltScenario& built, const PortRecord& port) {
    PortCounts to;
    if (!port.is_switch && !built.fabric->has_flows(port.node)) {
        const auto [adapter, number] = built.fabric->adapter_port(port.node);
        const hca::LinkCounts c = built.fabric->adapters().nic(adapter).link_counts(number);
        take_traffic(c, to);
        to.corrupted = c.corrupt;
        to.pauses_received = c.pauses_received;
        to.paused_time = c.paused_time;
        return to;
    }
    if (!port.is_switch) {
        const flow::FlowNicCounters& c = built.fabric->nic(port.node).counters();
        take_traffic(c, to);
        to.corrupted = c.corrupt;
        to.pauses_received = built.fabric->nic(port.node).flow_control().pauses_received();
        to.pauses_sent = c.pauses_sent;
        to.paused_time = built.fabric->nic(port.node).paused_time();
        return to;
    }
    const fabric::Switch& s = built.fabric->fabric_switch(port.node);
    const fabric::PortCounters c = s.counters(port.port);
    take_traffic(c, to);
    to.drops = c.drops_full + c.drops_headroom + c.drops_watchdog;
    to.lossless_drops = c.drops_headroom;
    to.watchdog_drops = c.drops_watchdog;
    to.other_drops = c.drops_ttl + c.drops_no_route;
    to.trims = c.trimmed;
    to.marks = c.marked;
    to.pauses_sent = c.pauses_sent;
    to.pauses_received = c.pauses_received;
    to.pause_storms = c.watchdog_events;
    to.paused_time = c.paused_time;
    for (uint32_t p = 0; p < kPriorities; ++p) to.queue[p] = s.queue_bytes(port.port, p);
    for (uint32_t p = 0; p < kLosslessPriorities; ++p)
        to.headroom[p] = static_cast<uint32_t>(s.headroom_bytes(port.port, p));
    return to;
}

std::vector<sim::TimeHistogram> delays_of(const BuiltScenario& built, const PortRecord& port) {
    std::vector<sim::TimeHistogram> delays;
    if (!port.is_switch) return delays;
    const fabric::Switch& s = built.fabric->fabric_switch(port.node);
    for (uint32_t p = 0; p < kPriorities; ++p)
        if (const sim::TimeHistogram* of = s.delays(port.port, p)) delays.push_back(*of);
    return delays;
}

namespace {

/// What the packets that passed lacked.
std::string silence_of(const AddressedFaultSpec& fault, const link::FaultReport& report) {
    const std::string passed = fmt::format("{} packet{} passed", report.seen, report.seen == 1 ? "" : "s");
    const PacketTrigger& trigger = fault.trigger;
    if (report.kind == link::FaultKind::Down) return passed + ", none of them meanwhile";
    if (trigger.packet) return fmt::format("{}, it waits for packet {}", passed, *trigger.packet);
    if (trigger.every) return fmt::format("{}, it waits for each {}th", passed, *trigger.every);
    if (!trigger.match) return passed;
    if (trigger.match->iteration && report.matched > 0)
        return fmt::format("{}, {} of which it matches, and it waits for number {} of these", passed, report.matched,
                           *trigger.match->iteration);
    return passed + ", none of which it matches";
}

/// Of the links; what happened to programs and ports is added by whoever ran them.
void collect_faults(const ScenarioSpec& spec, const BuiltScenario& built, RunResult& result) {
    result.faults = built.faults;
    std::vector<uint64_t> most_seen(result.faults.size(), 0);
    for (size_t i = 0; i < result.links.size(); ++i) {
        for (const link::FaultReport& report : built.fabric->fabric_link(i).fault_reports()) {
            for (size_t f = 0; f < result.faults.size(); ++f) {
                FaultRecord& fault = result.faults[f];
                // A port's state is not the packets' doing: that it changed is what fires.
                if (fault.name != report.path || spec.faults[f].kind == AddressedFaultKind::PortState) continue;
                if (report.fired > 0) fault.add_firing(report.fired, report.first, report.last);
                if (report.seen < most_seen[f]) continue;
                most_seen[f] = report.seen;
                fault.silence = silence_of(spec.faults[f], report);
            }
        }
    }
}

}  // namespace

void collect_end(const ScenarioSpec& spec, BuiltScenario& built, RunResult& result) {
    for (PortRecord& port : result.ports) {
        port.end = counts_of(built, port);
        if (!port.is_switch) continue;
        const fabric::Switch& s = built.fabric->fabric_switch(port.node);
        port.max_queue = static_cast<sim::ByteCount>(s.counters(port.port).max_queue_bytes);
        for (uint32_t p = 0; p < kLosslessPriorities; ++p)
            port.max_headroom[p] = static_cast<uint32_t>(s.max_headroom_bytes(port.port, p));
        port.delays = delays_of(built, port);
    }
    for (size_t i = 0; i < result.switches.size(); ++i) {
        const fabric::SharedBuffer& buffer = built.fabric->fabric_switch(i).buffer();
        result.switches[i].max_buffer = buffer.max_used();
        result.switches[i].max_headroom = buffer.max_headroom_wanted();
    }
    collect_flows(spec, built, result);
    collect_faults(spec, built, result);
    collect_insides(built.fabric->adapters(), result);
    for (const SlotFault& fault : built.slot_faults)
        collect(fault, built.fabric->adapters(), result.faults[fault.fault]);
    for (const FabricStorm& storm : built.fabric->config().storms)
        for (FaultRecord& fault : result.faults)
            if (const uint64_t frames = built.fabric->storm_frames(storm); fault.name == storm.name && frames > 0)
                fault.add_firing(frames, storm.from, std::min(storm.until, built.fabric->engine().frontier()));
    result.packet_hops = built.fabric->hops();
    result.memory_bytes = built.fabric->memory();
    result.deadlocks = built.fabric->pause_cycle().empty() ? 0 : 1;
}

}  // namespace simverbs::scenarios::run
