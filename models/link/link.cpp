#include "models/link/link.hpp"

#include <utility>

#include "sim/rng.hpp"

namespace simverbs::link {

namespace {

sim::SimTime latency(const LinkParams& params, const LinkEnd& receiver) {
    return params.propagation + params.header_latency + receiver.ingress_latency;
}

}  // namespace

Link::Link(sim::Engine& engine, const LinkParams& params, LinkEnd a, LinkEnd b, wire::PacketPool* pool)
    : engine_(engine),
      params_(params),
      a_(std::move(a)),
      b_(std::move(b)),
      pool_(pool),
      a_to_b_(engine, a_.node, b_.node, latency(params, b_)),
      b_to_a_(engine, b_.node, a_.node, latency(params, a_)) {}

Link::~Link() = default;

void Link::set_faults_a_to_b(std::vector<LinkFault> faults) {
    faults_at_b_ = std::make_unique<LinkFaults>(std::move(faults), engine_.seed(), sim::component_id(b_.path));
}
void Link::set_faults_b_to_a(std::vector<LinkFault> faults) {
    faults_at_a_ = std::make_unique<LinkFaults>(std::move(faults), engine_.seed(), sim::component_id(a_.path));
}

PortWiring Link::wiring_a() {
    return wiring(a_, b_, a_to_b_, b_to_a_, faults_at_a_.get());
}
PortWiring Link::wiring_b() {
    return wiring(b_, a_, b_to_a_, a_to_b_, faults_at_b_.get());
}

PortWiring Link::wiring(const LinkEnd& self, const LinkEnd& peer, PacketChannel& out, PacketChannel& in,
                        LinkFaults* in_faults) const {
    PortWiring w;
    w.params = params_;
    w.id = sim::component_id(self.path);
    w.egress.channel = &out;
    w.egress.latency = latency(params_, peer);
    w.egress.byte_time = sim::ByteTime(params_.rate);
    w.egress.layer = params_.layer;
    w.egress.vlan = params_.vlan;
    w.ingress.channel = &in;
    w.ingress.faults = in_faults;
    w.ingress.byte_time = w.egress.byte_time;
    w.ingress.pool = pool_;
    w.ingress.layer = params_.layer;
    w.ingress.vlan = params_.vlan;
    return w;
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
