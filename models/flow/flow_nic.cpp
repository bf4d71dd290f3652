#include "models/flow/flow_nic.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/wire/opcode.hpp"
#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/rng.hpp"

namespace simverbs::flow {

using sim::SimTime;
using wire::Packet;

FlowNic::FlowNic(FlowNicConfig config, FlowTable& flows, wire::PacketPool* pool)
    : flows_(flows), pool_(pool), config_(std::move(config)) {
    SIM_CHECK(config_.cc != nullptr && config_.paths != nullptr, config_.path);
    needs_ = config_.cc->needs();
    cc_words_ = (config_.cc->state_size() + 7) / 8;
    const auto arriving = flows_.arriving(config_.host);
    receivers_.resize(arriving.size());
    for (size_t i = 0; i < arriving.size(); ++i) {
        const FlowSpec& f = flows_.spec(arriving[i]);
        Receiver& r = receivers_[i];
        r.packets = packets_of(f);
        r.src = f.src;
        r.src_qp = flows_.source_number(arriving[i]);
        r.service = f.priority;
        r.flow_hash = static_cast<uint16_t>(sim::mix64(flows_.identity(arriving[i]) << 1 | 1) >> 48);
    }
    if (config_.recovery == LossRecovery::SelectiveRepeat) beyond_.resize(arriving.size());
    slot_of_.assign(flows_.leaving(config_.host).size(), kNone);
    set_hot_memory(this, 2, 64);
}

FlowNic::~FlowNic() = default;

void FlowNic::attach_port(const link::PortWiring& wiring) {
    SIM_CHECK(!ingress_.wired(), config_.path);
    ingress_ = wiring.ingress;
    egress_ = wiring.egress;
    control_ = wiring.control;
    rate_ = wiring.params.rate;
    credits_on_ = control_.out != nullptr && wiring.params.layer == link::LinkLayer::InfiniBand;
    if (credits_on_) credits_ = link::Credits(config_.vl_buffer);
    if (config_.vl_arbitration) arbiter_ = std::make_unique<link::VlArbiter>();
    cc_listens_ = config_.cc->name() != "none";
    if (ingress_.faults != nullptr) tails_ = std::make_unique<sim::LinkRing<Packet>>();
}

void FlowNic::begin() {
    const auto leaving = flows_.leaving(config_.host);
    next_start_time_ = leaving.empty() ? SimTime::max() : flows_.spec(leaving.front()).start;
    SimTime first = next_start_time_;
    for (const pfc::PauseStorm& s : storms_) first = std::min(first, s.next());
    if (first != SimTime::max()) engine().wake(id(), first);
}

SimTime FlowNic::next_arrival() const noexcept {
    const SimTime header = ingress_.next_time();
    if (tails_) [[unlikely]]
        return std::min(header, tails_->head_time());
    if (header == SimTime::max()) return header;
    return header + ingress_.byte_time.of(ingress_.bytes_of(ingress_.channel->front()));
}

SimTime FlowNic::next_timer() const noexcept {
    SimTime t = next_start_time_;
    if (!paced_.empty()) t = std::min(t, paced_.front().time);
    if (!timers_.empty()) t = std::min(t, timers_.front().time);
    if (!late_cnps_.empty()) t = std::min(t, late_cnps_.front().time);
    for (const pfc::PauseStorm& s : storms_) t = std::min(t, s.next());
    return t;
}

SimTime FlowNic::next_transmit() const noexcept {
    return (backlog() & ~uint32_t{egress_.blocked}) != 0 ? std::max(egress_.busy_until, now_) : SimTime::max();
}

/// Within an instant: flow control, arrivals, timers, then what to send.
void FlowNic::run_window(SimTime end) {
    now_ = activity().window_start();
    if (control_.in != nullptr) find_next_control();
    SimTime arrival = next_arrival();
    timer_ = next_timer();
    for (;;) {
        SimTime t = arrival;
        What what = What::Deliver;
        if (next_control_ <= t) {
            t = next_control_;
            what = What::Control;
        }
        if (timer_ < t) {
            t = timer_;
            what = What::Timer;
        }
        if (const SimTime transmit = next_transmit(); transmit < t) {
            t = transmit;
            what = What::Transmit;
        }
        if (t >= end) break;
        now_ = std::max(t, now_);
        switch (what) {
            case What::Control:
                run_control();
                break;
            case What::Deliver:
                on_deliver(now_);
                arrival = next_arrival();
                break;
            case What::Timer:
                on_timer(now_);
                timer_ = next_timer();
                break;
            case What::Transmit:
                on_transmit(now_);
                break;
        }
    }
    ask_to_run(end);
}

/// Wakes itself for what it has to do by itself after this window; channels wake it for headers only.
void FlowNic::ask_to_run(SimTime end) {
    SimTime t = std::min(next_transmit(), next_control_);
    if (tails_) [[unlikely]]
        t = std::min(t, tails_->head_time());
    else  // a window that is cut short between a header and its tail uses up the channel's wake
        t = std::min(t, next_arrival());
    if (t != SimTime::max()) activity().wake(id(), t);
    // Timers may be far away: one wake at a time is enough.
    const SimTime timer = next_timer();
    if (timer == SimTime::max() || (woken_for_ >= end && woken_for_ <= timer)) return;
    woken_for_ = timer;
    activity().wake(id(), timer);
}

SimTime FlowNic::next_event_time() const {
    SimTime t = std::min({next_arrival(), next_timer(), next_transmit(), next_control_});
    if (control_.in != nullptr) t = std::min(t, control_.in->head_time());
    return t;
}

/// Faults act on headers; what comes out of them has arrived when its tail is in, and tails come one after the other.
bool FlowNic::take_with_faults(Packet& packet, SimTime now) {
    if (tails_->head_time() <= now) {
        packet = tails_->front();
        tails_->pop();
        return true;
    }
    if (ingress_.pop(packet, shard())) {
        last_tail_ = std::max(now, last_tail_) + ingress_.byte_time.of(ingress_.bytes_of(packet));
        packet.arrival = last_tail_;
        tails_->push(packet);
    } else if (credits_on_ && ingress_.faults->last_was_lost()) {
        give_credits(packet, ingress_.bytes_of(packet), now);
    }
    return false;
}

void FlowNic::on_deliver(SimTime now) {
    Packet packet;
    if (tails_) [[unlikely]] {
        if (!take_with_faults(packet, now)) return;
    } else {
        (void)ingress_.pop(packet, shard());
    }
    const uint32_t bytes = ingress_.bytes_of(packet);
    ++counters_.rx_packets;
    counters_.rx_bytes += bytes;
    if (credits_on_) [[unlikely]]
        give_credits(packet, bytes, now);
    if ((packet.flags & wire::kCorrupt) != 0) [[unlikely]] {
        ++counters_.corrupt;
        if (pool_ != nullptr) pool_->release(shard(), packet);
        return;
    }
    constexpr auto kAck = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::Acknowledge);
    if (packet.opcode == kAck) return on_ack(packet, now);
    if (packet.opcode == wire::kCnpOpcode) return on_cnp(packet, now);
    on_data(packet, now);
}

void FlowNic::on_timer(SimTime now) {
    start_due_flows(now);
    while (!paced_.empty() && paced_.front().time <= now) {
        const TimerEntry entry = paced_.front();
        std::pop_heap(paced_.begin(), paced_.end());
        paced_.pop_back();
        if (entry.generation == senders_[entry.slot].generation) on_paced(entry.slot, now);
    }
    on_retransmission_timers(now);
    if (!late_cnps_.empty()) send_late_cnps(now);
    send_storm_frames(now);
}

/// The highest priority that may send; of it, acknowledgements and CNPs before data.
void FlowNic::on_transmit(SimTime now) {
    const uint32_t sendable = backlog() & ~uint32_t{egress_.blocked};
    auto priority = static_cast<uint32_t>(std::bit_width(sendable) - 1);
    if (credits_on_) [[unlikely]] {
        const auto vl = choose_vl(sendable);
        if (!vl) return;
        priority = *vl;
    }
    if ((control_mask_ >> priority) & 1) {
        auto& ring = *acks_[priority];
        Packet packet = ring.front();
        ring.pop();
        if (ring.empty()) control_mask_ &= ~(1U << priority);
        return emit(packet, now);
    }
    ReadyList& list = ready_[priority];
    const uint32_t slot = list.head;
    list.head = senders_[slot].link;
    if (list.head == kNone) ready_mask_ &= ~(1U << priority);
    senders_[slot].queued = false;
    send_data(slot, now);
}

void FlowNic::emit(Packet& packet, SimTime now) {
    const uint32_t bytes = egress_.bytes_of(packet);
    ++counters_.tx_packets;
    counters_.tx_bytes += bytes;
    if (credits_on_) [[unlikely]]
        credits_.sent(class_of(packet), bytes);
    egress_.transmit(packet, bytes, now);
}

sim::BitRate FlowNic::rate_of(FlowIndex flow) const {
    const uint32_t slot = slot_of_[flows_.source_number(flow)];
    return slot == kNone ? sim::BitRate() : senders_[slot].control.rate;
}

SimTime FlowNic::rtt_of(FlowIndex flow) const {
    const uint32_t slot = slot_of_[flows_.source_number(flow)];
    return slot == kNone || timed_.empty() ? SimTime::zero() : timed_[slot].rtt;
}

sim::ByteCount FlowNic::bytes_received(FlowIndex flow) const {
    const Receiver& r = receivers_[flows_.destination_number(flow)];
    return std::min(sim::ByteCount{r.expected} * config_.payload_bytes, flows_.spec(flow).bytes);
}

void FlowNic::describe(std::string& out, size_t most) const {
    size_t told = 0;
    for (const Sender& s : senders_) {
        if (!s.in_use) continue;
        if (told++ == most) {
            out += "  " + config_.path + ": and " + std::to_string(active() - most) + " more flows\n";
            return;
        }
        const FlowSpec& f = flows_.spec(s.flow);
        out += "  " + config_.path + ": flow " + std::to_string(s.flow) + " to host " + std::to_string(f.dst) +
               ", packet " + std::to_string(s.una) + " of " + std::to_string(s.packets) + " not acknowledged";
        if ((egress_.blocked >> s.priority) & 1)
            out += credits_on_ ? ", no credits on VL " : ", paused on priority ";
        else if (s.queued)
            out += ", waits for its turn on priority ";
        else
            out += ", waits for an acknowledgement on priority ";
        out += std::to_string(s.priority) + "\n";
    }
}

size_t FlowNic::memory() const noexcept {
    const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    size_t sum = sizeof *this + bytes(senders_) + bytes(receivers_) + bytes(slot_of_) + bytes(paced_) + bytes(timers_) +
                 bytes(late_cnps_) + bytes(cc_states_) + bytes(path_facts_) + bytes(free_) + bytes(beyond_) +
                 bytes(sacked_);
    for (const auto& bits : beyond_) sum += bytes(bits);
    for (const auto& bits : sacked_) sum += bytes(bits);
    for (const auto& ring : acks_)
        if (ring) sum += sizeof *ring + ring->capacity() * sizeof(Packet);
    return sum;
}

}  // namespace simverbs::flow
