// Flow steering: rules come and go, frames find their QPs.
#include "models/hca/raw/steering.hpp"

#include "models/hca/device.hpp"
#include "models/hca/raw/raw_frame.hpp"
#include "models/hca/transport/request_opcode.hpp"

namespace simverbs::hca {

Result<uint32_t> Hca::create_steering(const ControlContext& by, uint32_t qp_num, const SteeringRule& rule) {
    Device& d = *device_;
    const Qp* qp = d.find_owned(by, qp_num);
    if (qp == nullptr) return {refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "qp"; }), 0};
    if (qp->type != QpType::RawPacket || rule.port_num < 1 || rule.port_num > d.config.ports.size())
        return {refuse(by, EINVAL, Rule::AttributeOutOfRange,
                       [](Explanation& e) {
                           e.where = "ibv_create_flow";
                           e.attribute = "flow_attr.port";
                           e.required = "a port of the device, and a QP of type IBV_QPT_RAW_PACKET";
                       }),
                0};
    if (rule.spread)
        for (const uint32_t queue : rule.spread->queues)
            if (const Qp* one = d.find_owned(by, queue); one == nullptr || one->type != QpType::RawPacket)
                return {refuse(by, EINVAL, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "ind_tbl"; }), 0};
    const uint32_t id = d.next_steering++;
    d.steering[id] = {by.owner, qp_num, static_cast<uint8_t>(rule.port_num - 1), rule};
    return {0, id};
}

int Hca::destroy_steering(const ControlContext& by, uint32_t id) {
    Device& d = *device_;
    const auto it = d.steering.find(id);
    if (it == d.steering.end() || it->second.owner != by.owner)
        return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "flow"; });
    d.steering.erase(it);
    return 0;
}

bool Device::is_steered_to(uint32_t qpn) const noexcept {
    for (const auto& [id, s] : steering)
        if (s.qpn == qpn) return true;
    return false;
}

namespace {

/// Rank of a rule for a frame: the lowest wins; kNoRank if it does not take the frame.
uint32_t rank_of(const SteeringRule& rule, std::span<const uint8_t> frame, bool is_group) noexcept {
    constexpr uint32_t kMcDefault = 1U << 16, kAllDefault = kMcDefault + 1, kNoRank = ~0U;
    switch (rule.type) {
        case SteeringType::Normal:
            return rule.pattern.fits(frame) ? rule.priority : kNoRank;
        case SteeringType::McDefault:
            return is_group ? kMcDefault : kNoRank;
        case SteeringType::AllDefault:
            return kAllDefault;
        case SteeringType::Sniffer:
            return kNoRank;
    }
    return kNoRank;
}

}  // namespace

void Device::on_raw_frame(Port& home, const wire::Packet& packet, sim::SimTime now) {
    if (packet.extra == wire::kNoExtra || mover == nullptr || steering.empty()) return;
    const wire::PacketExtra& x = (*pool)[packet.extra];
    const wire::PayloadRef& payload = x.payload;
    std::array<uint8_t, FramePattern::kBytes> bytes{};
    const std::span<uint8_t> frame(bytes.data(), std::min<size_t>(bytes.size(), packet.payload_bytes));
    if (frame.size() < kEthernetHeaderBytes || !mover->peek(payload.stream, payload.offset, frame)) return;
    const bool is_group = (frame[0] & 1) != 0;
    uint32_t best = ~0U;
    for (const auto& [id, s] : steering)
        if (s.port_index == home.index) best = std::min(best, rank_of(s.rule, frame, is_group));
    for (const auto& [id, s] : steering) {
        if (s.port_index != home.index) continue;
        const uint32_t rank = rank_of(s.rule, frame, is_group);
        if (s.rule.type != SteeringType::Sniffer && (rank != best || best == ~0U)) continue;
        const uint32_t qpn = s.rule.spread ? s.rule.spread->queue_for(frame) : s.qpn;
        // A sender does not hear itself.
        if (qpn == x.src_qp && x.src == home.config->leaf) continue;
        if (Qp* qp = find_qp(qpn); qp != nullptr && !qp->destroyed) receive_frame(*qp, packet, now);
    }
}

void Device::receive_frame(Qp& qp, const wire::Packet& frame, sim::SimTime now) {
    // For what follows it is a message of one packet.
    wire::Packet packet = frame;
    packet.opcode = request_opcode(wire::Transport::Ud, WrOpcode::Send, wire::Position::Only);
    if (!qp.receives() || !take_receive(qp, now)) return;
    const uint32_t bytes = packet.payload_bytes;
    const CurrentReceive& c = qp.verbs->receive;
    LocalFault fault;
    if (bytes > c.capacity) {
        fault = {Check::ReceiveTooSmall, 0, bytes, 0};
    } else {
        if (host_port.has_complex()) [[unlikely]]
            aim_at(c.sges, 0);
        fault = scatter(qp.pd, c.sges, 0, packet, host_port.post_write(now, bytes));
    }
    if (fault.check != Check::None) {
        Incident incident = incident_of(qp, fault.check, packet, now);
        incident.va = fault.va;
        incident.length = fault.length;
        incident.key = fault.key;
        incident.status = receive_status_of(fault.check);
        fail_receive(qp, incident, std::nullopt, now);
        return;
    }
    Cqe cqe;
    cqe.opcode = WcOpcode::Recv;
    cqe.byte_len = bytes;
    complete_receive(qp, cqe, now);
}

}  // namespace simverbs::hca
