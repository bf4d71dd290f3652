#include "models/fabric/adapters.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace simverbs::fabric {

namespace {

/// Two taps of one port, one after the other.
class ObserverPair final : public link::PacketObserver {
  public:
    ObserverPair(link::PacketObserver& first, link::PacketObserver& second) : first_(first), second_(second) {}
    void on_packet(sim::SimTime time, const wire::Packet& packet, link::Direction direction) override {
        first_.on_packet(time, packet, direction);
        second_.on_packet(time, packet, direction);
    }

  private:
    link::PacketObserver& first_;
    link::PacketObserver& second_;
};

}  // namespace

Adapters::Adapters(host::HostMemory* memory)
    : mover_(memory != nullptr ? std::make_unique<host::PayloadMover>(*memory) : nullptr) {}

void Adapters::make(std::vector<NicSpec> nics, const std::vector<HostSpec>& hosts, uint64_t seed, sim::Engine& engine,
                    wire::PacketPool& pool) {
    engine_ = &engine;
    pool_ = &pool;
    assign_addresses(nics);
    for (NicSpec& nic : nics) {
        hca::HcaConfig c;
        c.name = nic.path;
        c.profile = nic.profile;
        c.node_guid = nic.node_guid;
        c.ports = std::move(nic.ports);
        c.neighbours = &neighbours_;
        c.congestion = std::move(nic.congestion);
        c.seed = seed;
        ports_.emplace_back(c.ports.size());
        nics_.push_back(std::make_unique<hca::Hca>(c, nic.sink, mover_.get()));
        nics_.back()->use_pool(pool);
    }
    make_hosts(hosts);
}

/// Each adapter is a part of its host, or a node itself.
void Adapters::make_hosts(const std::vector<HostSpec>& hosts) {
    std::vector<bool> has_host(nics_.size(), false);
    for (const HostSpec& spec : hosts) {
        host::HostNode& node = *hosts_.emplace_back(std::make_unique<host::HostNode>(spec.make_complex()));
        engine_->add_node(node);
        for (size_t agent = 0; agent < spec.nics.size(); ++agent) {
            hca::Hca& nic = *nics_.at(spec.nics[agent]);
            nic.attach_host(node.complex(), static_cast<host::AgentId>(agent));
            node.add_part(nic);
            has_host[spec.nics[agent]] = true;
        }
    }
    for (size_t i = 0; i < nics_.size(); ++i)
        if (!has_host[i]) engine_->add_node(*nics_[i]);
}

/// In the order of adapters and ports.
void Adapters::assign_addresses(std::vector<NicSpec>& nics) {
    uint16_t lid = 1;
    for (NicSpec& nic : nics) {
        for (hca::HcaPortConfig& port : nic.ports) {
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

void Adapters::attach(size_t nic, uint8_t port, const link::PortWiring& wiring) {
    NicPort& slot = ports_.at(nic).at(port - 1U);
    if (slot.wired) throw std::invalid_argument(nics_[nic]->config().name + ": a port has two links");
    slot = {wiring, true};
    nics_[nic]->attach_port(port, wiring);
}

std::string Adapters::capture(size_t nic, uint8_t port, const std::string& path) {
    NicPort& slot = ports_.at(nic).at(port - 1U);
    auto tap = std::make_unique<PortCapture>(nics_[nic]->config().ports[port - 1U], neighbours_, *pool_, mover_.get(),
                                             slot.wiring.ingress, nics_[nic]->profile().timing.rx_pipeline);
    if (std::string error = tap->open(path); !error.empty()) return error;
    observe(nic, port, *tap);
    carry_addresses();
    captures_.push_back(std::move(tap));
    return {};
}

void Adapters::observe(size_t nic, uint8_t port, link::PacketObserver& observer) {
    NicPort& slot = ports_.at(nic).at(port - 1U);
    link::PacketObserver* all = &observer;
    if (slot.wiring.egress.observer != nullptr)
        all = pairs_.emplace_back(std::make_unique<ObserverPair>(*slot.wiring.egress.observer, observer)).get();
    slot.wiring.egress.observer = slot.wiring.ingress.observer = all;
    nics_[nic]->attach_port(port, slot.wiring);
}

void Adapters::carry_addresses() {
    for (const auto& every : nics_) every->set_wire_detail(true);
}

std::string Adapters::flush_captures() {
    std::string first;
    for (const auto& c : captures_) {
        std::string error = c->flush(engine_->frontier());
        if (first.empty()) first = std::move(error);
    }
    return first;
}

std::string Adapters::close_captures() {
    std::string first;
    for (const auto& c : captures_) {
        std::string error = c->close();
        if (first.empty()) first = std::move(error);
    }
    return first;
}

bool Adapters::outstanding() const {
    return std::ranges::any_of(nics_, [](const auto& nic) { return !nic->outstanding_work().empty(); });
}

uint64_t Adapters::progress() const {
    uint64_t n = 0;
    for (const auto& nic : nics_) n += nic->progress();
    return n;
}

void Adapters::describe(std::string& out) const {
    for (const auto& nic : nics_)
        for (const std::string& line : nic->outstanding_work()) out += line + "\n";
}

}  // namespace simverbs::fabric
