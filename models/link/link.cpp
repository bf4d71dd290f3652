#include "models/link/link.hpp"

#include <utility>

#include "models/pfc/pfc.hpp"
#include "sim/rng.hpp"

namespace simverbs::link {

namespace {

sim::SimTime latency(const LinkParams& params, const LinkEnd& receiver) {
    return params.propagation + params.header_latency + receiver.ingress_latency;
}

/// From the first bit of a flow control frame to its effect at the receiver.
sim::SimTime control_latency(const LinkParams& params, const LinkEnd& receiver) {
    if (params.layer == LinkLayer::InfiniBand) return latency(params, receiver);
    return params.propagation + params.rate.time_for(pfc::kFrameWireBytes) + params.pause_response;
}

}  // namespace

Link::Link(sim::Engine& engine, const LinkParams& params, LinkEnd a, LinkEnd b, wire::PacketPool* pool)
    : engine_(engine),
      params_(params),
      a_(std::move(a)),
      b_(std::move(b)),
      pool_(pool),
      a_to_b_(engine, a_.node, b_.node, latency(params, b_)),
      b_to_a_(engine, b_.node, a_.node, latency(params, a_)) {
    if (!params.flow_control) return;
    control_a_to_b_.emplace(engine, a_.node, b_.node, control_latency(params, b_));
    control_b_to_a_.emplace(engine, b_.node, a_.node, control_latency(params, a_));
}

Link::~Link() = default;

void Link::set_faults_a_to_b(std::vector<LinkFault> faults) {
    faults_at_b_ = std::make_unique<LinkFaults>(std::move(faults), engine_.seed(), sim::component_id(b_.path));
}
void Link::set_faults_b_to_a(std::vector<LinkFault> faults) {
    faults_at_a_ = std::make_unique<LinkFaults>(std::move(faults), engine_.seed(), sim::component_id(a_.path));
}

PortWiring Link::wiring_a() {
    return wiring(a_, b_, a_to_b(), b_to_a(), faults_at_a_.get());
}
PortWiring Link::wiring_b() {
    return wiring(b_, a_, b_to_a(), a_to_b(), faults_at_b_.get());
}

PortWiring Link::wiring(const LinkEnd& self, const LinkEnd& peer, const Direction& out, const Direction& in,
                        LinkFaults* in_faults) const {
    PortWiring w;
    w.params = params_;
    w.id = sim::component_id(self.path);
    w.egress.channel = &out.packets;
    w.egress.latency = latency(params_, peer);
    w.egress.byte_time = sim::ByteTime(params_.rate);
    w.egress.layer = params_.layer;
    w.egress.vlan = params_.vlan;
    w.ingress.channel = &in.packets;
    w.ingress.faults = in_faults;
    w.ingress.byte_time = w.egress.byte_time;
    w.ingress.pool = pool_;
    w.ingress.layer = params_.layer;
    w.ingress.vlan = params_.vlan;
    w.control = {out.control, in.control, control_latency(params_, peer)};
    return w;
}

size_t Link::memory() const noexcept {
    size_t sum = sizeof *this + a_to_b_.memory() + b_to_a_.memory();
    if (control_a_to_b_) sum += control_a_to_b_->memory() + control_b_to_a_->memory();
    return sum;
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
