// The responder's side of flows: sequence checks, acknowledgements, CNPs.
#include <algorithm>

#include "models/flow/flow_nic.hpp"
#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/opcode.hpp"
#include "models/wire/psn.hpp"
#include "sim/check.hpp"

namespace simverbs::flow {

using sim::SimTime;
using wire::Packet;
using wire::Psn;

namespace {

constexpr uint8_t kAckSyndrome = wire::Syndrome::ack(wire::kUnlimitedCreditCode).encode();
constexpr uint8_t kPsnNak = wire::Syndrome::nak(wire::NakCode::PsnSequenceError).encode();

}  // namespace

[[gnu::always_inline]] inline void FlowNic::on_data(Packet& packet, SimTime now, SimTime next) {
    SIM_CHECK(packet.dest_qp < receivers_.size(), config_.path, packet.dest_qp);
    const uint32_t qp = packet.dest_qp;
    Receiver& r = receivers_[qp];
    if ((packet.flags & wire::kFecn) != 0 && needs_.cnp) on_mark(qp, now);
    const int32_t ahead = Psn::distance(Psn(r.expected), Psn(packet.psn));
    if (ahead == 0 && (packet.flags & wire::kTrimmed) == 0) {
        accept_in_order(r, qp, packet, now);
        if ((packet.flags & wire::kAckReq) != 0) {
            const Packet ack = make_ack(r, packet, kAckSyndrome, r.expected - 1);
            if (leaves_at_once(class_of(ack), now, next))
                emit(ack, egress_.bytes_of(ack), now);
            else
                push_control(ack);
        }
    } else {
        on_out_of_order(r, qp, packet, ahead, now);
    }
    if (packet.extra != wire::kNoExtra) pool_->release(shard(), packet);
}

[[gnu::always_inline]] inline void FlowNic::accept_in_order(Receiver& r, uint32_t qp, const Packet& packet,
                                                            SimTime now) {
    ++r.expected;
    r.nak_sent = false;
    counters_.data_received += packet.payload_bytes;
    ++progress_;
    if (!beyond_.empty() && !beyond_[qp].empty()) {
        const auto& bits = beyond_[qp];
        while (r.expected < r.packets && ((bits[r.expected / 64] >> (r.expected % 64)) & 1) != 0) ++r.expected;
    }
    if (r.expected != r.packets) return;
    if (!beyond_.empty()) std::vector<uint64_t>().swap(beyond_[qp]);
    const FlowIndex flow = flows_.arriving(config_.host)[qp];
    flows_.result(flow).received = now;
    release_dependents(flow, now);
}

/// Ahead: one NAK, then silence until the requester is back (go-back-N), or word of each packet that has arrived
/// (selective repeat). Behind: what was acknowledged is acknowledged again.
void FlowNic::on_out_of_order(Receiver& r, uint32_t qp, Packet& packet, int32_t ahead, SimTime) {
    if (ahead < 0) {
        if ((packet.flags & wire::kAckReq) != 0) send_ack(r, packet, kAckSyndrome, r.expected - 1);
        return;
    }
    ++counters_.out_of_sequence;
    if (config_.recovery == LossRecovery::GoBackN) {
        if (r.nak_sent) return;
        r.nak_sent = true;
    } else if ((packet.flags & wire::kTrimmed) == 0) {
        auto& bits = beyond_[qp];
        if (bits.empty()) bits.resize(r.packets / 64 + 1, 0);
        const uint32_t number = r.expected + static_cast<uint32_t>(ahead);
        SIM_CHECK(number < r.packets, config_.path, number, r.packets);
        uint64_t& word = bits[number / 64];
        if (((word >> (number % 64)) & 1) == 0) counters_.data_received += packet.payload_bytes;
        word |= uint64_t{1} << (number % 64);
    }
    ++counters_.naks_sent;
    send_ack(r, packet, kPsnNak, r.expected);
}

/// Telemetry and the sender's time stamp go back as they came; a NAK of selective repeat names what has arrived.
[[gnu::always_inline]] inline Packet FlowNic::make_ack(const Receiver& r, Packet& data, uint8_t syndrome,
                                                       uint32_t psn) {
    Packet ack;
    ack.dest = r.src & 0x3FFFF;
    ack.priority = (config_.ack_priority != 0xFF ? config_.ack_priority : r.service) & 0xF;
    ack.ttl = kHops;
    ack.dest_qp = r.src_qp & Psn::kMask;
    ack.opcode = wire::kAckOpcode;
    ack.psn = psn & Psn::kMask;
    ack.aeth_syndrome = syndrome;
    ack.aeth_msn = syndrome == kPsnNak ? uint32_t{data.psn} : uint32_t{data.aeth_msn};
    if (needs_.ecn_echo && (data.flags & wire::kFecn) != 0) ack.flags |= wire::kBecn;
    ack.flags |= data.flags & wire::kTrimmed;
    ack.flow_hash = r.flow_hash;
    if (data.extra != wire::kNoExtra) {
        ack.extra = data.extra;
        data.extra = wire::kNoExtra;
    }
    return ack;
}

void FlowNic::send_ack(Receiver& r, Packet& data, uint8_t syndrome, uint32_t psn) {
    push_control(make_ack(r, data, syndrome, psn));
}

/// The port is idle, and on_transmit would choose this packet at `now`: nothing else waits, and nothing more can happen
/// in this instant.
[[gnu::always_inline]] inline bool FlowNic::leaves_at_once(uint32_t priority, SimTime now,
                                                           SimTime next) const noexcept {
    return backlog() == 0 && egress_.busy_until <= now && next > now && timer_ > now && next_control_ > now &&
           ((egress_.blocked >> priority) & 1) == 0 && !credits_on_;
}

/// The first mark is answered at once; what is marked soon after a CNP is answered late, or not at all.
/// Source: Zhu et al., SIGCOMM 2015, section 3.1 (NP algorithm).
void FlowNic::on_mark(uint32_t qp, SimTime now) {
    Receiver& r = receivers_[qp];
    if (r.cnp_due) return;
    const SimTime allowed = r.last_cnp == SimTime::max() ? now : r.last_cnp + needs_.min_time_between_cnps;
    if (allowed <= now) return send_cnp(r, now);
    if (!needs_.late_cnps) return;
    r.cnp_due = true;
    note_timer(allowed);
    late_cnps_.push_back({allowed, qp, 0});
    std::push_heap(late_cnps_.begin(), late_cnps_.end());
}

void FlowNic::send_late_cnps(SimTime now) {
    while (!late_cnps_.empty() && late_cnps_.front().time <= now) {
        Receiver& r = receivers_[late_cnps_.front().slot];
        std::pop_heap(late_cnps_.begin(), late_cnps_.end());
        late_cnps_.pop_back();
        r.cnp_due = false;
        send_cnp(r, now);
    }
}

void FlowNic::send_cnp(Receiver& r, SimTime now) {
    r.last_cnp = now;
    ++counters_.cnps_sent;
    Packet cnp;
    cnp.dest = r.src & 0x3FFFF;
    cnp.priority = config_.cnp_priority & 0xF;
    cnp.ttl = kHops;
    cnp.dest_qp = r.src_qp & Psn::kMask;
    cnp.opcode = wire::kCnpOpcode;
    cnp.flags = wire::kBecn;
    cnp.flow_hash = r.flow_hash;
    push_control(cnp);
}

void FlowNic::push_control(const Packet& packet) {
    const uint32_t priority = class_of(packet);
    auto& ring = acks_[priority];
    if (!ring) ring = std::make_unique<sim::LinkRing<Packet>>();
    Packet queued = packet;
    queued.arrival = now_;
    ring->push(queued);
    control_mask_ |= 1U << priority;
}

}  // namespace simverbs::flow
