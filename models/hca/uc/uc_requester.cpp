#include "models/hca/uc/uc_requester.hpp"

#include "models/hca/transport/request_opcode.hpp"

namespace simverbs::hca {

Pull UcRequester::pull(sim::SimTime now) {
    if (!qp_.sends() || r_.stopped) return Pull::Nothing;
    if (r_.cur == r_.end && qp_.source != nullptr) d_.refill_from_source(qp_, now);
    if (r_.cur == r_.end || (qp_.state == QpState::Sqd && r_.cur_packet == 0)) {
        d_.note_drained(qp_, now);
        return Pull::Nothing;
    }
    Message& m = qp_.message(r_.cur);
    if (m.is_local()) {
        run_local(m, now);
        return Pull::Nothing;
    }
    if (!m.started) {
        if (now < r_.next_message_at) {
            qp_.pace_timer.set(r_.next_message_at);
            return Pull::Nothing;
        }
        const auto fault = d_.open_message(qp_, m, r_.cur, 0);
        if (fault.check != Check::None) {
            d_.stop_at_local_error(qp_, fault, d_.local_status_of(fault.check), now);
            return Pull::Nothing;
        }
        m.started = true;
        m.responses = 0;
        m.first_psn = r_.next_psn;
        m.packets = packets_for(m.length, qp_.mtu);
        d_.charge_message(qp_, now);
    }
    TxEntry entry;
    build_packet(m, entry);
    const uint32_t length = entry.packet.payload_bytes;
    if (m.stream != wire::kNoStream && (m.send_flags & kInline) == 0 &&
        !d_.mover->dma_read(m.stream, uint64_t{r_.cur_packet} * qp_.mtu + length)) {
        d_.pool->release(d_.node.shard(), entry.packet);
        d_.stop_at_local_error(qp_, {Check::LocalMemory, 0, m.length, 0}, WcStatus::LocProtErr, now);
        return Pull::Nothing;
    }
    const auto extra = m.packets > 1 && r_.cur_packet == 0 ? d_.timing.message_overhead : sim::SimTime::zero();
    if (d_.host_port.has_complex()) [[unlikely]]
        d_.aim_at_source(qp_, r_.cur, uint64_t{r_.cur_packet} * qp_.mtu);
    r_.next_psn = r_.next_psn.next();
    if (entry.completes) {
        d_.close_message(m);
        ++r_.cur;
        r_.cur_packet = 0;
    } else {
        ++r_.cur_packet;
    }
    d_.enqueue(d_.port_of(qp_.path), entry, (m.send_flags & kInline) != 0 ? 0 : length, now, extra);
    return Pull::Packet;
}

void UcRequester::run_local(Message& m, sim::SimTime now) {
    const auto fault = d_.execute_local(qp_, m, qp_.verbs->wqes[r_.cur & qp_.message_mask]);
    if (fault.check != Check::None) {
        d_.stop_at_local_error(qp_, fault, d_.local_status_of(fault.check), now);
        return;
    }
    m.started = true;
    m.responses = 0;
    const uint32_t number = r_.cur++;
    d_.on_unreliable_sent(qp_, number, now);
    // Not by recursion: the queue may hold many of these.
    if (qp_.sends()) qp_.pace_timer.set(std::max(r_.next_message_at, now + sim::SimTime::ps(1)));
}

void UcRequester::build_packet(const Message& m, TxEntry& entry) {
    const bool first = r_.cur_packet == 0, last = r_.cur_packet + 1 == m.packets;
    const auto position = first ? (last ? wire::Position::Only : wire::Position::First)
                                : (last ? wire::Position::Last : wire::Position::Middle);
    const uint8_t opcode = request_opcode(wire::Transport::Uc, m.opcode, position);
    entry.qp_slot = qp_.slot;
    entry.message = r_.cur;
    entry.completes = last;
    entry.not_before = first ? d_.next_message_at : sim::SimTime::zero();
    entry.packet = d_.packet_for(qp_, qp_.path, opcode, r_.next_psn);
    const uint32_t offset = r_.cur_packet * qp_.mtu;
    d_.attach_payload(entry.packet, qp_.path, qp_.pkey, m.stream, offset, std::min(qp_.mtu, m.length - offset));
    if ((m.send_flags & kSolicitedWr) != 0 && last) entry.packet.flags |= wire::kSolicited;
    const wire::OpcodeInfo& info = *wire::find_opcode(opcode);
    if (qp_.verbs == nullptr || (!info.has_reth && !info.has_imm_dt)) return;
    wire::PacketExtra& x = d_.extra_of(entry.packet, qp_.path, qp_.pkey);
    const SendWqe& w = qp_.verbs->wqes[r_.cur & qp_.message_mask];
    x.vaddr = w.remote_addr;
    x.rkey = w.rkey;
    x.dma_length = m.length;
    x.imm_or_inv_rkey = w.imm_or_rkey;
}

}  // namespace simverbs::hca
