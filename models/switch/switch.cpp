#include "models/switch/switch.hpp"

#include <algorithm>
#include <bit>

#include "models/wire/opcode.hpp"
#include "sim/activity.hpp"
#include "sim/check.hpp"

namespace simverbs::fabric {

using sim::ByteCount;
using sim::EventPhase;
using sim::LocalQueue;
using sim::SimTime;
using wire::Packet;

// The helpers below run once a packet: without this, g++ -O2 calls each of them.
#define HOT_INLINE [[gnu::always_inline]] inline

Switch::Switch(const SwitchConfig& config, wire::PacketPool* pool)
    : ports_(new Port[config.ports]),
      extras_(new PortExtras[config.ports + 1]),  // the last one is that of copies
      port_count_(config.ports),
      runs_(8 * config.ports),
      counts_buffer_(config.buffer.total < BufferConfig::kUnlimited || config.buffer.lossless != 0),
      class_of_(config.classes),
      table_(sim::draw_u64(config.seed, sim::component_id(config.path), sim::DrawPurpose::Ecmp, 0)),
      buffer_(config.buffer, config.ports, config.priorities),
      config_(config),
      pool_(pool) {
    SIM_CHECK(2 * config.ports <= sim::kMaxLocalSources && config.ports < (1U << kIngressBits), config.ports);
    SIM_CHECK(buffer_.shared_total() >= 0, config.path, buffer_.shared_total());
    SIM_CHECK(config.buffer.lossless >> pfc::kPriorities == 0, config.path, config.buffer.lossless);
    dense_.fill(kUnused);
    set_hot_memory(ports_.get(), config.ports, sizeof(Port));
    if (config.balancing == LoadBalancing::Flowlet) flowlets_.resize(size_t{1} << 12);
    if (config.vl_arbitration) arbiters_.resize(port_count_);
    measures_delays_ = config.measures_delays;
    if (measures_delays_) delays_.resize(size_t{port_count_} * kPriorities);
    const auto highest = static_cast<uint32_t>(std::bit_width(config.priorities) - 1);
    if (std::has_single_bit(config.priorities) || ((config.scheduler.strict >> highest) & 1) != 0)
        leaves_at_once_ = 1U << highest;
}

Switch::~Switch() = default;

void Switch::attach_port(PortIndex port, const link::PortWiring& wiring) {
    SIM_CHECK(port < port_count_ && !ports_[port].ingress.wired(), port);
    // Frames keep their tags from port to port, so a packet takes as many bytes at the egress as at the ingress.
    for (const Port& p : ports())
        SIM_CHECK(
            !p.ingress.wired() || (p.ingress.layer == wiring.ingress.layer && p.ingress.vlan == wiring.ingress.vlan),
            config_.path, port);
    ports_[port].ingress = wiring.ingress;
    ports_[port].egress = wiring.egress;
    if (wiring.ingress.channel != nullptr) wiring.ingress.channel->set_lane(std::min(port, kLastLane));
    active_ |= lane_bit(port);
    PortExtras& extras = extras_[port];
    extras.control = wiring.control;
    extras.rate = wiring.params.rate;
    extras.id = wiring.id;
    const bool ethernet = wiring.params.layer == link::LinkLayer::Ethernet;
    gap_bytes_ = ethernet ? wire::kPreambleBytes + wire::kInterframeGapBytes : 0;
    if (!ethernet) extras.credits = std::make_unique<link::Credits>();
    if (wiring.control.out == nullptr) return;
    has_control_ = true;
    credits_ = !ethernet;
    if (credits_) *extras.credits = link::Credits(config_.vl_buffer);
}

void Switch::set_observer(PortIndex port, link::PacketObserver* observer) {
    ports_[port].ingress.observer = observer;
    ports_[port].egress.observer = observer;
}

void Switch::set_red(PortIndex port, const ecn::RedParams& red) {
    extras_[port].red = std::make_unique<ecn::RedParams>(red);
    set_marking(port);
}

void Switch::set_marking(PortIndex port) {
    for (uint32_t priority = 0; priority < kPriorities; ++priority)
        if (dense_[priority] != kUnused && ((config_.ecn.priorities >> priority) & 1) != 0)
            queue_of(port, priority).mark_above = red(port).kmin;
}

// Local sources: ingress i is i, egress i is ports + i.
void Switch::run_window(SimTime end) {
    window_start_ = activity().window_start();
    window_end_ = end;
    LocalQueue& queue = activity().local_queue();
    fill_queue(queue);
    if (has_control_) find_next_control();
    const auto ports = port_count_;
    for (;;) {
        const sim::LocalKey key = queue.top();
        const SimTime now = key == sim::kNoEvent ? window_end_ : window_start_ + sim::local_key_time(key);
        if (next_control_ <= now && next_control_ < window_end_) [[unlikely]] {
            run_control(queue);
            continue;
        }
        if (key == sim::kNoEvent) break;
        const uint32_t source = sim::local_key_source(key);
        if (source < ports)
            on_deliver(source, now, queue);
        else
            on_transmit(source - ports, now, queue);
    }
    check_conservation();
}

void Switch::prefetch() const {
    for_each_port(active_ | activity().lanes(id()), [&](PortIndex i) {
        const Port& p = ports_[i];
        __builtin_prefetch(p.ingress.channel);
        __builtin_prefetch(p.egress.channel, 1);
        for (uint32_t d = 0; d < priorities_in_use_; ++d) __builtin_prefetch(&queues_[i * priorities_in_use_ + d], 1);
    });
    buffer_.prefetch();
    runs_.prefetch();
    for (const auto* line = reinterpret_cast<const char*>(this); line < reinterpret_cast<const char*>(&config_);
         line += 64)
        __builtin_prefetch(line, 1);
}

/// Events of the ports that may have one.
void Switch::fill_queue(LocalQueue& queue) {
    const uint32_t ports = port_count_;
    active_ |= activity().take_lanes(id());
    for_each_port(active_, [&](PortIndex i) {
        if (ports_[i].ingress.wired()) ports_[i].ingress.channel->prefetch_head();
    });
    std::array<sim::LocalKey, sim::kMaxLocalSources> keys;
    uint32_t count = 0;
    for_each_port(active_, [&](PortIndex i) {
        const Port& p = ports_[i];
        if (!p.ingress.wired()) return;
        const SimTime t = ingress_event(i);
        if (t < window_end_) keys[count++] = sim::local_key(t - window_start_, EventPhase::Deliver, i);
        if (p.egress.backlog != 0) {
            if (p.egress.sendable() != 0 && p.egress.busy_until < window_end_) {
                keys[count++] = sim::local_key(p.egress.busy_until - window_start_, EventPhase::Transmit, ports + i);
                p.egress.channel->prefetch_tail();
                for (uint32_t d = 0; d < priorities_in_use_; ++d) {
                    const Queue& q = queues_[i * priorities_in_use_ + d];
                    runs_.prefetch(q.packets.front());
                    if (!q.packets.empty() && !q.packets.has_one()) q.packets.prefetch();
                }
            }
        } else if (t == SimTime::max() && p.ingress.faults == nullptr && i < kLastLane) {
            active_ &= ~lane_bit(i);
        }
    });
    // One by one each takes a way up the tree; together they take the whole tree once.
    queue.start_empty(2 * ports);
    const bool few = count * static_cast<uint32_t>(std::bit_width(ports)) < ports;
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t source = sim::local_key_source(keys[k]);
        few ? queue.update(source, keys[k]) : queue.set_leaf(source, keys[k]);
    }
    if (!few) queue.build();
}

HOT_INLINE SimTime Switch::ingress_event(PortIndex port) const noexcept {
    return is_storing(port) ? stored_[port].at : ports_[port].ingress.next_time();
}

HOT_INLINE void Switch::schedule_ingress(PortIndex port, SimTime now, LocalQueue& queue) {
    // Packets that a fault brings out while another one is still coming in wait for its tail.
    const SimTime t = std::max(ingress_event(port), now);
    if (t < window_end_) return queue.update(port, sim::local_key(t - window_start_, EventPhase::Deliver, port));
    queue.update(port, sim::kNoEvent);
    if (is_storing(port)) activity().wake(id(), t);
}

void Switch::schedule_transmit(PortIndex port, SimTime at, LocalQueue& queue) {
    const uint32_t source = port_count_ + port;
    if (at < window_end_) return queue.update(source, sim::local_key(at - window_start_, EventPhase::Transmit, source));
    queue.update(source, sim::kNoEvent);
    activity().wake(id(), at);
}

HOT_INLINE bool Switch::must_store(const Port& in, const Port& out) const noexcept {
    return config_.forwarding == Forwarding::StoreAndForward || out.egress.byte_time < in.ingress.byte_time;
}

HOT_INLINE PortIndex Switch::route(const Packet& packet, const Port& in, SimTime now) {
    if (config_.balancing == LoadBalancing::Ecmp) [[likely]]
        return table_.route(packet);
    return balance(packet, in, now);
}

HOT_INLINE void Switch::send(PortIndex index, const Packet& packet, uint32_t bytes, SimTime now) {
    Port& port = ports_[index];
    // An ACK only carries home what its data packet has collected.
    if (config_.telemetry && packet.extra != wire::kNoExtra && packet.payload_bytes != 0) [[unlikely]]
        write_telemetry(index, packet, now);
    if (credits_) [[unlikely]]
        extras_[index].credits->sent(class_of(packet), bytes);
    ++port.tx_packets;
    port.tx_bytes += bytes;
    ++sent_;
    port.egress.transmit(packet, bytes, now, 1);
    port.egress.channel->prefetch_tail();
}

void Switch::write_telemetry(PortIndex index, const Packet& packet, SimTime now) {
    // An acknowledgement brings back what its packet has collected.
    if (packet.opcode == wire::kAckOpcode) return;
    const Port& port = ports_[index];
    ByteCount queued = 0;
    for (uint32_t d = 0; d < priorities_in_use_; ++d) queued += queues_[index * priorities_in_use_ + d].bytes;
    pool_->int_stack(packet.extra)
        .push({now, port.tx_bytes, static_cast<uint32_t>(queued), wire::HopRate(extras_[index].rate)});
}

/// Sets Ce by RED on what is left in the queue (or, at enqueue, on what it finds), which is more than the queue's
/// mark_above.
[[gnu::noinline]] void Switch::mark_if_congested(PortIndex index, Packet& packet, ByteCount queued) {
    if ((packet.flags & wire::kEcnCapable) == 0 || (packet.flags & wire::kFecn) != 0) return;
    if (ports_[index].egress.bytes_of(packet) < config_.ecn.least_bytes) return;
    PortExtras& extras = extras_[index];
    const sim::Draws draws(config_.seed, extras.id, sim::DrawPurpose::Ecn);
    if (!ecn::decide_mark(red(index), queued, draws.u64(extras.ecn_ordinal++))) return;
    packet.flags |= wire::kFecn;
    ++extras.marked;
}

HOT_INLINE void Switch::enqueue(PortIndex port, const Packet& packet, ByteCount frame, PortIndex in, SimTime now) {
    const uint32_t priority = class_of(packet);
    Queue& queue = queue_of(port, priority);
    const SimTime since = measures_delays_ ? now : SimTime::zero();
    queue.last = runs_.add(packet, SimTime::ps((since.in_ps() << kIngressBits) | in), port * kPriorities + priority,
                           queue.packets.empty() ? PacketRuns::kNone : queue.last);
    queue.packets.push(queue.last, activity().chunks());
    queue.bytes += frame;
    queue.max_bytes = std::max(queue.max_bytes, queue.bytes);
    buffered_ += frame;
    ++queued_;
    active_ |= lane_bit(port);
    ports_[port].egress.backlog |= static_cast<uint16_t>(1U << priority);
}

/// An egress that is idle would choose this packet in phase Transmit: nothing waits that may be sent, and nothing that
/// may still arrive in this instant could be ahead of it. Packets of its own priority come later in the order of keys.
HOT_INLINE bool Switch::may_leave_at_once(const Port& port, const Packet& packet, SimTime now,
                                          const LocalQueue& queue) const noexcept {
    const link::EgressPort& out = port.egress;
    const uint32_t priority = class_of(packet);
    if (out.busy_until > now || out.sendable() != 0 || (((out.backlog | out.blocked) >> priority) & 1) != 0)
        return false;
    return ((leaves_at_once_ >> priority) & 1) != 0 || window_start_ + sim::local_key_time(queue.top()) > now;
}

HOT_INLINE void Switch::forward(Packet& packet, uint32_t bytes, PortIndex in, PortIndex out, SimTime now,
                                LocalQueue& queue) {
    Port& port = ports_[out];
    const uint32_t priority = class_of(packet);
    if (dense_[priority] == kUnused) [[unlikely]]
        start_to_use(priority);
    if (may_leave_at_once(port, packet, now, queue) && (!credits_ || has_credits(out, priority, bytes))) {
        if (credits_) [[unlikely]]
            give_credits(in, ingress_vl(in, packet), bytes, now);
        if (measures_delays_) [[unlikely]]
            delays_[out * kPriorities + priority].add(SimTime::zero());
        return send(out, packet, bytes, now);
    }
    const ByteCount frame = frame_bytes(bytes);
    if (!admit(packet, frame, in, out, now, queue)) return;
    const uint32_t sendable = port.egress.sendable();
    const bool first = ((port.egress.backlog >> priority) & 1) == 0;
    enqueue(out, packet, frame_bytes(port.egress.bytes_of(packet)), in, now);
    if (credits_ && first && !has_credits(out, priority, bytes)) [[unlikely]]
        return block(out, priority, now);
    if (sendable == 0 && port.egress.sendable() != 0)
        schedule_transmit(out, std::max(now, port.egress.busy_until), queue);
}

bool Switch::has_lossy_room(PortIndex out, uint32_t priority, ByteCount frame) const noexcept {
    const ByteCount queued = queues_[out * priorities_in_use_ + dense_[priority]].bytes;
    if (frame > config_.queue_bytes - queued) return false;
    if (config_.lossy_alpha <= 0) return true;
    const ByteCount free = buffer_.config().total - buffer_.used();
    return queued + frame <= static_cast<ByteCount>(static_cast<double>(free) * config_.lossy_alpha);
}

/// Accounts for a packet that must wait, and pauses its sender where needed. False: it was dropped.
HOT_INLINE bool Switch::admit(Packet& packet, ByteCount frame, PortIndex in, PortIndex out, SimTime now,
                              LocalQueue& queue) {
    const uint32_t priority = class_of(packet);
    if (config_.ecn.at_enqueue) [[unlikely]]
        if (const Queue& q = queue_of(out, priority); q.bytes > q.mark_above) mark_if_congested(out, packet, q.bytes);
    if (credits_) return true;  // the sender had credits for it
    if (!buffer_.lossless(priority) && !has_lossy_room(out, priority, frame)) [[unlikely]] {
        if (!config_.trimming || packet.payload_bytes == 0) {
            drop(packet, losses(out).full, "no room in the buffer or the queue", now);
            return false;
        }
        packet.payload_bytes = 0;
        packet.flags |= wire::kTrimmed;
        ++losses(out).trimmed;
        frame = frame_bytes(ports_[out].egress.bytes_of(packet));
    }
    if (!counts_buffer_) return true;
    if (config_.pfc.watchdog != SimTime::max() && ((extras_[out].draining >> priority) & 1) != 0) [[unlikely]] {
        drop(packet, losses(out).watchdog, "the PFC watchdog drains the queue", now);
        return false;
    }
    switch (buffer_.admit(in, dense_[priority], buffer_.cells(frame))) {
        case Admission::Accept:
            return true;
        case Admission::AcceptAndPause:
            begin_pause(in, priority, now);
            return true;
        case Admission::DropFull:
            drop(packet, losses(out).full, "no room in the buffer or the queue", now);
            return false;
        case Admission::DropHeadroom:
            drop(packet, losses(in).headroom, "no headroom left", now);
            return false;
        case Admission::DropHeadroomAndPause:
            begin_pause(in, priority, now);
            drop(packet, losses(in).headroom, "no headroom left", now);
            return false;
    }
    return true;
}

/// Counts a packet that has come in by `port` and finds its way; kNoPort if it has none, and is gone.
HOT_INLINE PortIndex Switch::receive(Packet& packet, uint32_t bytes, PortIndex port, SimTime now) {
    Port& in = ports_[port];
    ++in.rx_packets;
    in.rx_bytes += bytes;
    ++received_;
    if (credits_) [[unlikely]]
        extras_[port].credits->arrived(ingress_vl(port, packet), bytes);
    const PortIndex out = route(packet, in, now);
    const bool routed = out != kNoPort && ports_[out].egress.wired();
    if (routed && packet.ttl != 0) [[likely]]
        return out;
    refuse(packet, bytes, port, routed, now);
    return kNoPort;
}

[[gnu::cold]] void Switch::refuse(Packet& packet, uint32_t bytes, PortIndex port, bool routed, SimTime now) {
    if (!routed && wire::is_group(packet.dest) && packet.ttl != 0 && take_for_group(packet, bytes, port, now)) return;
    if (credits_) give_credits(port, ingress_vl(port, packet), bytes, now);
    if (routed)
        drop(packet, losses(port).ttl, "its hop limit is used up", now);
    else
        drop(packet, losses(port).no_route, "no route to its destination", now);
}

void Switch::store(const Packet& packet, uint32_t bytes, PortIndex port, PortIndex out, SimTime now) {
    if (stored_.empty()) stored_.resize(port_count_);
    stored_[port] = {packet, now + ports_[port].ingress.byte_time.of(bytes), out};
    ++storing_;
}

/// The packet is read where it lies: it is copied once, into the next link's ring or into a queue.
HOT_INLINE void Switch::on_deliver(PortIndex port, SimTime now, LocalQueue& queue) {
    Port& in = ports_[port];
    if (storing_ != 0 || in.ingress.faults != nullptr) [[unlikely]]
        return deliver_carefully(port, now, queue);
    link::PacketChannel& channel = *in.ingress.channel;
    Packet& packet = channel.front();
    if (in.ingress.observer != nullptr) [[unlikely]]
        in.ingress.observer->on_packet(now, packet, link::Direction::In);
    const uint32_t bytes = in.ingress.bytes_of(packet);
    const PortIndex out = receive(packet, bytes, port, now);
    if (out == kNoPort || must_store(in, ports_[out])) [[unlikely]] {
        if (out != kNoPort) store(packet, bytes, port, out, now);
        channel.pop();
        return schedule_ingress(port, now, queue);
    }
    channel.prefetch_third();
    const SimTime next = channel.second_time();
    queue.update(port,
                 next < window_end_ ? sim::local_key(next - window_start_, EventPhase::Deliver, port) : sim::kNoEvent);
    forward(packet, bytes, port, out, now, queue);
    channel.pop();
}

/// The same where packets may be waiting for their tails, or come out of faults.
[[gnu::noinline]] void Switch::deliver_carefully(PortIndex port, SimTime now, LocalQueue& queue) {
    Port& in = ports_[port];
    if (is_storing(port)) return on_stored(port, now, queue);
    Packet packet;
    if (!in.ingress.pop(packet, shard())) [[unlikely]] {
        if (credits_ && in.ingress.faults->last_was_lost()) give_back_credits_of_lost(port, packet, now);
        return schedule_ingress(port, now, queue);
    }
    const uint32_t bytes = in.ingress.bytes_of(packet);
    const PortIndex out = receive(packet, bytes, port, now);
    const bool whole_first = out != kNoPort && must_store(in, ports_[out]);
    if (whole_first) store(packet, bytes, port, out, now);
    schedule_ingress(port, now, queue);
    if (out != kNoPort && !whole_first) forward(packet, bytes, port, out, now, queue);
}

void Switch::on_stored(PortIndex port, SimTime now, LocalQueue& queue) {
    Stored& stored = stored_[port];
    Packet packet = stored.packet;
    stored.at = SimTime::max();
    --storing_;
    schedule_ingress(port, now, queue);
    const uint32_t bytes = ports_[port].ingress.bytes_of(packet);
    if (stored.out == kNoPort) [[unlikely]]
        return replicate(packet, bytes, port, now, queue);
    forward(packet, bytes, port, stored.out, now, queue);
}

/// False: the group has no ports here.
[[gnu::cold]] bool Switch::take_for_group(const Packet& packet, uint32_t bytes, PortIndex port, SimTime now) {
    const auto group = group_ports_.find(packet.dest);
    if (group == group_ports_.end()) return false;
    const auto leads_on = [&](PortIndex out) { return out != port && ports_[out].egress.wired(); };
    const auto stores = [&](PortIndex out) { return leads_on(out) && must_store(ports_[port], ports_[out]); };
    if (std::ranges::none_of(group->second, leads_on)) return false;
    if (std::ranges::any_of(group->second, stores)) {
        store(packet, bytes, port, kNoPort, now);
    } else {
        Packet whole = packet;
        replicate(whole, bytes, port, now, activity().local_queue());
    }
    return true;
}

/// A copy for each port, and the packet itself for the last one. The buffer has each of them; credits are given back
/// with the last one alone, since the link has carried one.
[[gnu::cold]] void Switch::replicate(Packet& packet, uint32_t bytes, PortIndex in, SimTime now, LocalQueue& queue) {
    PortIndex last = kNoPort;
    const PortIndex of_copies = credits_ ? port_count_ : in;
    if (credits_ && extras_[port_count_].credits == nullptr)
        extras_[port_count_].credits = std::make_unique<link::Credits>();
    for (const PortIndex out : group_ports_[packet.dest]) {
        if (out == in || !ports_[out].egress.wired()) continue;
        if (last != kNoPort) {
            Packet copy = pool_ != nullptr ? pool_->duplicate(shard(), packet) : packet;
            if (discards_ != nullptr) discards_->on_copied(packet, copy);
            ++received_;
            forward(copy, bytes, of_copies, last, now, queue);
        }
        last = out;
    }
    // Members may have left while the packet was coming in.
    if (last == kNoPort) {
        if (credits_) give_credits(in, ingress_vl(in, packet), bytes, now);
        return drop(packet, losses(in).no_route, "its group has no members any more", now);
    }
    forward(packet, bytes, in, last, now, queue);
}

HOT_INLINE uint32_t Switch::choose_priority(PortIndex index) {
    const uint32_t sendable = ports_[index].egress.sendable();
    if (const uint32_t strict = sendable & config_.scheduler.strict; strict != 0) [[likely]]
        return static_cast<uint32_t>(std::bit_width(strict) - 1);
    if (std::has_single_bit(sendable)) return static_cast<uint32_t>(std::countr_zero(sendable));
    if (!arbiters_.empty()) return choose_by_vl_arbitration(index, sendable);
    return choose_by_round_robin(index, sendable);
}

uint32_t Switch::choose_by_vl_arbitration(PortIndex index, uint32_t sendable) {
    const auto bytes_of = [&](uint32_t vl) { return ports_[index].egress.bytes_of(front(queue_of(index, vl))); };
    return arbiters_[index].choose(*config_.vl_arbitration, sendable, bytes_of);
}

uint32_t Switch::choose_by_round_robin(PortIndex index, uint32_t sendable) {
    auto& state = extras_[index].round_robin;
    if (!state) state = std::make_unique<RoundRobin>();
    RoundRobin& rr = *state;
    for (uint32_t p = rr.turn;;) {
        if ((sendable >> p) & 1) {
            const auto bytes = static_cast<int64_t>(ports_[index].egress.bytes_of(front(queue_of(index, p))));
            if (rr.deficit[p] >= bytes) {
                rr.deficit[p] -= bytes;
                rr.turn = static_cast<uint8_t>(p);
                return p;
            }
        } else {
            rr.deficit[p] = 0;
        }
        p = (p + 1) % kPriorities;
        if ((sendable >> p) & 1) rr.deficit[p] += std::max(config_.scheduler.quantum[p], 1U);
    }
}

HOT_INLINE void Switch::on_transmit(PortIndex index, SimTime now, LocalQueue& queue) {
    Port& port = ports_[index];
    if (port.egress.sendable() == 0) [[unlikely]]  // paused meanwhile
        return queue.update(port_count_ + index, sim::kNoEvent);
    if (port.egress.busy_until > now) [[unlikely]]  // a flow control frame went first
        return schedule_transmit(index, port.egress.busy_until, queue);
    const uint32_t priority = choose_priority(index);
    Queue& q = queue_of(index, priority);
    const Packet& packet = front(q);
    const uint32_t bytes = port.egress.bytes_of(packet);
    const ByteCount frame = frame_bytes(bytes);
    q.bytes -= frame;
    buffered_ -= frame;
    --queued_;
    SIM_CHECK(q.bytes >= 0 && buffered_ >= 0, q.bytes, buffered_);
    if (q.packets.has_one()) port.egress.backlog &= static_cast<uint16_t>(~(1U << priority));
    if (measures_delays_) [[unlikely]]
        delays_[index * kPriorities + priority].add(now - queued_since(packet));
    if (counts_buffer_ || credits_) release_ingress(packet, frame, now);
    const bool is_marked = PacketRuns::is_marked(q.packets.front());
    if (is_marked || (!config_.ecn.at_enqueue && q.bytes > q.mark_above)) {
        Packet copy = packet;
        if (is_marked) copy.flags |= wire::kFecn;
        if (!config_.ecn.at_enqueue && q.bytes > q.mark_above) mark_if_congested(index, copy, q.bytes);
        send(index, copy, bytes, now);
    } else {
        send(index, packet, bytes, now);
    }
    remove_front(q);
    runs_.prefetch(q.packets.front());
    if (credits_ && ((port.egress.backlog >> priority) & 1) != 0 &&
        !has_credits(index, priority, port.egress.bytes_of(front(q)))) [[unlikely]]
        block(index, priority, now);
    if (port.egress.sendable() != 0)
        schedule_transmit(index, port.egress.busy_until, queue);
    else
        queue.update(port_count_ + index, sim::kNoEvent);
}

void Switch::drop(Packet& packet, uint64_t& counter, const char* why, SimTime now) {
    ++counter;
    ++dropped_;
    if (discards_ != nullptr) discards_->on_discarded(now, packet, config_.path, why);
    if (pool_ != nullptr) pool_->release(shard(), packet);
}

void Switch::start_to_use(uint32_t priority) {
    SIM_CHECK((config_.priorities >> priority) & 1, config_.path, priority);
    std::vector<Queue> wider(size_t{port_count_} * (priorities_in_use_ + 1));
    for (size_t port = 0; port < port_count_; ++port)
        for (size_t d = 0; d < priorities_in_use_; ++d)
            wider[port * (priorities_in_use_ + 1) + d] = std::move(queues_[port * priorities_in_use_ + d]);
    queues_ = std::move(wider);
    dense_[priority] = static_cast<uint8_t>(priorities_in_use_++);
    buffer_.add_priority(priority);
    for (PortIndex port = 0; port < port_count_; ++port) set_marking(port);
}

SimTime Switch::next_event_time() const {
    SimTime next = control_timers_.next_time();
    for (PortIndex i = 0; i < port_count_; ++i) {
        const Port& p = ports_[i];
        if (!p.ingress.wired()) continue;
        next = std::min(next, ingress_event(i));
        if (p.egress.sendable() != 0) next = std::min(next, p.egress.busy_until);
        if (has_control_ && extras_[i].control.in != nullptr) next = std::min(next, extras_[i].control.in->head_time());
    }
    return next;
}

void Switch::check_conservation() const {
    SIM_CHECK(received_ == sent_ + dropped_ + queued_ + storing_, received_, sent_, dropped_, queued_, storing_);
}

}  // namespace simverbs::fabric
