#include "models/hca/rc/rc_requester.hpp"
#include "models/hca/transport/request_opcode.hpp"

namespace simverbs::hca {

Pull RcRequester::pull(sim::SimTime now) {
    if (!qp_.sends() || r_.rnr_wait || r_.stopped) return Pull::Nothing;
    if (r_.cur == r_.end && qp_.source != nullptr) d_.refill_from_source(qp_, now);
    if (r_.cur != r_.end && qp_.message(r_.cur).is_local() && !run_local(now)) return Pull::Nothing;
    if (r_.cur == r_.end || !qp_.sends()) {
        d_.note_drained(qp_, now);
        return Pull::Nothing;
    }
    const bool is_paced = d_.config.congestion.algorithm != nullptr;
    if (is_paced && !may_send_at_rate(now)) [[unlikely]]
        return Pull::Nothing;
    Message& m = qp_.message(r_.cur);
    if (!m.started) {
        if (qp_.state == QpState::Sqd) {
            d_.note_drained(qp_, now);
            return Pull::Nothing;
        }
        switch (decide_start(r_, m, qp_.max_rd_atomic, now)) {
            case StartVerdict::Start:
                break;
            case StartVerdict::WaitPace:
                qp_.pace_timer.set(r_.next_message_at);
                return Pull::Nothing;
            case StartVerdict::WaitFence:
            case StartVerdict::WaitReads:
            case StartVerdict::WaitCredits:
            case StartVerdict::WaitPsns:
                return Pull::Nothing;  // an acknowledge or a response makes the QP ready again
        }
    }
    const bool needs_stream =
        d_.mover != nullptr && qp_.verbs != nullptr && m.stream == wire::kNoStream && m.length > 0 && !m.fills_sges();
    if (!m.started || needs_stream) {
        const auto fault = d_.open_message(qp_, m, r_.cur, r_.cur_packet * qp_.mtu);
        if (fault.check != Check::None) {
            d_.stop_at_local_error(qp_, fault, d_.local_status_of(fault.check, m.fills_sges()), now);
            return Pull::Nothing;
        }
    }
    if (!m.started) start_message(m, now);

    TxEntry entry;
    uint32_t dma_bytes = 0;
    build_packet(m, entry, dma_bytes);
    if (entry.packet.extra != wire::kNoExtra && dma_bytes > 0 && m.stream != wire::kNoStream) {
        const uint64_t upto = uint64_t{r_.cur_packet} * qp_.mtu + entry.packet.payload_bytes - m.stream_base;
        if (!d_.mover->dma_read(m.stream, upto)) {
            d_.pool->release(d_.node.shard(), entry.packet);
            d_.stop_at_local_error(qp_, {Check::LocalMemory, 0, m.length, 0}, WcStatus::LocProtErr, now);
            return Pull::Nothing;
        }
    }
    const auto extra =
        m.packets > 1 && r_.cur_packet == 0 && !m.fills_sges() ? d_.timing.message_overhead : sim::SimTime::zero();
    if (d_.host_port.has_complex()) [[unlikely]]
        d_.aim_at_source(qp_, r_.cur, uint64_t{r_.cur_packet} * qp_.mtu);
    // The next PSN: READs take those of their responses.
    const bool whole = m.has_responses() || r_.cur_packet + 1 == m.packets;
    if (whole) {
        r_.next_psn = m.last_psn().next();
        if (!m.fills_sges()) d_.close_message(m);
        ++r_.cur;
        r_.cur_packet = 0;
    } else {
        r_.next_psn = r_.next_psn.next();
        ++r_.cur_packet;
    }
    if (wire::Psn::distance(r_.high_psn, r_.next_psn) > 0) r_.high_psn = r_.next_psn;
    d_.enqueue(d_.port_of(qp_.path), entry, dma_bytes, now, extra);
    if (is_paced) [[unlikely]]
        pace(entry.wire_bytes, now);
    return Pull::Packet;
}

void RcRequester::start_message(Message& m, sim::SimTime now) {
    m.started = true;
    m.first_psn = r_.next_psn;
    m.packets = m.has_responses() && m.opcode != WrOpcode::RdmaRead ? 1 : packets_for(m.length, qp_.mtu);
    m.responses = 0;
    m.ssn = ++r_.ssn;
    if (m.has_responses()) ++r_.reads_outstanding;
    d_.charge_message(qp_, now);
}

/// Operations without packets are done in their turn, once, and complete when everything before them has.
bool RcRequester::run_local(sim::SimTime now) {
    while (r_.cur != r_.end && qp_.message(r_.cur).is_local()) {
        Message& m = qp_.message(r_.cur);
        if (!m.started) {
            if (qp_.state == QpState::Sqd) {
                d_.note_drained(qp_, now);
                return false;
            }
            if ((m.send_flags & kFence) != 0 && r_.reads_outstanding > 0) return false;
            const auto fault = d_.execute_local(qp_, m, qp_.verbs->wqes[r_.cur & qp_.message_mask]);
            if (fault.check != Check::None) {
                d_.stop_at_local_error(qp_, fault, d_.local_status_of(fault.check), now);
                return false;
            }
            m.started = true;
            m.first_psn = r_.next_psn;
            m.packets = 0;
            d_.charge_message(qp_, now);
        }
        const bool oldest = r_.una == r_.cur;
        ++r_.cur;
        if (oldest) retire_oldest(WcStatus::Success, now);
    }
    return true;
}

/// The packet at (cur, cur_packet).
void RcRequester::build_packet(Message& m, TxEntry& entry, uint32_t& dma_bytes) {
    entry.kind = TxKind::Request;
    entry.qp_slot = qp_.slot;
    entry.message = r_.cur;
    entry.not_before = r_.cur_packet == 0 ? d_.next_message_at : sim::SimTime::zero();
    if (m.has_responses()) {
        const uint8_t opcode = request_opcode(qp_.transport(), m.opcode, wire::Position::Only);
        entry.packet = d_.packet_for(qp_, qp_.path, opcode, m.first_psn + static_cast<int32_t>(m.responses));
        if (!m.fills_sges()) {
            d_.attach_payload(entry.packet, qp_.path, qp_.pkey, m.stream, 0, m.length);
            dma_bytes = (m.send_flags & kInline) != 0 ? 0 : m.length;
        }
        add_headers(entry.packet, m, *wire::find_opcode(opcode));
        entry.packet.flags |= wire::kAckReq;
        entry.arms_timer = true;
        r_.ack_req_psn = m.last_psn();
        r_.ack_outstanding = true;
        r_.unrequested = 0;
        return;
    }
    const bool first = r_.cur_packet == 0, last = r_.cur_packet + 1 == m.packets;
    const auto position = first ? (last ? wire::Position::Only : wire::Position::First)
                                : (last ? wire::Position::Last : wire::Position::Middle);
    const uint8_t opcode = request_opcode(qp_.transport(), m.opcode, position);
    entry.packet = d_.packet_for(qp_, qp_.path, opcode, r_.next_psn);
    const uint32_t offset = r_.cur_packet * qp_.mtu;
    const uint32_t length = std::min(qp_.mtu, m.length - offset);
    d_.attach_payload(entry.packet, qp_.path, qp_.pkey, m.stream, offset - m.stream_base, length);
    if (first || last || qp_.type == QpType::XrcSend) add_headers(entry.packet, m, *wire::find_opcode(opcode));
    if ((m.send_flags & kSolicitedWr) != 0 && last) entry.packet.flags |= wire::kSolicited;
    if (last || ++r_.unrequested >= kAckRequestInterval) {
        entry.packet.flags |= wire::kAckReq;
        entry.arms_timer = true;
        r_.unrequested = 0;
        r_.ack_req_psn = r_.next_psn;
        r_.ack_outstanding = true;
    }
    dma_bytes = (m.send_flags & kInline) != 0 ? 0 : length;
}

void RcRequester::add_headers(wire::Packet& packet, const Message& m, const wire::OpcodeInfo& info) {
    if (!info.has_reth && !info.has_atomic_eth && !info.has_imm_dt && !info.has_ieth && !info.has_xrceth) return;
    if (qp_.verbs == nullptr && d_.pool == nullptr) return;
    wire::PacketExtra& x = d_.extra_of(packet, qp_.path, qp_.pkey);
    if (qp_.verbs == nullptr) {
        x.dma_length = m.length;
        return;
    }
    const SendWqe& w = qp_.verbs->wqes[static_cast<size_t>(&m - qp_.messages.data())];
    const uint64_t done = uint64_t{m.responses} * qp_.mtu;
    x.vaddr = w.remote_addr + done;
    x.rkey = w.rkey;
    x.dma_length = static_cast<uint32_t>(m.length - done);
    x.imm_or_inv_rkey = w.imm_or_rkey;
    x.xrc_srq = w.remote_srqn;
    if (m.opcode == WrOpcode::AtomicCmpAndSwp) {
        x.compare = w.compare_add;
        x.swap_or_add = w.swap;
    } else {
        x.swap_or_add = w.compare_add;
    }
}

void RcRequester::on_sent(sim::SimTime now) {
    if (!qp_.sends() || !r_.ack_outstanding || r_.rnr_wait || qp_.ack_timeout == sim::SimTime::max()) return;
    if (r_.deadline != sim::SimTime::max()) return;
    r_.deadline = now + qp_.ack_timeout;
    if (!qp_.ack_timer.pending()) qp_.ack_timer.set(r_.deadline);
}

void RcRequester::rewind(sim::SimTime now) {
    if (r_.una == r_.cur && !(r_.cur != r_.end && qp_.message(r_.cur).started)) return;
    // Not many messages are outstanding, and the oldest unacknowledged PSN is in the oldest message.
    Message& oldest = qp_.message(r_.una);
    if (r_.cur != r_.una && r_.cur != r_.end) d_.close_message(qp_.message(r_.cur));
    d_.close_message(oldest);
    // A request that could not be sent waits behind what goes out again; it is looked at anew in its turn.
    r_.stopped = false;
    r_.cur = r_.una;
    if (oldest.has_responses()) {
        r_.cur_packet = 0;
        r_.next_psn = oldest.first_psn;
    } else {
        r_.cur_packet = static_cast<uint32_t>(wire::Psn::distance(oldest.first_psn, r_.una_psn));
        r_.next_psn = r_.una_psn;
    }
    r_.unrequested = 0;
    d_.make_requester_ready(qp_, now);
}

wire::Psn RcRequester::oldest_psn() {
    const Message& m = qp_.message(r_.una);
    return m.has_responses() ? m.first_psn + static_cast<int32_t>(m.responses) : r_.una_psn;
}

}  // namespace simverbs::hca
