// Round robin over the QPs that have something to send, DMA prefetch, and the port's egress.
#include "models/hca/device.hpp"
#include "models/hca/raw/raw_frame.hpp"
#include "models/hca/rc/rc_requester.hpp"
#include "models/hca/rc/rc_responder.hpp"
#include "models/hca/uc/uc_requester.hpp"
#include "models/hca/ud/ud_requester.hpp"
#include "models/wire/aeth_syndrome.hpp"

namespace simverbs::hca {

namespace {

/// Packets in a port's pipeline at most: small ones are not bounded by bytes.
constexpr uint32_t kMaxAheadPackets = 128;

/// What a DMA read is for: a packet's payload (index of its port), or send WQEs.
constexpr host::ReadTag kWqeTag = ~uint64_t{0};

Pull pull_request(Device& d, Qp& qp, sim::SimTime now) {
    switch (qp.type) {
        case QpType::Rc:
        case QpType::XrcSend:
            return RcRequester(d, qp).pull(now);
        case QpType::Uc:
            return UcRequester(d, qp).pull(now);
        case QpType::Ud:
            return UdRequester(d, qp).pull(now);
        case QpType::RawPacket:
            return RawRequester(d, qp).pull(now);
        case QpType::XrcRecv:
            break;
    }
    return Pull::Nothing;
}

}  // namespace

void Device::make_requester_ready(Qp& qp, sim::SimTime now) {
    const bool by_datagram = qp.type == QpType::Ud || qp.type == QpType::RawPacket;
    Port& port = by_datagram ? *ports[qp.port_index] : port_of(qp.path);
    if (!qp.rq.queued) {
        qp.rq.queued = true;
        port.ready.push(qp.slot * 2);
    }
    pump(port, now);
}

void Device::make_responder_ready(Qp& qp, sim::SimTime now) {
    Port& port = port_of(qp.path);
    if (!qp.rs.queued) {
        qp.rs.queued = true;
        port.ready.push(qp.slot * 2 + 1);
    }
    pump(port, now);
}

void Device::pump(Port& port, sim::SimTime now) {
    if (port.pumping) return;
    port.pumping = true;
    while (!port.ready.empty() && port.ahead_bytes < timing.prefetch_bytes && port.data.size() < kMaxAheadPackets) {
        const uint32_t entity = port.ready.front();
        port.ready.pop();
        Qp& qp = *qps[entity / 2];
        if (port.gate != nullptr && park_if_blocked(port, qp, entity)) [[unlikely]]
            continue;
        const bool responder = (entity & 1) != 0;
        bool& queued = responder ? qp.rs.queued : qp.rq.queued;
        queued = false;
        const Pull pulled = responder ? RcResponder(*this, qp).pull(now) : pull_request(*this, qp, now);
        if (pulled == Pull::Packet && !queued) {
            queued = true;
            port.ready.push(entity);
        }
    }
    port.pumping = false;
}

void Device::enqueue(Port& port, TxEntry& entry, uint32_t dma_bytes, sim::SimTime now, sim::SimTime dma_extra) {
    entry.wire_bytes = port.egress.bytes_of(entry.packet);
    port.ahead_bytes += entry.packet.payload_bytes;
    if (dma_bytes > 0) {
        entry.ready = sim::SimTime::max();
        host_port.request_read(now, dma_bytes, port.index, dma_extra);
    } else {
        entry.ready = std::max(now + timing.tx_pipeline, entry.not_before);
    }
    port.data.push(entry);
    port.transmit_at = next_transmit(port);
}

void Device::on_read_completion(host::ReadTag tag, sim::SimTime now) {
    if (tag == kWqeTag) {
        // Reads complete in order.
        Delayed fetched = wqe_fetches.front();
        wqe_fetches.pop();
        fetched.kind = Delayed::Kind::WqeReady;
        delayed.push(now + timing.wqe_process, fetched);
        return;
    }
    Port& port = *ports[tag];
    if (!port.data.holds(port.unread)) port.unread = port.data.first();
    while (port.data.at(port.unread).ready != sim::SimTime::max()) ++port.unread;
    TxEntry& entry = port.data.at(port.unread++);
    entry.ready = std::max(now + timing.tx_pipeline, entry.not_before);
    port.transmit_at = next_transmit(port);
}

void Device::fetch_wqes(const Qp& qp, const Delayed& what, sim::SimTime now) {
    constexpr uint32_t kWqeBytes = 64, kMostAtOnce = 64;
    const uint32_t wqes = std::min(what.count - qp.rq.end, kMostAtOnce);
    wqe_fetches.push(what);
    host_port.aim(qp.verbs->init.memory);
    host_port.request_read(now, wqes * kWqeBytes, kWqeTag);
}

sim::SimTime Device::next_transmit(const Port& port) noexcept {
    auto t = sim::SimTime::max();
    if (!port.acks.empty()) t = port.acks.front().ready;
    if (!port.data.empty()) t = std::min(t, port.data.front().ready);
    if (port.gate != nullptr && ((port.gate->held_acks | port.gate->held_data) & ~uint32_t{port.egress.blocked}) != 0)
        t = std::min(t, port.gate->opened);
    return t == sim::SimTime::max() ? t : std::max(t, port.busy_until);
}

void Device::transmit(Port& port, sim::SimTime now) {
    bool ack = false;
    uint32_t ahead = 0;  ///< that counts in ahead_bytes still
    TxEntry entry;
    if (port.gate != nullptr) [[unlikely]] {
        if (!take_permitted(port, now, entry, ack)) {
            port.transmit_at = next_transmit(port);
            return pump(port, now);
        }
    } else {
        ack = !port.acks.empty() && port.acks.front().ready <= now;
        Fifo<TxEntry>& queue = ack ? port.acks : port.data;
        entry = queue.front();
        queue.pop();
        if (!ack) ahead = entry.packet.payload_bytes;
    }
    port.counters.xmit_bytes += entry.wire_bytes;
    ++port.counters.xmit_packets;
    if (port.is_loopback) {
        const sim::SimTime tail = now + port.egress.byte_time.of(entry.wire_bytes);
        port.busy_until = tail;
        port.rx.push({tail + timing.loopback, entry.packet});
    } else if (!port.egress.wired()) [[unlikely]] {
        ++port.counters.xmit_discards;
        if (pool != nullptr) pool->release(node.shard(), entry.packet);
    } else {
        port.busy_until = port.egress.transmit(entry.packet, entry.wire_bytes, now);
    }
    port.transmit_at = next_transmit(port);
    switch (entry.kind) {
        case TxKind::Request:
            if (entry.arms_timer) RcRequester(*this, *qps[entry.qp_slot]).on_sent(now);
            if (entry.completes) on_unreliable_sent(*qps[entry.qp_slot], entry.message, now);
            break;
        case TxKind::Response:
            --qps[entry.qp_slot]->rs.responses_in_pipeline;
            break;
        case TxKind::Ack:
        case TxKind::Management:
            break;
    }
    if (ack) return;
    port.ahead_bytes -= ahead;
    pump(port, now);
}

void Device::enqueue_ack(Qp& qp, uint8_t syndrome, wire::Psn psn, sim::SimTime now) {
    Responder& rs = qp.rs;
    if (qp.responses_waiting()) {
        rs.ack_pending = true;
        rs.pending_syndrome = syndrome;
        rs.pending_ack_psn = psn;
        return;
    }
    Port& port = port_of(qp.path);
    const bool positive = wire::Syndrome::decode(syndrome)->kind == wire::SyndromeKind::Ack;
    if (positive && rs.ack_queued && port.acks.holds(rs.ack_number)) {
        TxEntry& waiting = port.acks.at(rs.ack_number);
        waiting.packet.psn = psn.value();
        waiting.packet.aeth_msn = rs.msn & 0xFFFFFF;
        waiting.packet.aeth_syndrome = syndrome;
        return;
    }
    TxEntry entry;
    entry.kind = TxKind::Ack;
    entry.qp_slot = qp.slot;
    entry.packet = packet_for(qp, qp.path, wire::make_opcode(qp.transport(), wire::BaseOpcode::Acknowledge), psn);
    entry.packet.aeth_msn = rs.msn & 0xFFFFFF;
    entry.packet.aeth_syndrome = syndrome;
    if (rs.responses_in_pipeline > 0) {
        enqueue(port, entry, 0, now);
        return;
    }
    entry.wire_bytes = port.egress.bytes_of(entry.packet);
    entry.ready = now + timing.ack_generation;
    rs.ack_number = port.acks.push(entry);
    rs.ack_queued = positive;
    port.transmit_at = next_transmit(port);
}

}  // namespace simverbs::hca
