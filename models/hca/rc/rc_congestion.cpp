// Congestion control of reliable connections: the notification point answers marks with CNPs, the reaction point paces
// requests. Responses to READs go out as fast as the port lets them.
#include "models/hca/ah/choose_service.hpp"
#include "models/hca/device.hpp"
#include "models/hca/rc/rc_requester.hpp"
#include "models/wire/opcode.hpp"

namespace simverbs::hca {

QpCongestion* Device::congestion_of(Qp& qp) {
    const CongestionConfig& c = config.congestion;
    if (c.algorithm == nullptr || !qp.is_reliable() || qp.path.loopback) return nullptr;
    if (qp.congestion) return qp.congestion.get();
    qp.congestion = std::make_unique<QpCongestion>();
    QpCongestion& to = *qp.congestion;
    to.path = c.path_facts(ports[qp.path.port_index]->config->leaf, qp.path.leaf);
    to.path.payload_bytes = qp.mtu;
    wire::Packet full;
    full.framing = qp.path.framing & 3U;
    full.opcode = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::WriteMiddle);
    full.payload_bytes = static_cast<uint16_t>(qp.mtu);
    to.path.packet_bytes = port_of(qp.path).egress.bytes_of(full);
    c.algorithm->start(to.state.data(), to.path, to.control);
    return &to;
}

void Device::update_rate(QpCongestion& c, sim::SimTime now) {
    if (c.control.next_update <= now) config.congestion.algorithm->on_time(c.state.data(), c.path, now, c.control);
}

bool RcRequester::may_send_at_rate(sim::SimTime now) {
    QpCongestion* const c = d_.congestion_of(qp_);
    if (c == nullptr) return true;
    d_.update_rate(*c, now);
    // An acknowledge makes the QP ready again.
    const int64_t in_flight = int64_t{wire::Psn::distance(r_.una_psn, r_.next_psn)} * qp_.mtu;
    if (in_flight > 0 && in_flight >= c->control.window_bytes) return false;
    c->next_time = c->paced_bytes == 0 || c->control.rate >= c->path.line_rate
                       ? c->paced_from
                       : c->paced_from + c->control.rate.time_for(c->paced_bytes);
    if (c->next_time <= now) return true;
    // A slow QP must not sleep through the increases of its rate.
    qp_.pace_timer.set(std::min(c->next_time, std::max(c->control.next_update, now + sim::SimTime::ps(1))));
    return false;
}

void RcRequester::pace(uint32_t wire_bytes, sim::SimTime now) {
    QpCongestion* const c = d_.congestion_of(qp_);
    if (c == nullptr) return;
    if (c->control.bytes_to_update != cc::Control::kNever) {
        c->control.bytes_to_update -= wire_bytes;
        if (c->control.bytes_to_update <= 0)
            d_.config.congestion.algorithm->on_bytes(c->state.data(), c->path, now, c->control);
    }
    // A packet that had to wait for its turn may be caught up.
    const sim::SimTime interval = c->control.rate.time_for(wire_bytes);
    c->paced_from = std::max(c->next_time, now - std::min(interval, now));
    c->paced_bytes = wire_bytes;
}

void Device::on_cnp(Qp& qp, sim::SimTime now) {
    QpCongestion* const c = congestion_of(qp);
    if (c == nullptr || !qp.sends()) return;
    update_rate(*c, now);
    config.congestion.algorithm->on_cnp(c->state.data(), c->path, now, c->control);
}

void Device::on_mark(Qp& qp, sim::SimTime now) {
    QpCongestion* const c = congestion_of(qp);
    if (c == nullptr || qp.cnp_timer.pending()) return;
    const cc::Needs needs = config.congestion.algorithm->needs();
    const sim::SimTime allowed = c->last_cnp == sim::SimTime::max() ? now : c->last_cnp + needs.min_time_between_cnps;
    if (allowed <= now)
        send_cnp(qp, now);
    else if (needs.late_cnps)
        qp.cnp_timer.set(allowed);
}

void Device::send_cnp(Qp& qp, sim::SimTime now) {
    Port& port = port_of(qp.path);
    ++port.hw.np_cnp_sent;
    qp.congestion->last_cnp = now;
    TxEntry entry;
    entry.kind = TxKind::Ack;
    entry.qp_slot = qp.slot;
    Path path = qp.path;
    path.priority = config.congestion.cnp_priority;
    if (port.config->link_layer == LinkLayer::Ethernet && !port.config->vlan)
        path.traffic_class = class_selector(path.priority);
    entry.packet = packet_for(qp, path, wire::kCnpOpcode, wire::Psn(0));
    entry.packet.flags = wire::kBecn;
    entry.wire_bytes = port.egress.bytes_of(entry.packet);
    entry.ready = now + timing.ack_generation;
    port.acks.push(entry);
    port.transmit_at = next_transmit(port);
}

}  // namespace simverbs::hca
