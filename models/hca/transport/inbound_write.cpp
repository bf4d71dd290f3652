#include "models/hca/transport/inbound_write.hpp"

namespace simverbs::hca {

InboundFault check_remote(const Device& d, const Qp& qp, uint64_t va, uint32_t rkey, uint64_t length,
                          AccessFlags needed) {
    if (qp.verbs == nullptr) return {};
    if ((qp.access & needed) == 0) return {Check::QpAccess, va, length, rkey};
    if (length == 0) return {};
    const Mr* const mr = d.remote_region(qp, rkey);
    MrVerdict verdict = check_access(mr, qp.pd, va, length, needed);
    if (verdict == MrVerdict::OutOfBounds && mr->is_window() && !d.profile.behaviour.checks_window_bounds)
        verdict = check_access(d.mrs.find(mr->bound_to), qp.pd, va, length, 0);
    // Its requests would come back as not supported by whoever stands in the way.
    if (verdict == MrVerdict::Ok && !d.host_port.reaches(mr->host_memory)) [[unlikely]]
        return {Check::LocalMemory, va, length, rkey};
    return {remote_check_of(verdict), va, length, rkey};
}

InboundFault begin_write(Device& d, Qp& qp, const wire::Packet& packet) {
    Responder& rs = qp.rs;
    rs.received = 0;
    if (qp.verbs == nullptr || packet.extra == wire::kNoExtra) {
        rs.remaining = ~0U;
        return {};
    }
    const wire::PacketExtra& x = (*d.pool)[packet.extra];
    rs.va = x.vaddr;
    rs.rkey = x.rkey;
    rs.remaining = x.dma_length;
    const auto fault = check_remote(d, qp, x.vaddr, x.rkey, x.dma_length, kRemoteWrite);
    if (fault.check != Check::None || x.dma_length == 0) return fault;
    const Mr* mr = d.remote_region(qp, x.rkey);
    rs.space = mr->space;
    rs.host_va = mr->addr + (x.vaddr - mr->iova);
    rs.mr_epoch = d.mr_epoch;
    return {};
}

namespace {

InboundFault take_write_payload(Device& d, Qp& qp, const wire::Packet& packet, const wire::OpcodeInfo& info,
                                sim::SimTime now) {
    Responder& rs = qp.rs;
    const uint32_t n = packet.payload_bytes;
    if (qp.verbs == nullptr) {
        rs.received += n;
        return {};
    }
    if (n > rs.remaining || (info.ends_message() && n != rs.remaining))
        return {Check::RequestLength, rs.va, n, rs.rkey};
    if (n == 0) return {};
    if (rs.mr_epoch != d.mr_epoch) {
        // Some key has become invalid since the first packet: is it this one?
        const auto fault = check_remote(d, qp, rs.va, rs.rkey, n, kRemoteWrite);
        if (fault.check != Check::None) return fault;
        rs.mr_epoch = d.mr_epoch;
    }
    if (d.host_port.has_complex()) [[unlikely]]
        d.aim_at(d.remote_region(qp, rs.rkey), rs.va);
    const sim::SimTime visible = d.host_port.post_write(now, n);
    if (packet.extra != wire::kNoExtra)
        d.write_payload((*d.pool)[packet.extra].payload, 0, n, rs.space, rs.host_va,
                        !info.ends_message() || info.completes_receive_wqe, visible);
    rs.va += n;
    rs.host_va += n;
    rs.remaining -= n;
    rs.received += n;
    return {};
}

InboundFault take_send_payload(Device& d, Qp& qp, const wire::Packet& packet, sim::SimTime now) {
    Responder& rs = qp.rs;
    const uint32_t n = packet.payload_bytes;
    if (qp.verbs != nullptr && n > 0) {
        const CurrentReceive& c = qp.verbs->receive;
        if (rs.received + uint64_t{n} > c.capacity) return {Check::ReceiveTooSmall, 0, rs.received + uint64_t{n}, 0};
        // A receive of an SRQ lies in the SRQ's domain, whichever the QP's is. Source: IBTA vol. 1, "Shared receive
        // queue".
        const uint32_t pd = qp.verbs->srq != nullptr ? qp.verbs->srq->pd : qp.pd;
        if (d.host_port.has_complex()) [[unlikely]]
            d.aim_at(c.sges, rs.received);
        const sim::SimTime visible = d.host_port.post_write(now, n);
        const auto fault = d.scatter(pd, c.sges, rs.received, packet, visible);
        if (fault.check != Check::None) return {fault.check, fault.va, fault.length, fault.key};
    }
    rs.received += n;
    return {};
}

}  // namespace

InboundFault take_payload(Device& d, Qp& qp, const wire::Packet& packet, const wire::OpcodeInfo& info,
                          sim::SimTime now) {
    return info.operation == wire::Operation::Write ? take_write_payload(d, qp, packet, info, now)
                                                    : take_send_payload(d, qp, packet, now);
}

void end_message(Device& d, Qp& qp, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    Responder& rs = qp.rs;
    rs.inbound = InboundMessage::None;
    if (qp.source != nullptr) qp.source->arrived(rs.received, now);
    if (!info.completes_receive_wqe) return;
    Cqe cqe;
    cqe.opcode = info.operation == wire::Operation::Write ? WcOpcode::RecvRdmaWithImm : WcOpcode::Recv;
    cqe.byte_len = rs.received;
    cqe.solicited = (packet.flags & wire::kSolicited) != 0;
    cqe.src_qp = qp.dest_qpn;
    cqe.sl = qp.path.sl;
    if (packet.extra != wire::kNoExtra) {
        if (info.has_imm_dt || info.has_ieth) cqe.imm_or_rkey = (*d.pool)[packet.extra].imm_or_inv_rkey;
        if (info.has_imm_dt) cqe.wc_flags |= kWcWithImm;
        if (info.has_ieth) cqe.wc_flags |= kWcWithInv;
    }
    d.complete_receive(qp, cqe, now);
}

}  // namespace simverbs::hca
