#include "models/hca/device.hpp"

#include "sim/rng.hpp"

namespace simverbs::hca {

namespace {

host::HostPortParams host_port_params(const HcaTiming& t) {
    return {t.mmio_write, t.pcie_read, t.pcie_write, t.pcie_read_rate, t.pcie_write_rate};
}

uint64_t seed_of(const HcaConfig& config) {
    return sim::mix64(config.seed ^ sim::component_id(config.name));
}

/// QP numbers do not begin at the same place in every adapter: mixing them up must show.
uint32_t first_qpn_of(const HcaConfig& config) {
    constexpr uint32_t kFirst = 0x80, kSpread = 0x2000;
    return kFirst + static_cast<uint32_t>(seed_of(config) % kSpread);
}

}  // namespace

Device::Device(Hca& owner, const HcaConfig& c, HostSink* host_sink, host::PayloadMover* payload)
    : node(owner),
      config(c),
      profile(*c.profile),
      timing(profile.timing),
      attr(profile.attr),
      sink(host_sink),
      mover(payload),
      host_port(host_port_params(profile.timing)),
      first_qpn(first_qpn_of(c)),
      mrs(seed_of(c)) {
    attr.node_guid = attr.sys_image_guid = c.node_guid;
    attr.phys_port_cnt = static_cast<uint8_t>(c.ports.size());
    constexpr uint32_t kManagedFlowSteering = 1U << 29;
    if (has_raw_packets()) attr.device_cap_flags |= kManagedFlowSteering;
    for (const HcaPortConfig& p : config.ports) {
        auto port = std::make_unique<Port>();
        port->config = &p;
        port->index = static_cast<uint8_t>(ports.size());
        ports.push_back(std::move(port));
    }
    auto loop = std::make_unique<Port>();
    loop->index = static_cast<uint8_t>(ports.size());
    loop->is_loopback = true;
    loop->config = config.ports.data();
    const auto layer = config.ports.front().link_layer == LinkLayer::Ethernet ? link::LinkLayer::Ethernet
                                                                              : link::LinkLayer::InfiniBand;
    loop->egress.layer = loop->ingress.layer = layer;
    const sim::BitRate rate = config.ports.front().rate;
    loop->egress.byte_time = sim::ByteTime(rate.in_bps() > 0 ? rate : profile.default_rate);
    loopback = loop.get();
    ports.push_back(std::move(loop));
    for (const HcaPortConfig& p : config.ports)
        for (const uint16_t pkey : p.pkeys) wire_detail = wire_detail || pkey != 0xFFFF;
    if (config.neighbours != nullptr) config.neighbours->add_observer(*this);
}

Device::~Device() {
    for (const auto& qp : qps) release_streams(*qp);
    if (config.neighbours != nullptr) config.neighbours->remove_observer(*this);
}

Port& Device::port_with_leaf(wire::LeafId leaf) noexcept {
    for (const auto& port : ports)
        if (!port->is_loopback && port->config->leaf == leaf) return *port;
    return *ports.front();
}

Qp* Device::find_qp(uint32_t qpn) noexcept {
    const uint32_t slot = qpn - first_qpn;
    return slot < qps.size() ? qps[slot].get() : nullptr;
}

Qp* Device::find_owned(const ControlContext& by, uint32_t qpn) noexcept {
    Qp* qp = find_qp(qpn);
    if (qp == nullptr || qp->destroyed || qp->verbs == nullptr) return nullptr;
    const auto& openers = qp->verbs->openers;
    const bool owned = qp->verbs->owner == by.owner || std::ranges::find(openers, by.owner) != openers.end();
    return owned ? qp : nullptr;
}

Cq* Device::find_cq(uint32_t handle) noexcept {
    const auto it = cqs.find(handle);
    return it == cqs.end() ? nullptr : it->second.get();
}

Srq* Device::find_srq(uint32_t handle) noexcept {
    const auto it = srqs.find(handle);
    return it == srqs.end() ? nullptr : it->second.get();
}

Pd* Device::find_pd(const ControlContext& by, uint32_t handle) noexcept {
    const auto it = pds.find(handle);
    return it == pds.end() || it->second.owner != by.owner ? nullptr : &it->second;
}

Qp& Device::new_qp(QpType type) {
    auto qp = std::make_unique<Qp>();
    qp->slot = static_cast<uint32_t>(qps.size());
    qp->qpn = first_qpn + qp->slot;
    qp->type = type;
    const auto timer = [&](QpTimer kind) {
        const uint64_t id = (uint64_t{qp->qpn} << 2) | static_cast<uint64_t>(kind);
        return sim::Timer(timers, id, (uint64_t{qp->slot} << 2) | static_cast<uint64_t>(kind));
    };
    qp->ack_timer = timer(QpTimer::Ack);
    qp->rnr_timer = timer(QpTimer::Rnr);
    qp->pace_timer = timer(QpTimer::Pace);
    qp->cnp_timer = timer(QpTimer::Cnp);
    qp->resources.resize(1);
    qps.push_back(std::move(qp));
    return *qps.back();
}

void Device::release_streams(Qp& qp) {
    for (Message& m : qp.messages) close_message(m);
    drop_responses(qp);
}

Hca::Hca(const HcaConfig& config, HostSink* sink, host::PayloadMover* mover)
    : device_(std::make_unique<Device>(*this, config, sink, mover)) {}
Hca::~Hca() = default;

void Hca::run_window(sim::SimTime end) {
    device_->run_window(end);
}
sim::SimTime Hca::next_event_time() const {
    return device_->next_event_time();
}
void Hca::wake_self(sim::SimTime t) {
    activity().wake(id(), t);
}
const HcaConfig& Hca::config() const noexcept {
    return device_->config;
}
const DeviceProfile& Hca::profile() const noexcept {
    return device_->profile;
}
sim::SimTime Hca::downward_latency() const noexcept {
    return device_->timing.mmio_write;
}

void Hca::attach_port(uint8_t number, const link::PortWiring& wiring) {
    Port& port = *device_->ports.at(number - 1);
    port.egress = wiring.egress;
    port.ingress = wiring.ingress;
    if (wiring.control.in != nullptr) {
        port.gate = std::make_unique<FlowGate>();
        port.gate->control = link::FlowControlEnd(wiring, port.config->vl_buffer);
    }
    if (wiring.ingress.pool != nullptr) device_->pool = wiring.ingress.pool;
}

void Hca::use_pool(wire::PacketPool& pool) {
    device_->pool = &pool;
}

void Hca::attach_host(host::HostComplex& complex, host::AgentId agent) {
    device_->host_port.attach(complex, agent);
}

void Hca::set_wire_detail(bool on) {
    device_->wire_detail = device_->wire_detail || on;
}

void Hca::set_observer(QpObserver* observer) noexcept {
    device_->observer = observer;
}

void Hca::watch_memory(host::AddressSpaceId space, bool on) {
    if (on)
        device_->watched[space] = true;
    else
        device_->watched.erase(space);
}

}  // namespace simverbs::hca
