// The requester's side of flows: what to send next, acknowledgements, loss, congestion control.
#include <algorithm>
#include <utility>

#include "models/flow/flow_nic.hpp"
#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/opcode.hpp"
#include "models/wire/psn.hpp"
#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/rng.hpp"

namespace simverbs::flow {

using sim::SimTime;
using wire::Packet;
using wire::Psn;

namespace {

/// Time stamps travel in the 24 bits of an MSN, in ns.
constexpr int64_t kStampModulus = int64_t{1} << 24;

uint8_t opcode_of(uint32_t number, uint32_t packets) {
    using wire::BaseOpcode;
    const bool first = number == 0;
    const bool last = number + 1 == packets;
    const BaseOpcode base = first ? (last ? BaseOpcode::WriteOnly : BaseOpcode::WriteFirst)
                                  : (last ? BaseOpcode::WriteLast : BaseOpcode::WriteMiddle);
    return wire::make_opcode(wire::Transport::Rc, base);
}

}  // namespace

void FlowNic::start_due_flows(SimTime now) {
    const auto leaving = flows_.leaving(config_.host);
    while (next_start_time_ <= now) {
        const FlowIndex flow = leaving[next_start_++];
        next_start_time_ = next_start_ < leaving.size() ? flows_.spec(leaving[next_start_]).start : SimTime::max();
        if (!flows_.waits(flow)) start_flow(flow, now);
    }
}

/// What waited for `flow` and for nothing else starts, unless its time is still to come (start_due_flows).
void FlowNic::release_dependents(FlowIndex flow, SimTime now) {
    flows_.release_dependents(flow, config_.host, [&](FlowIndex after) {
        if (flows_.spec(after).start < next_start_time_) start_flow(after, now);
    });
}

uint32_t FlowNic::packets_of(const FlowSpec& flow) const noexcept {
    if (flow.bytes <= 0) return 1;
    return static_cast<uint32_t>((flow.bytes + config_.payload_bytes - 1) / config_.payload_bytes);
}

void FlowNic::start_flow(FlowIndex flow, SimTime now) {
    if (free_.empty()) {
        free_.push_back(static_cast<uint32_t>(senders_.size()));
        senders_.emplace_back();
        path_facts_.emplace_back();
        cc_states_.resize(senders_.size() * cc_words_);
        if (config_.recovery == LossRecovery::SelectiveRepeat) sacked_.emplace_back();
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    if (config_.measures_rtt) {
        timed_.resize(senders_.size());
        timed_[slot] = {};
    }
    Sender& s = senders_[slot];
    const FlowSpec& f = flows_.spec(flow);
    const uint32_t generation = s.generation;
    s = Sender{};
    s.generation = generation;
    s.in_use = true;
    s.flow = flow;
    s.dest = f.dst;
    s.dest_qp = flows_.destination_number(flow);
    s.flow_hash = static_cast<uint16_t>(sim::mix64(flows_.identity(flow) << 1) >> 48);
    s.service = f.priority;
    s.priority = config_.classes[f.priority];
    s.packets = packets_of(f);
    s.last_payload = static_cast<uint16_t>(std::max<sim::ByteCount>(f.bytes, 0) -
                                           sim::ByteCount{s.packets - 1} * config_.payload_bytes);
    s.next_time = now;
    path_facts_[slot] = config_.paths->facts(f.src, f.dst);
    config_.cc->start(cc_state(slot), path_facts_[slot], s.control);
    s.window_bytes = config_.window_bytes;
    if (config_.window_of_bdp) {
        const cc::PathFacts& path = path_facts_[slot];
        s.window_bytes = static_cast<int64_t>(static_cast<sim::Int128>(path.line_rate.in_bps()) *
                                              path.base_rtt.in_ps() / 8 / 1'000'000'000'000);
    }
    slot_of_[flows_.source_number(flow)] = slot;
    flows_.result(flow).started = now;
    make_ready(slot, now);
}

/// Selective repeat, behind what was sent before: the next packet that is worth sending again.
uint32_t FlowNic::next_missing(Sender& s) const {
    // Lost is what is missing before something that has arrived; of what comes after, nothing is known yet.
    while (s.next < s.recovery_to && sacked(s, s.next)) ++s.next;
    if (s.next >= s.recovery_to) s.next = s.highest;
    return s.next;
}

bool FlowNic::sacked(const Sender& s, uint32_t number) const {
    const auto& bits = sacked_[static_cast<size_t>(&s - senders_.data())];
    return number / 64 < bits.size() && ((bits[number / 64] >> (number % 64)) & 1) != 0;
}

[[gnu::always_inline]] inline bool FlowNic::may_send(const Sender& s) const noexcept {
    if (s.next >= s.packets) return false;
    const int64_t window = std::min(s.control.window_bytes, s.window_bytes);
    if (window == cc::Control::kNoWindow) return true;
    const uint32_t in_flight = s.next - s.una;
    return int64_t{in_flight} * config_.payload_bytes < window;
}

[[gnu::always_inline]] inline void FlowNic::push_ready(uint32_t slot) {
    Sender& s = senders_[slot];
    ReadyList& list = ready_[s.priority];
    s.link = kNone;
    s.queued = true;
    if (list.head == kNone)
        list.head = slot;
    else
        senders_[list.tail].link = slot;
    list.tail = slot;
    ready_mask_ |= 1U << s.priority;
}

/// Puts a requester where it belongs: into the ready list, among the paced, or nowhere until an ACK comes.
void FlowNic::make_ready(uint32_t slot, SimTime now) {
    Sender& s = senders_[slot];
    if (s.queued) return;
    next_packet(s);
    if (!may_send(s)) return;
    if (s.next_time <= now) return push_ready(slot);
    s.queued = true;
    // A rate that rises meanwhile shortens the wait.
    const SimTime update = s.control.next_update > now ? s.control.next_update : SimTime::max();
    note_timer(std::min(s.next_time, update));
    paced_.push_back({std::min(s.next_time, update), slot, s.generation});
    std::push_heap(paced_.begin(), paced_.end());
}

/// A paced requester's time has come, or its rate may have changed.
void FlowNic::on_paced(uint32_t slot, SimTime now) {
    Sender& s = senders_[slot];
    s.queued = false;
    if (s.next_time > now) {
        update_by_time(s, slot, now);
        const SimTime by_rate = s.control.rate < rate_ ? s.paced_from + s.control.rate.time_for(s.paced_bytes) : now;
        s.next_time = std::max(by_rate, now);  // it was its rate that made it wait: nothing is caught up
    }
    make_ready(slot, now);
}

[[gnu::always_inline]] inline void FlowNic::build_data(Sender& s, uint32_t number, SimTime now, Packet& packet) {
    packet.dest = s.dest;
    packet.priority = s.service & 0xF;
    packet.ttl = kHops;
    packet.dest_qp = s.dest_qp & Psn::kMask;
    packet.opcode = opcode_of(number, s.packets);
    packet.psn = number & Psn::kMask;
    packet.flags = wire::kEcnCapable;
    if (config_.ack_every == 1 || (number + 1) % config_.ack_every == 0 || number + 1 == s.packets)
        packet.flags |= wire::kAckReq;
    packet.payload_bytes = static_cast<uint16_t>(payload_of(s, number));
    packet.flow_hash = s.flow_hash;
    if (needs_.rtt) packet.aeth_msn = static_cast<uint32_t>(now.in_ps() / 1000 % kStampModulus);
    if (!needs_.hop_int) return;
    packet.extra = pool_->allocate(shard());
    pool_->int_stack(packet.extra).count = 0;
}

[[gnu::always_inline]] inline void FlowNic::send_data(uint32_t slot, SimTime now) {
    Sender& s = senders_[slot];
    if (cc_listens_) update_by_time(s, slot, now);
    const uint32_t number = next_packet(s);
    if (number >= s.packets) return;  // an ACK came meanwhile
    if (s.una == s.next) set_deadline(slot, now);
    Packet packet;
    build_data(s, number, now, packet);
    if (!timed_.empty()) [[unlikely]]
        time_packet(slot, number, now);
    if (number < s.highest) {
        ++counters_.retransmitted;
        ++flows_.result(s.flow).retransmitted;
        s.resend_from = number + 1;
    }
    s.next = number + 1;
    s.highest = std::max(s.highest, s.next);
    const uint32_t wire_bytes = egress_.bytes_of(packet);
    emit(packet, wire_bytes, now);
    if (cc_listens_) pace(s, wire_bytes, now);
    next_packet(s);
    if (!may_send(s)) return;
    if (s.next_time <= egress_.busy_until) return push_ready(slot);
    make_ready(slot, now);
}

/// Karn's rule: what was sent again says nothing about the time of a round trip.
void FlowNic::time_packet(uint32_t slot, uint32_t number, SimTime now) {
    TimedPacket& timed = timed_[slot];
    if (number < senders_[slot].highest) {
        timed.is_under_way = timed.is_under_way && number != timed.number;
    } else if (!timed.is_under_way) {
        timed.is_under_way = true;
        timed.number = number;
        timed.sent = now;
    }
}

void FlowNic::note_rtt(uint32_t slot, uint32_t upto, SimTime now) {
    TimedPacket& timed = timed_[slot];
    if (!timed.is_under_way || timed.number >= upto) return;
    timed.is_under_way = false;
    timed.rtt = now - timed.sent;
}

void FlowNic::update_by_time(Sender& s, uint32_t slot, SimTime now) {
    if (s.control.next_update <= now) config_.cc->on_time(cc_state(slot), path_facts_[slot], now, s.control);
}

/// The next packet not before this one's time at the QP's rate; a packet that had to wait for its turn may be caught
/// up.
void FlowNic::pace(Sender& s, uint32_t wire_bytes, SimTime now) {
    if (s.control.bytes_to_update != cc::Control::kNever) {
        s.control.bytes_to_update -= wire_bytes;
        if (s.control.bytes_to_update <= 0) {
            const auto slot = static_cast<uint32_t>(&s - senders_.data());
            config_.cc->on_bytes(cc_state(slot), path_facts_[slot], now, s.control);
        }
    }
    if (s.control.rate >= rate_) {
        s.next_time = now;
        return;
    }
    const SimTime interval = s.control.rate.time_for(wire_bytes);
    s.paced_from = std::max(s.next_time, now - interval);
    s.paced_bytes = wire_bytes;
    s.next_time = s.paced_from + interval;
}

void FlowNic::set_deadline(uint32_t slot, SimTime now) {
    Sender& s = senders_[slot];
    s.deadline = now + config_.retransmission_timeout;
    if (s.timer_set) return;
    s.timer_set = true;
    note_timer(s.deadline);
    timers_.push_back({s.deadline, slot, s.generation});
    std::push_heap(timers_.begin(), timers_.end());
}

void FlowNic::on_retransmission_timers(SimTime now) {
    while (!timers_.empty() && timers_.front().time <= now) {
        const TimerEntry entry = timers_.front();
        std::pop_heap(timers_.begin(), timers_.end());
        timers_.pop_back();
        Sender& s = senders_[entry.slot];
        if (entry.generation != s.generation) continue;
        s.timer_set = false;
        // Nothing is outstanding, or it waits to be sent again: that sets a deadline.
        if (s.una == s.highest || s.next == s.una) continue;
        if (s.deadline <= now) {
            on_timeout(entry.slot, now);
        } else {
            s.timer_set = true;
            timers_.push_back({s.deadline, entry.slot, s.generation});
            std::push_heap(timers_.begin(), timers_.end());
        }
    }
}

void FlowNic::on_timeout(uint32_t slot, SimTime now) {
    Sender& s = senders_[slot];
    ++counters_.timeouts;
    ++flows_.result(s.flow).timeouts;
    if (s.retries >= config_.retry_cnt) return finish(slot, FlowStatus::RetryExceeded, now);
    ++s.retries;
    s.next = s.resend_from = s.una;
    s.recovery_to = s.highest;
    if (cc_listens_) config_.cc->on_timeout(cc_state(slot), path_facts_[slot], now, s.control);
    set_deadline(slot, now);
    make_ready(slot, now);
}

/// Everything before `upto` has arrived.
[[gnu::always_inline]] inline void FlowNic::acknowledge(Sender& s, uint32_t upto) {
    s.una = upto;
    s.retries = 0;
    s.next = std::max(s.next, upto);  // after a timeout an ACK can pass what was rolled back
}

/// Selective repeat: a NAK names a packet that has arrived, so what is missing before it is lost; or (trimmed) one that
/// has lost its payload. Each is sent again once; if that is lost as well, the timer finds out.
void FlowNic::on_nak(Sender& s, uint32_t slot, const Packet& nak) {
    if (config_.recovery == LossRecovery::GoBackN) {
        s.next = s.una;
        return;
    }
    const int32_t beyond = Psn::distance(Psn(s.una), Psn(nak.aeth_msn));
    const uint32_t named = s.una + static_cast<uint32_t>(std::max(beyond, 0));
    if (beyond < 0 || named >= s.highest) return;
    if ((nak.flags & wire::kTrimmed) != 0) {
        s.resend_from = std::min(s.resend_from, named);
        s.recovery_to = std::max(s.recovery_to, named + 1);
    } else {
        auto& bits = sacked_[slot];
        if (bits.empty()) bits.resize(s.packets / 64 + 1, 0);
        bits[named / 64] |= uint64_t{1} << (named % 64);
        s.recovery_to = std::max(s.recovery_to, named);
    }
    const uint32_t from = std::max(s.una, s.resend_from);
    if (from < s.recovery_to) s.next = std::min(s.next, from);
}

void FlowNic::on_ack(Packet& packet, SimTime now) {
    const uint32_t slot = packet.dest_qp < slot_of_.size() ? slot_of_[packet.dest_qp] : kNone;
    const bool nak = packet.aeth_syndrome >> 5 == static_cast<uint32_t>(wire::SyndromeKind::Nak);
    if (slot != kNone) {
        Sender& s = senders_[slot];
        const int32_t ahead = Psn::distance(Psn(s.una), Psn(packet.psn)) + (nak ? 0 : 1);
        const uint32_t before = s.una;
        const uint32_t upto = s.una + static_cast<uint32_t>(std::max(ahead, 0));
        if (upto <= s.highest) {
            if (upto != before) {
                if (!timed_.empty()) [[unlikely]]
                    note_rtt(slot, upto, now);
                acknowledge(s, upto);
                s.deadline = now + config_.retransmission_timeout;
            }
            if (nak) ++flows_.result(s.flow).naks;
            if (nak && ahead >= 0) on_nak(s, slot, packet);
            if (cc_listens_) {
                cc::Ack ack;
                ack.now = now;
                ack.acked_bytes = sim::ByteCount{upto - before} * config_.payload_bytes;
                ack.ack_psn = Psn(upto - 1);
                ack.next_psn = Psn(s.highest);
                ack.ecn_echo = (packet.flags & wire::kBecn) != 0;
                if (needs_.rtt && !nak)
                    ack.rtt = SimTime::ns((now.in_ps() / 1000 - packet.aeth_msn) & (kStampModulus - 1));
                if (needs_.hop_int && packet.extra != wire::kNoExtra) ack.hops = pool_->int_stack(packet.extra).all();
                update_by_time(s, slot, now);
                config_.cc->on_ack(cc_state(slot), path_facts_[slot], ack, s.control);
            }
            if (s.una == s.packets)
                finish(slot, FlowStatus::Success, now);
            else
                make_ready(slot, now);
        }
    }
    if (packet.extra != wire::kNoExtra) pool_->release(shard(), packet);
}

void FlowNic::on_cnp(const Packet& packet, SimTime now) {
    const uint32_t slot = packet.dest_qp < slot_of_.size() ? slot_of_[packet.dest_qp] : kNone;
    if (slot == kNone || !cc_listens_) return;
    ++counters_.cnps_handled;
    Sender& s = senders_[slot];
    ++flows_.result(s.flow).cnps;
    update_by_time(s, slot, now);
    config_.cc->on_cnp(cc_state(slot), path_facts_[slot], now, s.control);
}

void FlowNic::finish(uint32_t slot, FlowStatus status, SimTime now) {
    Sender& s = senders_[slot];
    const FlowIndex flow = s.flow;
    // A ready list is singly linked: a requester that failed while it waits in one is taken out here.
    if (s.queued) {
        ReadyList& list = ready_[s.priority];
        uint32_t previous = kNone;
        for (uint32_t i = list.head; i != kNone; previous = i, i = senders_[i].link) {
            if (i != slot) continue;
            (previous == kNone ? list.head : senders_[previous].link) = s.link;
            if (list.tail == slot) list.tail = previous;
            if (list.head == kNone) ready_mask_ &= ~(1U << s.priority);
            break;
        }
    }
    FlowResult& result = flows_.result(flow);
    result.acknowledged = now;
    result.status = status;
    slot_of_[flows_.source_number(flow)] = kNone;
    ++s.generation;
    s.in_use = false;
    s.queued = false;
    if (!sacked_.empty()) std::vector<uint64_t>().swap(sacked_[slot]);
    free_.push_back(slot);
    ++ended_;
    ++progress_;
    if (status == FlowStatus::Success) release_dependents(flow, now);
}

}  // namespace simverbs::flow
