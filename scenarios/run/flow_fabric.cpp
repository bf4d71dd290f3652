#include "scenarios/run/flow_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/wire/opcode.hpp"
#include "scenarios/topologies/shares.hpp"
#include "sim/check.hpp"

namespace simverbs::scenarios::run {

using sim::SimTime;
using topologies::NodeRef;

namespace {

/// Packet::dest has 18 bits.
constexpr size_t kMostHosts = size_t{1} << 18;
/// Of SONiC's headroom vectors, where the buffer is not counted in larger cells.
constexpr sim::ByteCount kHeadroomCell = 96;

/// A link is this much longer than light says: headroom is asked for in metres.
int64_t metres_of(SimTime delay) {
    return (delay.in_ps() + link::kPropagationPerMetre.in_ps() - 1) / link::kPropagationPerMetre.in_ps();
}

wire::Packet packet_of(uint8_t opcode, uint32_t payload) {
    wire::Packet packet;
    packet.opcode = opcode;
    packet.payload_bytes = static_cast<uint16_t>(payload);
    return packet;
}

uint32_t full_packet_bytes(const FlowFabricConfig& config) {
    constexpr auto kMiddle = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::WriteMiddle);
    return link::packet_bytes(config.layer, packet_of(kMiddle, config.nics.payload_bytes), config.vlan);
}

uint32_t ack_bytes(const FlowFabricConfig& config) {
    return link::packet_bytes(config.layer, packet_of(wire::kAckOpcode, 0), config.vlan);
}

/// What packets on the wire ask for: data, acknowledgements and CNPs.
uint16_t services_of(const flow::FlowPlan& plan, const FlowFabricConfig& config) {
    // Programs choose theirs when they run.
    uint32_t services = config.adapters.empty() ? 0 : config.layer == link::LinkLayer::Ethernet ? 0xFF : 0xFFFF;
    for (const FabricAdapter& adapter : config.adapters)
        for (const hca::HcaPortConfig& port : adapter.nic.ports)
            for (const uint8_t service : port.service_of_dscp) services |= 1U << service;
    for (const flow::FlowSpec& f : plan.flows) services |= 1U << f.priority;
    if (config.nics.ack_priority != 0xFF) services |= 1U << config.nics.ack_priority;
    if (config.cc->needs().cnp) services |= 1U << config.nics.cnp_priority;
    return static_cast<uint16_t>(services == 0 ? 1 : services);
}

/// The numbers of each switch's links.
std::vector<std::vector<uint32_t>> links_by_switch(const topologies::Topology& topology) {
    std::vector<std::vector<uint32_t>> links(topology.switches.size());
    for (uint32_t i = 0; i < topology.links.size(); ++i)
        for (const topologies::LinkEnd& end : {topology.links[i].a, topology.links[i].b})
            if (end.node.is_switch) links[end.node.index].push_back(i);
    return links;
}

/// Programs want the engine's windows short; and no longer than what the links allow anyway.
sim::EngineConfig engine_config(const topologies::Topology& topology, const FlowFabricConfig& config,
                                const std::vector<AdapterPort>& adapter_ports) {
    sim::EngineConfig engine = config.engine;
    if (config.adapters.empty() || engine.window != SimTime::zero()) return engine;
    engine.window = sim::kMaxWindow;
    for (const FabricAdapter& a : config.adapters)
        engine.window = std::min(engine.window, fabric::Adapters::window_of(a.nic));
    const auto inside = [&](const topologies::LinkEnd& end) {
        if (end.node.is_switch)
            return (config.per_switch.empty() ? config.switches : config.per_switch[end.node.index]).pipeline_latency;
        const AdapterPort at = adapter_ports[end.node.index];
        return at.port != 0 ? config.adapters[at.adapter].nic.profile->timing.rx_pipeline : SimTime::zero();
    };
    for (const topologies::Link& l : topology.links)
        for (const topologies::LinkEnd& end : {l.a, l.b})
            engine.window = std::min(engine.window, l.delay + inside(end));
    return engine;
}

fabric::SwitchConfig switch_config(const topologies::Topology& topology, const FlowFabricConfig& config,
                                   uint16_t services, uint32_t index, size_t ports, std::span<const uint32_t> links) {
    fabric::SwitchConfig c = config.per_switch.empty() ? config.switches : config.per_switch[index];
    c.path = topology.switches[index].name;
    c.ports = static_cast<uint32_t>(ports);
    c.priorities = link::classes_of(services, c.classes);
    c.seed = config.engine.seed;
    c.telemetry = c.telemetry || config.cc->needs().hop_int;
    if (!config.pfc) c.buffer.lossless = 0;
    c.buffer.lossless &= c.priorities;
    if (c.buffer.lossless == 0 || c.buffer.headroom != 0 || c.buffer.is_headroom_given || !config.headroom_auto)
        return c;
    const auto largest = static_cast<sim::ByteCount>(full_packet_bytes(config));
    for (const uint32_t i : links) {
        const topologies::Link& l = topology.links[i];
        const pfc::Headroom h = pfc::headroom(
            {l.rate, metres_of(l.delay), largest, largest, std::max<sim::ByteCount>(c.buffer.cell, kHeadroomCell)});
        c.buffer.headroom = std::max(c.buffer.headroom, h.size);
    }
    return c;
}

}  // namespace

std::vector<AdapterPort> adapter_ports(std::span<const FabricAdapter> adapters, size_t hosts) {
    std::vector<AdapterPort> ports(adapters.empty() ? 0 : hosts);
    for (size_t a = 0; a < adapters.size(); ++a)
        for (size_t p = 0; p < adapters[a].hosts.size(); ++p)
            if (const flow::HostIndex host = adapters[a].hosts[p]; host != FabricAdapter::kNoCable)
                ports[host] = {static_cast<uint32_t>(a), static_cast<uint8_t>(p + 1)};
    return ports;
}

std::vector<FabricProblem> FlowFabric::problems_with(const topologies::Topology& topology, const flow::FlowPlan& plan,
                                                     const FlowFabricConfig& config) {
    using About = FabricProblem::About;
    std::vector<FabricProblem> problems;
    const uint16_t services = services_of(plan, config);
    const auto links = links_by_switch(topology);
    std::vector<size_t> ports(topology.switches.size(), 0);
    for (const topologies::Link& l : topology.links)
        for (const topologies::LinkEnd& end : {l.a, l.b})
            if (end.node.is_switch) ports[end.node.index] = std::max<size_t>(ports[end.node.index], end.port + 1);
    if (topology.hosts.size() > kMostHosts)
        problems.push_back({fmt::format("{} hosts are more than a packet can address: at most {}",
                                        topology.hosts.size(), kMostHosts)});
    if (config.layer == link::LinkLayer::InfiniBand && config.nics.vl_buffer > link::kMaxCredits * link::kCreditBytes)
        problems.push_back({fmt::format("a vl_buffer of {} bytes is more than credits can express: at most {}",
                                        config.nics.vl_buffer, link::kMaxCredits * link::kCreditBytes),
                            About::VlBuffer});
    if (config.layer == link::LinkLayer::InfiniBand && config.nics.vl_buffer != 0 &&
        config.nics.vl_buffer < full_packet_bytes(config))
        problems.push_back({fmt::format("a vl_buffer of {} bytes has no room for a packet of {}", config.nics.vl_buffer,
                                        full_packet_bytes(config)),
                            About::VlBuffer});
    const auto has_pfc = [&](topologies::NodeRef node) {
        if (!node.is_switch) return false;
        const uint32_t i = node.index;
        return switch_config(topology, config, services, i, ports[i], links[i]).buffer.lossless != 0;
    };
    const auto adapter_ports = run::adapter_ports(config.adapters, topology.hosts.size());
    for (size_t i = 0; i < config.storms.size(); ++i) {
        const FabricStorm& s = config.storms[i];
        const topologies::Link& l = topology.links[s.link];
        const NodeRef stormer = (s.at_a ? l.a : l.b).node;
        if (!stormer.is_switch && !adapter_ports.empty() && adapter_ports[stormer.index].port != 0) {
            problems.push_back({fmt::format("'{}' is a pause storm of {}, which runs programs: a host of flows, or the "
                                            "switch's end of the link, can have one",
                                            s.name, topology.name_of(stormer)),
                                About::Storm, i});
            continue;
        }
        if (config.layer == link::LinkLayer::Ethernet && (has_pfc(l.a.node) || has_pfc(l.b.node))) continue;
        problems.push_back({fmt::format("'{}' is a pause storm on a link without PFC: {} - {} has no switch with a "
                                        "lossless priority that is in use",
                                        s.name, topology.name_of(l.a.node), topology.name_of(l.b.node)),
                            About::Storm, i});
    }
    for (uint32_t i = 0; i < topology.switches.size() && problems.empty(); ++i) {
        if (2 * ports[i] > sim::kMaxLocalSources)
            problems.push_back({fmt::format("{} has {} ports: at most {} can be simulated", topology.switches[i].name,
                                            ports[i], sim::kMaxLocalSources / 2)});
        const fabric::SwitchConfig c = switch_config(topology, config, services, i, ports[i], links[i]);
        if (c.vl_arbitration) {
            const auto& tables = *c.vl_arbitration;
            const uint32_t served = link::VlArbitration::served(tables.high) | link::VlArbitration::served(tables.low);
            for (uint32_t rest = c.priorities & ~served; rest != 0; rest &= rest - 1) {
                const auto vl = static_cast<uint32_t>(std::countr_zero(rest));
                problems.push_back({fmt::format("VL {} has no weight in an arbitration table of {}: its packets would "
                                                "wait for ever; give it one in `vl_arbitration`",
                                                vl, c.path),
                                    About::VlArbitration, i, vl});
            }
        }
        const fabric::SharedBuffer buffer(c.buffer, c.ports);
        if (buffer.shared_total() > 0) continue;
        problems.push_back(
            {fmt::format("the buffer of {} ({} bytes) is smaller than what PFC sets aside: {} ports x {} bytes of "
                         "headroom and {} of "
                         "reserve for each lossless priority; give it a larger `buffer` or a smaller `pfc.headroom`",
                         c.path, c.buffer.total, c.ports, c.buffer.headroom, c.buffer.reserve),
             About::Buffer, i});
    }
    return problems;
}

FlowFabric::FlowFabric(const topologies::Topology& topology, flow::FlowPlan plan, const FlowFabricConfig& config,
                       host::HostMemory* memory)
    : topology_(topology),
      config_(config),
      routes_(topologies::plan_routes(topology, {}, config.routing)),
      adapters_(memory),
      pool_(config.engine.threads, adapters_.mover()) {
    if (adapters_.mover() != nullptr) adapters_.mover()->set_threaded(config.engine.threads > 1);
    config_.nics.cc = config_.cc;
    if (config_.per_switch.empty())
        config_.nics.vl_buffer = config_.switches.vl_buffer;  // the ends of a link must agree
    services_ = services_of(plan, config_);
    if (config_.cc->needs().hop_int) pool_.carry_int();
    flows_ = std::make_unique<flow::FlowTable>(std::move(plan), static_cast<uint32_t>(topology_.hosts.size()));
    adapter_ports_ = adapter_ports(config_.adapters, topology_.hosts.size());
    engine_ = std::make_unique<sim::Engine>(engine_config(topology_, config_, adapter_ports_));
    number_ports();
    make_adapters();
    make_nodes();
    wire();
    set_storms();
    route();
    if (!config_.adapters.empty()) prepare_multicast();
    if (config_.uniform_base_rtt) find_longest_rtt();
    for (const auto& nic : nics_)
        if (nic) nic->begin();
    engine_->add_stuck_reporter(*this);
}

FlowFabric::~FlowFabric() {
    nics_.clear();
    switches_.clear();
    links_.clear();
}

/// Switch ports as the topology numbers them; the cables in between.
void FlowFabric::number_ports() {
    switch_peers_.resize(topology_.switches.size());
    host_peer_.resize(topology_.hosts.size());
    const auto note = [this](const topologies::LinkEnd& end, const topologies::LinkEnd& other, uint32_t link) {
        const Peer peer{other.node, other.port, link};
        if (!end.node.is_switch) {
            host_peer_[end.node.index] = peer;
            return;
        }
        auto& peers = switch_peers_[end.node.index];
        if (peers.size() <= end.port) peers.resize(end.port + 1);
        peers[end.port] = peer;
    };
    for (uint32_t i = 0; i < topology_.links.size(); ++i) {
        note(topology_.links[i].a, topology_.links[i].b, i);
        note(topology_.links[i].b, topology_.links[i].a, i);
    }
}

void FlowFabric::make_adapters() {
    if (config_.adapters.empty()) return;
    auto nowhere = static_cast<wire::LeafId>(topology_.hosts.size());
    std::vector<fabric::NicSpec> nics;
    for (const FabricAdapter& adapter : config_.adapters) {
        nics.push_back(adapter.nic);
        if (hca::CongestionConfig::is_understood(*config_.cc)) {
            nics.back().congestion = {config_.cc, config_.nics.cnp_priority,
                                      [this](wire::LeafId from, wire::LeafId to) { return facts(from, to); }};
        }
        for (size_t p = 0; p < adapter.hosts.size(); ++p) {
            const flow::HostIndex host = adapter.hosts[p];
            if (host == FabricAdapter::kNoCable) {
                nics.back().ports[p].leaf = nowhere++;
                continue;
            }
            SIM_CHECK(flows_->leaving(host).empty() && flows_->arriving(host).empty(), host);
            hca::HcaPortConfig& port = nics.back().ports[p];
            port.leaf = host;
            port.rate = topology_.links[host_peer_[host].link].rate;
            port.vl_buffer = config_.nics.vl_buffer;
            port.classes = classes_of({false, host});
            port.peer_classes = classes_of(host_peer_[host].node);
            if (topology_.hosts[host].lid != 0) port.lid = topology_.hosts[host].lid;
        }
    }
    adapters_.make(std::move(nics), config_.complex_hosts, config_.engine.seed, *engine_, pool_);
}

void FlowFabric::make_nodes() {
    nics_.resize(topology_.hosts.size());
    switches_.resize(topology_.switches.size());
    const auto links = links_by_switch(topology_);
    const topologies::Shares shares = topologies::share_out(topology_, config_.engine.threads);
    for (const NodeRef node : topologies::nodes_pod_by_pod(topology_)) {
        if (node.is_switch) {
            make_switch(node.index, links[node.index], shares.of(node));
            continue;
        }
        if (!adapter_ports_.empty() && adapter_ports_[node.index].port != 0) continue;
        flow::FlowNicConfig c = config_.nics;
        c.path = topology_.hosts[node.index].name;
        c.host = node.index;
        c.paths = this;
        c.classes = classes_of(node);
        c.peer_classes = classes_of(host_peer_[node.index].node);
        nics_[node.index] = std::make_unique<flow::FlowNic>(std::move(c), *flows_, &pool_);
        engine_->add_node(*nics_[node.index], shares.of(node));
    }
}

const link::ServiceMap& FlowFabric::classes_of(NodeRef node) const {
    if (node.is_switch) return (config_.per_switch.empty() ? config_.switches : config_.per_switch[node.index]).classes;
    return config_.nic_classes.empty() ? config_.nics.classes : config_.nic_classes[node.index];
}

void FlowFabric::make_switch(uint32_t index, std::span<const uint32_t> links, unsigned partition) {
    switches_[index] = std::make_unique<fabric::Switch>(
        switch_config(topology_, config_, services_, index, switch_peers_[index].size(), links), &pool_);
    engine_->add_node(*switches_[index], partition);
}

void FlowFabric::wire() {
    links_.reserve(topology_.links.size());
    for (const topologies::Link& l : topology_.links) {
        link::LinkParams params;
        params.layer = config_.layer;
        params.rate = l.rate;
        params.propagation = l.delay;
        params.vlan = config_.vlan;
        params.flow_control = has_flow_control(l);
        params.pause_response = pfc::response_time(l.rate);
        const auto end = [this](const topologies::LinkEnd& e) {
            if (!e.node.is_switch && !has_flows(e.node.index)) {
                const auto [adapter, port] = adapter_port(e.node.index);
                const hca::Hca& nic = adapters_.nic(adapter);
                // As latency of the link it makes the engine's windows longer.
                return link::LinkEnd{nic.id(), nic.config().name + "/" + std::to_string(port),
                                     nic.profile().timing.rx_pipeline};
            }
            if (!e.node.is_switch)
                return link::LinkEnd{nics_[e.node.index]->id(), topology_.hosts[e.node.index].name, {}};
            const fabric::Switch& s = *switches_[e.node.index];
            return link::LinkEnd{s.id(), s.config().path + "/" + std::to_string(e.port), s.config().pipeline_latency};
        };
        links_.push_back(std::make_unique<link::Link>(*engine_, params, end(l.a), end(l.b), &pool_));
        set_faults(static_cast<uint32_t>(links_.size() - 1));
        const auto attach = [&](const topologies::LinkEnd& e, NodeRef peer, const link::PortWiring& wiring) {
            if (!e.node.is_switch && !has_flows(e.node.index)) {
                const auto [adapter, port] = adapter_port(e.node.index);
                return adapters_.attach(adapter, port, wiring);
            }
            if (!e.node.is_switch) return nics_[e.node.index]->attach_port(wiring);
            fabric::Switch& s = *switches_[e.node.index];
            s.attach_port(e.port, wiring);
            s.set_peer_classes(e.port, classes_of(peer));
            set_port_rules(s, e, l.rate);
        };
        attach(l.a, l.b.node, links_.back()->wiring_a());
        attach(l.b, l.a.node, links_.back()->wiring_b());
    }
}

bool FlowFabric::has_flow_control(const topologies::Link& l) const {
    if (config_.layer == link::LinkLayer::InfiniBand) return config_.nics.vl_buffer != 0;
    const auto is_lossless = [this](NodeRef node) {
        return node.is_switch && switches_[node.index]->config().buffer.lossless != 0;
    };
    return is_lossless(l.a.node) || is_lossless(l.b.node);
}

/// Marking by the port's speed; and HPCC's rule for the buffer: one bit less of shift for each doubling.
void FlowFabric::set_port_rules(fabric::Switch& s, const topologies::LinkEnd& end, sim::BitRate rate) const {
    const uint32_t index = end.node.index;
    if (config_.red && (config_.own_red.empty() || !config_.own_red[index])) s.set_red(end.port, config_.red(rate));
    if (config_.shifts.empty() || !config_.shifts[index]) return;
    int shift = *config_.shifts[index];
    for (sim::BitRate r = config_.host_rate; r < rate && shift > 0; r = sim::BitRate::bps(r.in_bps() * 2)) --shift;
    s.set_alpha(end.port, std::ldexp(1.0, -shift));
}

void FlowFabric::route() {
    auto places = std::make_shared<fabric::LeafPlaces>();
    for (flow::HostIndex host = 0; host < nics_.size(); ++host) {
        const uint32_t leaf = routes_.leaf_of_host[host];
        constexpr uint16_t kNowhere = 0xFFFF;
        SIM_CHECK(leaf == topologies::kNoLeaf || leaf < kNowhere, host, leaf);
        places->place_of.push_back(leaf == topologies::kNoLeaf ? kNowhere : static_cast<uint16_t>(leaf));
        places->port_of.push_back(routes_.port_of_host[host]);
    }
    for (size_t i = 0; i < switches_.size(); ++i) {
        const topologies::SwitchRoutes& routes = routes_.switches[i];
        fabric::ForwardingTable& table = switches_[i]->table();
        table.share_places(places);
        std::vector<fabric::GroupId> groups;
        for (size_t g = 0; g < routes.groups(); ++g) {
            const auto ports = routes.group(g);
            groups.push_back(table.add_group(std::vector<fabric::PortIndex>(ports.begin(), ports.end())));
        }
        for (uint32_t leaf = 0; leaf < routes_.leaf_switches.size(); ++leaf) {
            const uint16_t group = routes.group_of_leaf[leaf];
            if (group == topologies::kHere)
                table.set_own_place(leaf);
            else if (group != topologies::kNoRoute)
                table.set_place_route(leaf, groups[group]);
        }
    }
}

void FlowFabric::prepare_multicast() {
    std::vector<fabric::RoutedLink> links;
    const auto end = [](const topologies::LinkEnd& e) {
        return fabric::RoutedEnd{e.node.is_switch, e.node.index, e.port, e.node.is_switch ? 0 : e.node.index};
    };
    for (const topologies::Link& l : topology_.links) links.push_back({end(l.a), end(l.b)});
    std::vector<fabric::Switch*> switches;
    for (const auto& s : switches_) switches.push_back(s.get());
    multicast_ = std::make_unique<fabric::MulticastTree>(std::move(links), std::move(switches));
    adapters_.neighbours().set_replicator(*multicast_);
}

/// Along the first of the equally short paths.
FlowFabric::PathSum FlowFabric::walk(flow::HostIndex src, flow::HostIndex dst) const {
    PathSum sum;
    Peer at = host_peer_[src];
    const topologies::Link* link = &topology_.links[at.link];
    sum.latency = link->delay;
    sum.slowest = link->rate;
    sum.links = 1;
    const uint32_t leaf = routes_.leaf_of_host[dst];
    while (at.node.is_switch) {
        const fabric::SwitchConfig& c = switches_[at.node.index]->config();
        const topologies::SwitchRoutes& routes = routes_.switches[at.node.index];
        const uint16_t group = leaf == topologies::kNoLeaf ? topologies::kNoRoute : routes.group_of_leaf[leaf];
        if (group == topologies::kNoRoute) break;
        const uint32_t port = group == topologies::kHere ? routes_.port_of_host[dst] : routes.group(group).front();
        const topologies::Link* next = &topology_.links[switch_peers_[at.node.index][port].link];
        sum.latency += c.pipeline_latency + next->delay;
        if (c.forwarding == fabric::Forwarding::StoreAndForward || next->rate > link->rate) ++sum.store_and_forward;
        sum.slowest = std::min(sum.slowest, next->rate);
        ++sum.links;
        at = switch_peers_[at.node.index][port];
        link = next;
    }
    return sum;
}

/// From one host of each leaf to one host of each other.
void FlowFabric::find_longest_rtt() {
    std::vector<flow::HostIndex> samples;
    std::vector<uint32_t> seen;
    for (flow::HostIndex host = 0; host < nics_.size(); ++host) {
        if (std::ranges::find(seen, routes_.leaf_of_host[host]) != seen.end()) continue;
        seen.push_back(routes_.leaf_of_host[host]);
        samples.push_back(host);
    }
    SimTime longest;
    for (const flow::HostIndex a : samples)
        for (const flow::HostIndex b : samples)
            if (a != b) longest = std::max(longest, facts(a, b).base_rtt);
    longest_rtt_ = longest;
}

cc::PathFacts FlowFabric::facts(flow::HostIndex src, flow::HostIndex dst) const {
    const PathSum there = walk(src, dst);
    cc::PathFacts f;
    f.line_rate = topology_.links[host_peer_[src].link].rate;
    f.packet_bytes = full_packet_bytes(config_);
    f.payload_bytes = config_.nics.payload_bytes;
    f.hops = there.links;
    const int64_t copies = 1 + there.store_and_forward;
    f.base_rtt = there.latency * 2 + there.slowest.time_for(f.packet_bytes) * copies +
                 there.slowest.time_for(ack_bytes(config_)) * copies;
    if (config_.uniform_base_rtt) f.base_rtt = std::max(f.base_rtt, longest_rtt_);
    return f;
}

SimTime FlowFabric::ideal_time(flow::HostIndex src, flow::HostIndex dst, sim::ByteCount bytes) const {
    const PathSum there = walk(src, dst);
    const sim::ByteCount payload = config_.nics.payload_bytes;
    const sim::ByteCount packets = std::max<sim::ByteCount>((bytes + payload - 1) / payload, 1);
    const auto overhead = static_cast<sim::ByteCount>(full_packet_bytes(config_)) - payload;
    const sim::ByteCount wire_bytes = bytes + packets * overhead;
    const sim::ByteCount last = bytes - (packets - 1) * payload + overhead;
    return there.latency * 2 + there.slowest.time_for(wire_bytes) +
           there.slowest.time_for(last) * there.store_and_forward +
           there.slowest.time_for(ack_bytes(config_)) * (1 + there.store_and_forward);
}

}  // namespace simverbs::scenarios::run
