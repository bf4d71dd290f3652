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

// What runs once a packet: without this, g++ -O2 calls each of them. The files of this folder are one unit.
#define HOT_INLINE [[gnu::always_inline]] inline

FlowNic::FlowNic(FlowNicConfig config, FlowTable& flows, wire::PacketPool* pool)
    : pool_(pool), config_(std::move(config)), flows_(flows) {
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
    set_hot_memory(this, 4, 128);
}

FlowNic::~FlowNic() = default;

void FlowNic::attach_port(const link::PortWiring& wiring) {
    SIM_CHECK(!ingress_.wired(), config_.path);
    ingress_ = wiring.ingress;
    egress_ = wiring.egress;
    flow_control_ = link::FlowControlEnd(wiring, config_.vl_buffer);
    rate_ = wiring.params.rate;
    credits_on_ = flow_control_.has_credits();
    if (config_.vl_arbitration) arbiter_ = std::make_unique<link::VlArbiter>();
    cc_listens_ = config_.cc->name() != "none";
    if (ingress_.faults != nullptr) tails_ = std::make_unique<sim::LinkRing<Packet>>();
}

void FlowNic::begin() {
    const auto leaving = flows_.leaving(config_.host);
    next_start_time_ = leaving.empty() ? SimTime::max() : flows_.spec(leaving.front()).start;
    find_next_timer();
    if (timer_ != SimTime::max()) engine().wake(id(), timer_);
}

HOT_INLINE SimTime FlowNic::next_arrival() const noexcept {
    if (ingress_.faults != nullptr) [[unlikely]]
        return std::min(ingress_.next_time(), tails_->head_time());
    return tail_of(ingress_.channel->head_time(), ingress_.channel->front());
}

void FlowNic::find_next_timer() noexcept {
    timer_ = next_start_time_;
    if (!paced_.empty()) note_timer(paced_.front().time);
    if (!timers_.empty()) note_timer(timers_.front().time);
    if (!late_cnps_.empty()) note_timer(late_cnps_.front().time);
    for (const pfc::PauseStorm& s : storms_) note_timer(s.next());
}

HOT_INLINE SimTime FlowNic::next_transmit() const noexcept {
    return (backlog() & ~uint32_t{egress_.blocked}) != 0 ? std::max(egress_.busy_until, now_) : SimTime::max();
}

void FlowNic::prefetch() const {
    __builtin_prefetch(ingress_.channel);
    __builtin_prefetch(egress_.channel, 1);
    if (!senders_.empty()) {
        __builtin_prefetch(senders_.data(), 1);
        __builtin_prefetch(reinterpret_cast<const char*>(senders_.data()) + 64, 1);
    }
    __builtin_prefetch(receivers_.data(), 1);
    __builtin_prefetch(slot_of_.data());
}

/// Within an instant: flow control, arrivals, timers, then what to send.
void FlowNic::run_window(SimTime end) {
    now_ = activity().window_start();
    egress_.channel->prefetch_tail();
    if (flow_control_.is_on()) find_next_control();
    SimTime arrival = next_arrival();
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
                arrival = on_deliver(now_);
                break;
            case What::Timer:
                on_timer(now_);
                find_next_timer();
                break;
            case What::Transmit:
                on_transmit(now_);
                break;
        }
    }
    // It wakes itself for what it has to do by itself after this window; channels wake it for headers only, and a
    // window that is cut short between a header and its tail uses up that wake.
    if (const SimTime t = std::min(arrival, next_transmit()); t != SimTime::max()) activity().wake(id(), t);
    // Timers and the ends of pauses may be far away: one wake at a time is enough.
    const SimTime later = std::min(timer_, next_control_);
    if (later == SimTime::max() || (woken_for_ >= end && woken_for_ <= later)) return;
    woken_for_ = later;
    activity().wake(id(), later);
}

SimTime FlowNic::next_event_time() const {
    SimTime t = std::min({next_arrival(), timer_, next_transmit(), next_control_});
    if (flow_control_.is_on()) t = std::min(t, flow_control_.port().in->head_time());
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

/// The packet is read where it lies. Returns next_arrival().
HOT_INLINE SimTime FlowNic::on_deliver(SimTime now) {
    if (ingress_.faults != nullptr) [[unlikely]]
        return deliver_after_faults(now);
    link::PacketChannel& channel = *ingress_.channel;
    channel.prefetch_third();
    SimTime next = channel.second_time();
    if (next != SimTime::max()) next = tail_of(next, channel.second());
    Packet& packet = channel.front();
    if (ingress_.observer != nullptr) [[unlikely]]
        ingress_.observer->on_packet(packet.arrival, packet, link::Direction::In);
    on_packet(packet, now, next);
    channel.pop();
    return next;
}

[[gnu::noinline]] SimTime FlowNic::deliver_after_faults(SimTime now) {
    Packet packet;
    if (take_with_faults(packet, now)) on_packet(packet, now, now);
    return next_arrival();
}

/// `next`: when the next packet will have arrived, or before.
HOT_INLINE void FlowNic::on_packet(Packet& packet, SimTime now, SimTime next) {
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
    if (packet.opcode == wire::kAckOpcode) return on_ack(packet, now);
    if (packet.opcode == wire::kCnpOpcode) return on_cnp(packet, now);
    on_data(packet, now, next);
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
HOT_INLINE void FlowNic::on_transmit(SimTime now) {
    const uint32_t sendable = backlog() & ~uint32_t{egress_.blocked};
    auto priority = static_cast<uint32_t>(std::bit_width(sendable) - 1);
    if (credits_on_) [[unlikely]] {
        const auto vl = choose_vl(sendable);
        if (!vl) return;
        priority = *vl;
    }
    if ((control_mask_ >> priority) & 1) {
        auto& ring = *acks_[priority];
        const Packet& packet = ring.front();
        emit(packet, egress_.bytes_of(packet), now);
        ring.pop();
        if (ring.empty()) control_mask_ &= ~(1U << priority);
        return;
    }
    ReadyList& list = ready_[priority];
    const uint32_t slot = list.head;
    list.head = senders_[slot].link;
    if (list.head == kNone) ready_mask_ &= ~(1U << priority);
    senders_[slot].queued = false;
    send_data(slot, now);
}

HOT_INLINE void FlowNic::emit(const Packet& packet, uint32_t bytes, SimTime now) {
    ++counters_.tx_packets;
    counters_.tx_bytes += bytes;
    if (credits_on_) [[unlikely]]
        flow_control_.sent(class_of(packet), bytes);
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
    size_t sum = sizeof *this + flow_control_.memory() + bytes(senders_) + bytes(receivers_) + bytes(slot_of_) +
                 bytes(paced_) + bytes(timers_) + bytes(late_cnps_) + bytes(cc_states_) + bytes(path_facts_) +
                 bytes(free_) + bytes(beyond_) + bytes(sacked_);
    for (const auto& bits : beyond_) sum += bytes(bits);
    for (const auto& bits : sacked_) sum += bytes(bits);
    for (const auto& ring : acks_)
        if (ring) sum += sizeof *ring + ring->capacity() * sizeof(Packet);
    return sum;
}

}  // namespace simverbs::flow
