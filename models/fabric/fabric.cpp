#include "models/fabric/fabric.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/fabric/routing.hpp"

namespace simverbs::fabric {

namespace {

sim::EngineConfig with_window_for_programs(sim::EngineConfig config, const FabricSpec& spec) {
    if (config.window != sim::SimTime::zero()) return config;
    sim::SimTime window = sim::kMaxWindow;
    for (const NicSpec& nic : spec.nics) window = std::min(window, Adapters::window_of(nic));
    for (const LinkSpec& l : spec.links) {
        for (const LinkEndSpec* receiver : {&l.a, &l.b}) {
            const sim::SimTime inside = receiver->is_switch ? spec.switches.at(receiver->index).latency
                                                            : spec.nics.at(receiver->index).profile->timing.rx_pipeline;
            window = std::min(window, l.params.propagation + l.params.header_latency + inside);
        }
    }
    config.window = std::max(window, sim::SimTime::zero());
    return config;
}

}  // namespace

Fabric::Fabric(const FabricSpec& spec, sim::EngineConfig config, host::HostMemory* memory)
    : engine_(memory != nullptr ? with_window_for_programs(config, spec) : config),
      adapters_(memory),
      pool_(std::max(config.threads, 1U), adapters_.mover()) {
    if (mover() != nullptr) mover()->set_threaded(config.threads > 1);
    add_nodes(spec);
    wire_links(spec);
    route(spec);
    engine_.add_stuck_reporter(adapters_);
}

Fabric::~Fabric() {
    engine_.remove_stuck_reporter(adapters_);
}

void Fabric::add_nodes(const FabricSpec& spec) {
    std::vector<NicSpec> nics = spec.nics;
    wire::LeafId leaf = 0;
    for (NicSpec& nic : nics)
        for (hca::HcaPortConfig& port : nic.ports) port.leaf = leaf++;
    adapters_.make(std::move(nics), spec.hosts, spec.seed, engine_, pool_);
    std::vector<uint32_t> degree(spec.switches.size());
    for (const LinkSpec& l : spec.links) {
        if (l.a.is_switch) ++degree.at(l.a.index);
        if (l.b.is_switch) ++degree.at(l.b.index);
    }
    for (size_t i = 0; i < spec.switches.size(); ++i) {
        const SwitchSpec& s = spec.switches[i];
        SwitchConfig c;
        c.path = s.path;
        c.ports = degree[i];
        c.forwarding = s.forwarding;
        c.pipeline_latency = s.latency;
        c.buffer.total = std::min(s.buffer_bytes, BufferConfig::kUnlimited);
        c.queue_bytes = s.queue_bytes;
        c.seed = spec.seed;
        switches_.push_back(std::make_unique<Switch>(c, &pool_));
        engine_.add_node(*switches_.back());
    }
}

void Fabric::wire_links(const FabricSpec& spec) {
    std::vector<PortIndex> next_port(spec.switches.size());
    for (const LinkSpec& l : spec.links) {
        std::vector<PortIndex> ports;
        const auto end_of = [&](const LinkEndSpec& e) {
            link::LinkEnd end;
            if (e.is_switch) {
                ports.push_back(next_port[e.index]++);
                end.node = switches_[e.index]->id();
                end.path = spec.switches[e.index].path + "/" + std::to_string(ports.back() + 1);
                end.ingress_latency = spec.switches[e.index].latency;
            } else {
                ports.push_back(e.port);
                end.node = adapters_.nic(e.index).id();
                end.path = spec.nics[e.index].path + "/" + std::to_string(e.port);
                // As latency of the link it makes the engine's windows longer.
                end.ingress_latency = spec.nics[e.index].profile->timing.rx_pipeline;
            }
            return end;
        };
        const link::LinkEnd a = end_of(l.a), b = end_of(l.b);
        links_.push_back(std::make_unique<link::Link>(engine_, l.params, a, b, &pool_));
        link::Link& made = *links_.back();
        if (!l.faults_a_to_b.empty()) made.set_faults_a_to_b(l.faults_a_to_b);
        if (!l.faults_b_to_a.empty()) made.set_faults_b_to_a(l.faults_b_to_a);
        const auto attach = [&](const LinkEndSpec& e, PortIndex port, const link::PortWiring& wiring) {
            if (e.is_switch) {
                switches_[e.index]->attach_port(port, wiring);
                return;
            }
            adapters_.attach(e.index, static_cast<uint8_t>(port), wiring);
        };
        attach(l.a, ports[0], made.wiring_a());
        attach(l.b, ports[1], made.wiring_b());
        link_switch_ports_.push_back(std::move(ports));
    }
}

void Fabric::route(const FabricSpec& spec) {
    std::vector<RoutedLink> edges;
    for (size_t i = 0; i < spec.links.size(); ++i) {
        const LinkSpec& l = spec.links[i];
        const auto end_of = [&](const LinkEndSpec& e, PortIndex port) {
            RoutedEnd end{e.is_switch, e.index, port, 0};
            if (!e.is_switch) {
                wire::LeafId leaf = 0;
                for (uint32_t n = 0; n < e.index; ++n) leaf += static_cast<wire::LeafId>(spec.nics[n].ports.size());
                end.leaf = leaf + e.port - 1;
            }
            return end;
        };
        edges.push_back({end_of(l.a, link_switch_ports_[i][0]), end_of(l.b, link_switch_ports_[i][1])});
    }
    std::vector<ForwardingTable*> tables;
    for (const auto& s : switches_) tables.push_back(&s->table());
    install_shortest_paths(edges, tables);
    std::vector<Switch*> switches;
    for (const auto& s : switches_) switches.push_back(s.get());
    multicast_ = std::make_unique<MulticastTree>(std::move(edges), std::move(switches));
    neighbours().set_replicator(*multicast_);
}

}  // namespace simverbs::fabric
