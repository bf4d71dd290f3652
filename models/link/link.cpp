#include "models/link/link.hpp"

#include <utility>

#include "models/pfc/pfc.hpp"
#include "sim/rng.hpp"

namespace simverbs::link {

namespace {

sim::SimTime latency(const LinkParams& params, sim::SimTime ingress_latency) {
    return params.propagation + params.header_latency + ingress_latency;
}

/// From the first bit of a flow control frame to its effect at the receiver.
sim::SimTime control_latency(const LinkParams& params, sim::SimTime ingress_latency) {
    if (params.layer == LinkLayer::InfiniBand) return latency(params, ingress_latency);
    return params.propagation + params.rate.time_for(pfc::kFrameWireBytes) + params.pause_response;
}

}  // namespace

Link::Link(sim::Engine& engine, const LinkParams& params, const LinkEnd& a, const LinkEnd& b, wire::PacketPool* pool)
    : engine_(engine),
      params_(params),
      a_{sim::component_id(a.path), a.ingress_latency},
      b_{sim::component_id(b.path), b.ingress_latency},
      pool_(pool),
      a_to_b_(engine, a.node, b.node, latency(params, b.ingress_latency)),
      b_to_a_(engine, b.node, a.node, latency(params, a.ingress_latency)) {
    if (!params.flow_control) return;
    control_a_to_b_ =
        std::make_unique<ControlChannel>(engine, a.node, b.node, control_latency(params, b.ingress_latency));
    control_b_to_a_ =
        std::make_unique<ControlChannel>(engine, b.node, a.node, control_latency(params, a.ingress_latency));
}

Link::~Link() = default;

void Link::set_faults_a_to_b(std::vector<LinkFault> faults) {
    faults_at_b_ = std::make_unique<LinkFaults>(std::move(faults), engine_.seed(), b_.id);
}
void Link::set_faults_b_to_a(std::vector<LinkFault> faults) {
    faults_at_a_ = std::make_unique<LinkFaults>(std::move(faults), engine_.seed(), a_.id);
}

PortWiring Link::wiring_a() {
    return wiring(a_, b_, a_to_b(), b_to_a(), faults_at_a_.get());
}
PortWiring Link::wiring_b() {
    return wiring(b_, a_, b_to_a(), a_to_b(), faults_at_b_.get());
}

PortWiring Link::wiring(const End& self, const End& peer, const Direction& out, const Direction& in,
                        LinkFaults* in_faults) const {
    PortWiring w;
    w.params = params_;
    w.id = self.id;
    w.egress.channel = &out.packets;
    w.egress.latency = latency(params_, peer.ingress_latency);
    w.egress.byte_time = sim::ByteTime(params_.rate);
    w.egress.layer = params_.layer;
    w.egress.vlan = params_.vlan;
    w.ingress.channel = &in.packets;
    w.ingress.faults = in_faults;
    w.ingress.byte_time = w.egress.byte_time;
    w.ingress.pool = pool_;
    w.ingress.layer = params_.layer;
    w.ingress.vlan = params_.vlan;
    w.control = {out.control, in.control, control_latency(params_, peer.ingress_latency)};
    return w;
}

size_t Link::memory() const noexcept {
    size_t sum = sizeof *this + a_to_b_.memory() + b_to_a_.memory();
    if (control_a_to_b_) sum += 2 * sizeof(ControlChannel) + control_a_to_b_->memory() + control_b_to_a_->memory();
    return sum;
}

void Link::observe_faults(FateObserver& observer) {
    for (LinkFaults* f : {faults_at_b_.get(), faults_at_a_.get()})
        if (f != nullptr) f->set_observer(&observer);
}

std::vector<FaultReport> Link::fault_reports() const {
    std::vector<FaultReport> out;
    for (const LinkFaults* f : {faults_at_b_.get(), faults_at_a_.get()}) {
        if (f == nullptr) continue;
        const auto part = f->reports();
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

}  // namespace simverbs::link
