// New requests, in the order of the specification's checks: PSN, opcode sequence, opcode, resources, keys.
#include "models/hca/rc/rc_responder.hpp"
#include "models/hca/transport/header_checks.hpp"

namespace simverbs::hca {

void RcResponder::on_request(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    HwCounters& hw = d_.ports[qp_.port_index]->hw;
    switch (check_psn(rs_.expected_psn, rs_.nak_outstanding, wire::Psn(packet.psn))) {
        case PsnVerdict::InOrder:
            break;
        case PsnVerdict::Duplicate:
            ++hw.duplicate_request;
            on_duplicate(packet, info, now);
            return;
        case PsnVerdict::SendPsnNak:
            ++hw.out_of_sequence;
            rs_.nak_outstanding = true;
            d_.enqueue_ack(qp_, wire::Syndrome::nak(wire::NakCode::PsnSequenceError).encode(), rs_.expected_psn, now);
            return;
        case PsnVerdict::DropSilently:
            ++hw.out_of_sequence;
            return;
    }
    rs_.nak_outstanding = false;
    if (qp_.state == QpState::Rtr && qp_.verbs != nullptr && !rs_.comm_established) {
        rs_.comm_established = true;
        d_.raise(EventType::CommEst, qp_.verbs->owner, qp_.qpn, now);
    }
    if (!opcode_in_sequence(rs_.inbound, info)) {
        on_fault({Check::RequestOpcode}, packet, now);
        return;
    }
    if (qp_.type == QpType::XrcRecv && info.starts_message() && !d_.choose_xrc_srq(qp_, packet)) {
        on_fault({Check::XrcSrq}, packet, now);
        return;
    }
    switch (info.operation) {
        case wire::Operation::Send:
        case wire::Operation::Write:
            on_send_or_write(packet, info, now);
            return;
        case wire::Operation::ReadRequest:
            ++hw.rx_read_requests;
            on_read_request(packet, now);
            return;
        case wire::Operation::CompareSwap:
        case wire::Operation::FetchAdd:
            ++hw.rx_atomic_requests;
            on_atomic_request(packet, info, now);
            return;
        case wire::Operation::AtomicWrite:
            on_atomic_write(packet, now);
            return;
        case wire::Operation::Flush:
            on_fault({Check::RequestOpcode}, packet, now);
            return;
        case wire::Operation::ReadResponse:
        case wire::Operation::Acknowledge:
        case wire::Operation::AtomicAcknowledge:
        case wire::Operation::CongestionNotification:
            return;
    }
}

void RcResponder::on_send_or_write(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    if (!payload_length_ok(info, packet.payload_bytes, qp_.mtu)) {
        on_fault({Check::RequestLength, 0, packet.payload_bytes, 0}, packet, now);
        return;
    }
    if (info.consumes_receive_wqe && !d_.take_receive(qp_, now)) {
        send_rnr_nak(now);
        return;
    }
    if (info.starts_message()) {
        rs_.received = 0;
        const bool write = info.operation == wire::Operation::Write;
        if (write) {
            ++d_.ports[qp_.port_index]->hw.rx_write_requests;
            const InboundFault fault = begin_write(d_, qp_, packet);
            if (fault.check != Check::None) {
                on_fault(fault, packet, now);
                return;
            }
        }
        rs_.inbound = write ? InboundMessage::Write : InboundMessage::Send;
    }
    const InboundFault fault = take_payload(d_, qp_, packet, info, now);
    if (fault.check != Check::None) {
        on_fault(fault, packet, now);
        return;
    }
    if (info.has_ieth && qp_.verbs != nullptr) {
        const uint32_t key = (*d_.pool)[packet.extra].imm_or_inv_rkey;
        if (!d_.invalidate(qp_, key)) {
            on_fault({Check::InvalidateRemote, 0, 0, key}, packet, now);
            return;
        }
    }
    accept(packet, 1, info.ends_message());
    if (info.ends_message()) end_message(d_, qp_, packet, info, now);
    if ((packet.flags & wire::kAckReq) != 0 && qp_.receives()) acknowledge(now);
}

void RcResponder::on_read_request(const wire::Packet& packet, sim::SimTime now) {
    static constexpr wire::PacketExtra kNone{};
    const wire::PacketExtra& x = packet.extra == wire::kNoExtra ? kNone : (*d_.pool)[packet.extra];
    const InboundFault access = check_remote(d_, qp_, x.vaddr, x.rkey, x.dma_length, kRemoteRead);
    if (access.check == Check::QpAccess || x.dma_length > d_.attr.max_msg_sz) {
        on_fault(
            access.check == Check::QpAccess ? access : InboundFault{Check::RequestLength, x.vaddr, x.dma_length, 0},
            packet, now);
        return;
    }
    if (qp_.resources_head - qp_.resources_next >= qp_.max_dest_rd_atomic) {
        on_fault({Check::ReadResources, x.vaddr, x.dma_length, x.rkey}, packet, now);
        return;
    }
    if (access.check != Check::None) {
        on_fault(access, packet, now);
        return;
    }
    ResponseResource& r = new_resource();
    r.first_psn = wire::Psn(packet.psn);
    r.packets = packets_for(x.dma_length, qp_.mtu);
    r.va = x.vaddr;
    r.length = x.dma_length;
    r.rkey = x.rkey;
    accept(packet, r.packets, true);
    r.msn = rs_.msn;
    d_.make_responder_ready(qp_, now);
}

/// The order of checks of what reads or writes eight bytes at once: the QP's rights, the length, the address, room for
/// the answer, the memory. `fits`: the packet has the length that it must have, else `length` is told.
InboundFault RcResponder::find_atomic_fault(const wire::PacketExtra& x, AccessFlags right, bool fits, uint32_t length) {
    const InboundFault access = check_remote(d_, qp_, x.vaddr, x.rkey, kAtomicBytes, right);
    if (access.check == Check::QpAccess) return access;
    if (!fits) return {Check::RequestLength, x.vaddr, length, x.rkey};
    if ((x.vaddr % kAtomicBytes) != 0) return {Check::AtomicAlignment, x.vaddr, kAtomicBytes, x.rkey};
    if (qp_.resources_head - qp_.resources_next >= qp_.max_dest_rd_atomic)
        return {Check::ReadResources, x.vaddr, kAtomicBytes, x.rkey};
    return access;
}

void RcResponder::on_atomic_request(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    if (packet.extra == wire::kNoExtra) return;
    const wire::PacketExtra& x = (*d_.pool)[packet.extra];
    const InboundFault fault = find_atomic_fault(x, kRemoteAtomic, true, kAtomicBytes);
    if (fault.check != Check::None) {
        on_fault(fault, packet, now);
        return;
    }
    ResponseResource& r = new_resource();
    r.first_psn = wire::Psn(packet.psn);
    r.packets = 1;
    r.is_atomic = true;
    r.ready = false;
    accept(packet, 1, true);
    r.msn = rs_.msn;
    AtomicExecution e;
    e.qp_slot = qp_.slot;
    e.qpn = qp_.qpn;
    e.resource = qp_.resources_head - 1;
    e.is_compare_swap = info.operation == wire::Operation::CompareSwap;
    sim::SimTime host_delay;
    if (qp_.verbs != nullptr) {
        const Mr* mr = d_.remote_region(qp_, x.rkey);
        e.space = mr->space;
        e.va = mr->addr + (x.vaddr - mr->iova);
        if (d_.host_port.has_complex()) [[unlikely]]
            d_.aim_at(mr, x.vaddr);
        host_delay = d_.host_port.read_write_delay(now, kAtomicBytes);
    }
    e.swap_or_add = x.swap_or_add;
    e.compare = x.compare;
    d_.atomic_free = std::max(d_.atomic_free, now) + d_.timing.atomic_unit + host_delay;
    d_.atomics.push({d_.atomic_free, sim::EventPhase::Timer, qp_.qpn}, e);
}

/// Source: IBTA vol. 1, annex A19, "ATOMIC WRITE": checked as an atomic, with the right of a WRITE.
void RcResponder::on_atomic_write(const wire::Packet& packet, sim::SimTime now) {
    if (packet.extra == wire::kNoExtra) return;
    const wire::PacketExtra& x = (*d_.pool)[packet.extra];
    const InboundFault fault = find_atomic_fault(
        x, kRemoteWrite, packet.payload_bytes == kAtomicBytes && x.dma_length == kAtomicBytes, packet.payload_bytes);
    if (fault.check != Check::None) {
        on_fault(fault, packet, now);
        return;
    }
    if (qp_.verbs != nullptr) {
        const Mr* mr = d_.remote_region(qp_, x.rkey);
        if (d_.host_port.has_complex()) [[unlikely]]
            d_.aim_at(mr, x.vaddr);
        d_.write_payload(x.payload, 0, kAtomicBytes, mr->space, mr->addr + (x.vaddr - mr->iova), false,
                         d_.host_port.post_write(now, kAtomicBytes));
    }
    ResponseResource& r = new_resource();
    r.first_psn = wire::Psn(packet.psn);
    r.is_empty = true;
    accept(packet, 1, true);
    r.msn = rs_.msn;
    d_.make_responder_ready(qp_, now);
}

void RcResponder::accept(const wire::Packet& packet, uint32_t psns, bool whole_message) noexcept {
    rs_.expected_psn = wire::Psn(packet.psn) + static_cast<int32_t>(psns);
    if (whole_message) ++rs_.msn;
}

void RcResponder::acknowledge(sim::SimTime now) {
    d_.enqueue_ack(qp_, wire::Syndrome::ack(d_.credit_code(qp_, now)).encode(), rs_.expected_psn.previous(), now);
}

void RcResponder::send_rnr_nak(sim::SimTime now) {
    // Silence until the request comes again: what follows it is ahead.
    rs_.nak_outstanding = true;
    d_.enqueue_ack(qp_, wire::Syndrome::rnr_nak(qp_.min_rnr_timer).encode(), rs_.expected_psn, now);
}

void RcResponder::on_fault(const InboundFault& fault, const wire::Packet& packet, sim::SimTime now) {
    const FaultAnswer answer = answer_to(fault.check, d_.profile.behaviour);
    HwCounters& hw = d_.ports[qp_.port_index]->hw;
    if (answer.nak == wire::NakCode::RemoteAccessError) ++hw.resp_remote_access_errors;
    if (fault.check == Check::ReceiveTooSmall) ++hw.resp_local_length_error;
    Incident incident = d_.incident_of(qp_, fault.check, packet, now);
    incident.va = fault.va;
    incident.length = fault.length;
    incident.key = fault.key;
    incident.status = answer.receive_status;
    incident.aeth_syndrome = wire::Syndrome::nak(answer.nak).encode();
    d_.enqueue_ack(qp_, incident.aeth_syndrome, wire::Psn(packet.psn), now);
    d_.fail_receive(qp_, incident, answer.has_event ? std::optional(answer.event) : std::nullopt, now);
}

void RcResponder::on_request_at_tombstone(const wire::Packet& packet, sim::SimTime now) {
    // What had arrived before is acknowledged again; anything new meets silence.
    if (wire::Psn::distance(rs_.expected_psn, wire::Psn(packet.psn)) >= 0) return;
    if ((packet.flags & wire::kAckReq) == 0) return;
    acknowledge(now);
}

}  // namespace simverbs::hca
