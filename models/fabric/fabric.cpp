#include "models/fabric/fabric.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/fabric/routing.hpp"

namespace simverbs::fabric {

/// All adapters as one voice in a stuck-state dump.
class Fabric::Reporter final : public sim::StuckReporter {
  public:
    explicit Reporter(const Fabric& fabric) : fabric_(fabric) {}
    [[nodiscard]] bool outstanding() const override {
        for (const auto& nic : fabric_.nics_)
            if (!nic->outstanding_work().empty()) return true;
        return false;
    }
    [[nodiscard]] uint64_t progress() const override {
        uint64_t n = 0;
        for (const auto& nic : fabric_.nics_) n += nic->progress();
        return n;
    }
    void describe(std::string& out) const override {
        for (const auto& nic : fabric_.nics_)
            for (const std::string& line : nic->outstanding_work()) out += line + "\n";
    }

  private:
    const Fabric& fabric_;
};

namespace {

/// Programs may act a doorbell's latency after any event, so their windows are cut there. Windows of that length are
/// never cut for this reason, which saves asking the nodes for what is left of one.
sim::EngineConfig with_window_for_programs(sim::EngineConfig config, const FabricSpec& spec) {
    if (config.window != sim::SimTime::zero()) return config;
    sim::SimTime window = sim::kMaxWindow;
    for (const NicSpec& nic : spec.nics) window = std::min(window, nic.profile->timing.mmio_write);
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
      mover_(memory != nullptr ? std::make_unique<host::PayloadMover>(*memory) : nullptr),
      pool_(std::max(config.threads, 1U), mover_.get()) {
    if (mover_ != nullptr) mover_->set_threaded(config.threads > 1);
    FabricSpec complete = spec;
    assign_addresses(complete);
    add_nodes(complete);
    wire_links(complete);
    route(complete);
    reporter_ = std::make_unique<Reporter>(*this);
    engine_.add_stuck_reporter(*reporter_);
}

Fabric::~Fabric() {
    engine_.remove_stuck_reporter(*reporter_);
}

/// LeafIds in the order of adapters and ports, LIDs from 1 in the same order.
void Fabric::assign_addresses(FabricSpec& spec) {
    wire::LeafId leaf = 0;
    uint16_t lid = 1;
    for (NicSpec& nic : spec.nics) {
        for (hca::HcaPortConfig& port : nic.ports) {
            port.leaf = leaf++;
            const bool infiniband = port.link_layer == hca::LinkLayer::InfiniBand;
            if (infiniband && port.lid == 0) port.lid = lid;
            if (infiniband) {
                lid = static_cast<uint16_t>(port.lid + (1U << port.lmc));
                if (port.sm_lid == 0) port.sm_lid = 1;
            }
            const hca::Neighbour n{port.leaf, port.mac, port.lid};
            std::vector<hca::Gid> gids;
            for (const hca::GidEntry& entry : port.gids) {
                gids.push_back(entry.gid);
                neighbours_.add_gid(entry.gid, n);
            }
            neighbours_.add_leaf(port.leaf, n, std::move(gids));
            for (uint32_t path = 0; infiniband && path < (1U << port.lmc); ++path)
                neighbours_.add_lid(static_cast<uint16_t>(port.lid + path), n);
        }
    }
}

void Fabric::add_nodes(const FabricSpec& spec) {
    for (const NicSpec& nic : spec.nics) {
        hca::HcaConfig c;
        c.name = nic.path;
        c.profile = nic.profile;
        c.node_guid = nic.node_guid;
        c.ports = nic.ports;
        c.neighbours = &neighbours_;
        c.seed = spec.seed;
        nics_.push_back(std::make_unique<hca::Hca>(c, nic.sink, mover_.get()));
        engine_.add_node(*nics_.back());
        nics_.back()->use_pool(pool_);
        nic_ports_.emplace_back(nic.ports.size());
    }
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
                end.node = nics_[e.index]->id();
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
            NicPort& slot = nic_ports_.at(e.index).at(e.port - 1U);
            if (slot.wired) throw std::invalid_argument(spec.nics[e.index].path + ": a port has two links");
            slot = {wiring, true};
            nics_[e.index]->attach_port(e.port, wiring);
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
}

std::string Fabric::capture(size_t nic, uint8_t port, const std::string& path) {
    NicPort& slot = nic_ports_.at(nic).at(port - 1U);
    auto tap = std::make_unique<PortCapture>(nics_[nic]->config().ports[port - 1U], neighbours_, pool_, mover_.get(),
                                             slot.wiring.ingress, nics_[nic]->profile().timing.rx_pipeline);
    if (std::string error = tap->open(path); !error.empty()) return error;
    observe(nic, port, *tap);
    for (const auto& every : nics_) every->set_wire_detail(true);
    captures_.push_back(std::move(tap));
    return {};
}

void Fabric::observe(size_t nic, uint8_t port, link::PacketObserver& observer) {
    NicPort& slot = nic_ports_.at(nic).at(port - 1U);
    slot.wiring.egress.observer = slot.wiring.ingress.observer = &observer;
    nics_[nic]->attach_port(port, slot.wiring);
}

std::string Fabric::flush_captures() {
    std::string first;
    for (const auto& c : captures_) {
        std::string error = c->flush(engine_.frontier());
        if (first.empty()) first = std::move(error);
    }
    return first;
}

std::string Fabric::close_captures() {
    std::string first;
    for (const auto& c : captures_) {
        std::string error = c->close();
        if (first.empty()) first = std::move(error);
    }
    return first;
}

}  // namespace simverbs::fabric
