// A switch, Ethernet or InfiniBand: shared buffer, flow control, marking, scheduling.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/link/credits.hpp"
#include "models/link/ports.hpp"
#include "models/link/service_map.hpp"
#include "models/link/vl_arbiter.hpp"
#include "models/pfc/pause_storm.hpp"
#include "models/switch/forwarding_table.hpp"
#include "models/switch/packet_runs.hpp"
#include "models/switch/shared_buffer.hpp"
#include "models/switch/switch_config.hpp"
#include "models/wire/packet.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/chunk_fifo.hpp"
#include "sim/event_key.hpp"
#include "sim/event_list.hpp"
#include "sim/link_ring.hpp"
#include "sim/local_queue.hpp"
#include "sim/node.hpp"
#include "sim/rng.hpp"
#include "sim/stats/time_histogram.hpp"
#include "sim/units.hpp"

namespace simverbs::fabric {

/// Forwards packets by destination leaf. A queue holds the packets of one (port, priority) in the order of their
/// arrival keys. An egress chooses in phase Transmit among all that has arrived by then; a packet that finds its egress
/// idle, and that nothing could be chosen ahead of, leaves at once and takes no buffer. Within an instant, flow control
/// frames come before packets.
class alignas(64) Switch final : public sim::Node {
  public:
    static constexpr uint32_t kPriorities = 16;
    /// Queued packets carry the number of their ingress in so many bits of their time (which is zero unless delays are
    /// measured: packets that came in at different times are then of one run).
    static constexpr uint32_t kIngressBits = 10;

    /// `pool`: where dropped packets' extra records go; nullptr if packets have none.
    Switch(const SwitchConfig& config, wire::PacketPool* pool);
    ~Switch() override;

    /// Wires port `port`; between windows.
    void attach_port(PortIndex port, const link::PortWiring& wiring);
    /// Taps a wired port (nullptr: no more).
    void set_observer(PortIndex port, link::PacketObserver* observer);
    /// Who hears of packets that are dropped (not owned).
    void observe_discards(link::FateObserver& observer) noexcept { discards_ = &observer; }
    /// Marking thresholds and share of the buffer of one port, where they depend on its speed.
    void set_red(PortIndex port, const ecn::RedParams& red);
    void set_alpha(PortIndex port, double alpha) { buffer_.set_alpha(port, alpha); }
    /// InfiniBand: the SL2VL table of the peer of `port`, which says on which VL its packets come.
    void set_peer_classes(PortIndex port, const link::ServiceMap& classes) { extras_[port].peer_classes = classes; }
    /// A fault: `port` pauses its peer, whatever the buffer says. After attach_port, before the start.
    void add_pause_storm(PortIndex port, const pfc::PauseStorm& storm);
    /// Pauses that faults have made `port` send for `priority`.
    [[nodiscard]] uint64_t storm_frames(PortIndex port, uint32_t priority) const noexcept;
    [[nodiscard]] ForwardingTable& table() noexcept { return table_; }
    /// Packets for a group (wire::is_group) leave by these ports, but not by the one that they came by. Between
    /// windows.
    void set_group_ports(wire::LeafId group, std::vector<PortIndex> ports) { group_ports_[group] = std::move(ports); }
    [[nodiscard]] const SwitchConfig& config() const noexcept { return config_; }

    void run_window(sim::SimTime end) override;
    void prefetch() const override;
    [[nodiscard]] sim::SimTime next_event_time() const override;

    [[nodiscard]] PortCounters counters(PortIndex port) const;
    /// Frame bytes waiting in a queue, and in all of them.
    [[nodiscard]] sim::ByteCount queue_bytes(PortIndex port, uint32_t priority) const;
    [[nodiscard]] sim::ByteCount buffered_bytes() const noexcept { return buffered_; }
    [[nodiscard]] const SharedBuffer& buffer() const noexcept { return buffer_; }
    /// How long the packets that have left by (port, priority) waited for it; nullptr if that is not measured.
    [[nodiscard]] const sim::TimeHistogram* delays(PortIndex port, uint32_t priority) const noexcept {
        return delays_.empty() ? nullptr : &delays_[port * kPriorities + priority];
    }
    /// Bytes in the headroom of (ingress port, priority) now, and the most that it has wanted.
    [[nodiscard]] sim::ByteCount headroom_bytes(PortIndex port, uint32_t priority) const noexcept;
    [[nodiscard]] sim::ByteCount max_headroom_bytes(PortIndex port, uint32_t priority) const noexcept;
    /// Packets inside the switch now.
    [[nodiscard]] uint64_t packets_inside() const noexcept { return queued_ + storing_; }
    /// Priorities of an egress that have packets and are paused or out of credits.
    [[nodiscard]] uint32_t stopped_priorities(PortIndex port) const noexcept {
        return uint32_t{ports_[port].egress.backlog} & ports_[port].egress.blocked;
    }
    /// Does a queue hold packets that came in by port `in` in class `in_priority` (InfiniBand: on that VL)?
    [[nodiscard]] bool holds_from(PortIndex port, uint32_t priority, PortIndex in, uint32_t in_priority) const;
    /// Bytes that the switch takes.
    [[nodiscard]] size_t memory() const noexcept;
    /// Priorities for which this switch keeps the peer of `port` paused.
    [[nodiscard]] uint32_t pausing(PortIndex port) const noexcept;

  private:
    struct alignas(64) Queue {
        sim::ChunkFifo packets;                    ///< their runs
        PacketRuns::Run last = PacketRuns::kNone;  ///< of the last of them
        sim::ByteCount bytes = 0;
        sim::ByteCount max_bytes = 0;
        /// At most so many bytes: no packet is marked. The port's kmin, or max() where the priority is not marked.
        sim::ByteCount mark_above = std::numeric_limits<sim::ByteCount>::max();
    };
    /// The first line serves what comes in, the second what goes out.
    struct alignas(64) Port {
        link::IngressPort ingress;
        uint64_t rx_packets = 0;
        uint64_t rx_bytes = 0;

        link::EgressPort egress;
        uint64_t tx_packets = 0;
        uint64_t tx_bytes = 0;
    };
    /// A packet whose tail is still coming in.
    struct alignas(64) Stored {
        wire::Packet packet;
        sim::SimTime at = sim::SimTime::max();
        PortIndex out = kNoPort;  ///< kNoPort: those of its group
    };
    /// Of one priority of a port; it gets it with its first pause (InfiniBand: its first wait for credits).
    struct PauseTimes {
        sim::SimTime paused_until;
        sim::SimTime renew_at;
        sim::SimTime paused_since;  ///< InfiniBand: without credits
        uint8_t priority = 0;
        uint8_t timers_set = 0;  ///< bit k: a ControlTimerKind k is pending
    };
    /// Deficit round robin.
    struct RoundRobin {
        uint8_t turn = 0;  ///< whose turn it is
        std::array<int64_t, kPriorities> deficit{};
    };
    /// What few ports ever count.
    struct Losses {
        uint64_t full = 0, ttl = 0, no_route = 0, headroom = 0, watchdog = 0;
        uint64_t trimmed = 0;
        uint64_t watchdog_events = 0;
    };
    /// What is seldom touched.
    struct PortExtras {
        link::ControlPort control;
        sim::BitRate rate;
        std::unique_ptr<ecn::RedParams> red;  ///< if they are not the switch's
        sim::ComponentId id = 0;
        uint64_t ecn_ordinal = 0;
        std::unique_ptr<Losses> losses;  ///< if there have been any
        uint64_t marked = 0;
        uint64_t pauses_sent = 0, pauses_received = 0;
        uint16_t pausing = 0;   ///< PFC: priorities that the peer has been asked to pause
        uint16_t draining = 0;  ///< PFC watchdog: priorities whose packets are dropped
        sim::SimTime paused_time;
        std::vector<PauseTimes> pauses;  ///< by first pause
        std::unique_ptr<RoundRobin> round_robin;
        std::unique_ptr<link::Credits> credits;  ///< InfiniBand
        link::ServiceMap peer_classes = link::kOwnClasses;
    };
    enum class ControlTimerKind : uint8_t { PauseExpiry, PauseRenewal, Watchdog, Storm };
    struct ControlTimer {
        PortIndex port;
        uint8_t priority;
        ControlTimerKind kind;
    };
    static constexpr uint8_t kUnused = 0xFF;
    /// Ports from this one on share a lane.
    static constexpr PortIndex kLastLane = 63;
    /// Calls f(port) for the ports of these lanes.
    template <class F>
    void for_each_port(uint64_t lanes, F f) const {
        for (uint64_t rest = lanes & ~(uint64_t{1} << kLastLane); rest != 0; rest &= rest - 1)
            f(static_cast<PortIndex>(std::countr_zero(rest)));
        if ((lanes >> kLastLane) != 0) [[unlikely]]
            for (PortIndex i = kLastLane; i < port_count_; ++i) f(i);
    }
    [[nodiscard]] static uint64_t lane_bit(PortIndex port) noexcept {
        return uint64_t{1} << (port < kLastLane ? port : kLastLane);
    }

    void fill_queue(sim::LocalQueue& queue);
    void on_deliver(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    void deliver_carefully(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    [[nodiscard]] PortIndex receive(wire::Packet& packet, uint32_t bytes, PortIndex port, sim::SimTime now);
    void refuse(wire::Packet& packet, uint32_t bytes, PortIndex port, bool routed, sim::SimTime now);
    void store(const wire::Packet& packet, uint32_t bytes, PortIndex port, PortIndex out, sim::SimTime now);
    void on_stored(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    void on_transmit(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    [[nodiscard]] PortIndex route(const wire::Packet& packet, const Port& in, sim::SimTime now);
    [[nodiscard]] PortIndex balance(const wire::Packet& packet, const Port& in, sim::SimTime now);
    /// Must the whole packet be here before its transmission at `out` may start?
    [[nodiscard]] bool must_store(const Port& in, const Port& out) const noexcept;
    void forward(wire::Packet& packet, uint32_t bytes, PortIndex in, PortIndex out, sim::SimTime now,
                 sim::LocalQueue& queue);
    [[nodiscard]] bool may_leave_at_once(const Port& port, const wire::Packet& packet, sim::SimTime now,
                                         const sim::LocalQueue& queue) const noexcept;
    [[nodiscard]] bool admit(wire::Packet& packet, sim::ByteCount frame, PortIndex in, PortIndex out, sim::SimTime now,
                             sim::LocalQueue& queue);
    [[nodiscard]] bool has_lossy_room(PortIndex out, uint32_t priority, sim::ByteCount frame) const noexcept;
    void enqueue(PortIndex port, const wire::Packet& packet, sim::ByteCount frame, PortIndex in, sim::SimTime now);
    void send(PortIndex index, const wire::Packet& packet, uint32_t bytes, sim::SimTime now);
    void mark_if_congested(PortIndex index, wire::Packet& packet, sim::ByteCount queued);
    void set_marking(PortIndex port);
    void write_telemetry(PortIndex index, const wire::Packet& packet, sim::SimTime now);
    [[nodiscard]] uint32_t choose_priority(PortIndex index);
    [[nodiscard]] uint32_t choose_by_vl_arbitration(PortIndex index, uint32_t sendable);
    [[nodiscard]] uint32_t choose_by_round_robin(PortIndex index, uint32_t sendable);
    [[nodiscard]] Losses& losses(PortIndex port) {
        std::unique_ptr<Losses>& found = extras_[port].losses;
        if (!found) found = std::make_unique<Losses>();
        return *found;
    }
    [[nodiscard]] const ecn::RedParams& red(PortIndex port) const noexcept {
        return extras_[port].red ? *extras_[port].red : config_.ecn.red;
    }
    void drop(wire::Packet& packet, uint64_t& counter, const char* why, sim::SimTime now);
    // Packets for groups. They are what has no route: others pass without a look at all this.
    bool take_for_group(const wire::Packet& packet, uint32_t bytes, PortIndex port, sim::SimTime now);
    void replicate(wire::Packet& packet, uint32_t bytes, PortIndex in, sim::SimTime now, sim::LocalQueue& queue);
    [[nodiscard]] sim::SimTime ingress_event(PortIndex port) const noexcept;
    /// Is the tail of a packet still coming in by `port`?
    [[nodiscard]] bool is_storing(PortIndex port) const noexcept {
        return storing_ != 0 && stored_[port].at != sim::SimTime::max();
    }
    void schedule_ingress(PortIndex port, sim::SimTime now, sim::LocalQueue& queue);
    void schedule_transmit(PortIndex port, sim::SimTime at, sim::LocalQueue& queue);

    // Flow control (switch_flow_control.cpp).
    void run_control(sim::LocalQueue& queue);
    void find_next_control();
    void on_control_frame(PortIndex index, const link::FlowControlFrame& frame, sim::LocalQueue& queue);
    void on_pause(PortIndex index, const link::FlowControlFrame& frame, sim::LocalQueue& queue);
    void on_control_timer(const ControlTimer& timer, sim::SimTime now, sim::LocalQueue& queue);
    void set_control_timer(const ControlTimer& timer, sim::SimTime at);
    /// Valid until another one is asked for.
    [[nodiscard]] PauseTimes& pauses(PortIndex port, uint32_t priority) {
        std::vector<PauseTimes>& all = extras_[port].pauses;
        for (PauseTimes& times : all)
            if (times.priority == priority) return times;
        return all.emplace_back(PauseTimes{.priority = static_cast<uint8_t>(priority)});
    }
    void on_storm_timer(const ControlTimer& timer, sim::SimTime now);
    void block(PortIndex index, uint32_t priority, sim::SimTime now);
    void unblock(PortIndex index, uint32_t priority, sim::SimTime now, sim::LocalQueue& queue);
    void begin_pause(PortIndex in, uint32_t priority, sim::SimTime now);
    void send_pause(PortIndex index, uint32_t priority, uint32_t quanta, sim::SimTime now);
    void send_control(PortIndex index, const link::FlowControlFrame& frame, sim::SimTime now);
    void drain_paused(PortIndex index, uint32_t priority, sim::SimTime now);
    void release_ingress(const wire::Packet& queued, sim::ByteCount frame, sim::SimTime now);
    /// The VL on which a packet came in.
    [[nodiscard]] uint32_t ingress_vl(PortIndex in, const wire::Packet& packet) const noexcept {
        return extras_[in].peer_classes[packet.priority];
    }
    [[nodiscard]] bool has_credits(PortIndex index, uint32_t vl, uint32_t bytes) const noexcept {
        return extras_[index].credits->may_send(vl, bytes);
    }
    void give_credits(PortIndex index, uint32_t vl, uint32_t bytes, sim::SimTime now);
    void give_back_credits_of_lost(PortIndex index, const wire::Packet& lost, sim::SimTime now);

    void check_conservation() const;
    /// The priority (InfiniBand: VL) by which this switch serves a packet.
    [[nodiscard]] uint32_t class_of(const wire::Packet& packet) const noexcept { return class_of_[packet.priority]; }
    /// The queue of a port and a priority in use.
    [[nodiscard]] Queue& queue_of(PortIndex port, uint32_t priority) noexcept {
        return queues_[port * priorities_in_use_ + dense_[priority]];
    }
    [[nodiscard]] const Queue* find_queue(PortIndex port, uint32_t priority) const noexcept;
    /// The first packet of a queue; there must be one.
    [[nodiscard]] const wire::Packet& front(const Queue& queue) const noexcept {
        return runs_.front(queue.packets.front());
    }
    void remove_front(Queue& queue) noexcept {
        const PacketRuns::Run run = queue.packets.front();
        queue.packets.pop(activity().chunks());
        runs_.next(run);
    }
    void start_to_use(uint32_t priority);
    [[nodiscard]] std::span<const Port> ports() const noexcept { return {ports_.get(), port_count_}; }
    /// Bytes of a packet that lie in a buffer: without what only separates frames on the wire.
    [[nodiscard]] sim::ByteCount frame_bytes(uint32_t wire_bytes) const noexcept { return wire_bytes - gap_bytes_; }
    [[nodiscard]] static PortIndex ingress_of(const wire::Packet& queued) noexcept {
        return static_cast<PortIndex>(queued.arrival.in_ps() & ((1 << kIngressBits) - 1));
    }
    [[nodiscard]] static sim::SimTime queued_since(const wire::Packet& queued) noexcept {
        return sim::SimTime::ps(queued.arrival.in_ps() >> kIngressBits);
    }

    // The first lines serve every packet.
    std::unique_ptr<Port[]> ports_;
    std::unique_ptr<PortExtras[]> extras_;
    uint32_t port_count_;
    uint32_t gap_bytes_ = 0;
    sim::SimTime window_start_;
    sim::SimTime window_end_;
    sim::SimTime next_control_ = sim::SimTime::max();
    uint64_t active_ = 0;          ///< lanes of ports that may have something to do: the others are not looked at
    std::vector<Queue> queues_;    ///< by port, then dense priority
    PacketRuns runs_;              ///< what is in them
    std::vector<Stored> stored_;   ///< by port; empty if there has never been one
    uint32_t storing_ = 0;         ///< packets in stored_: only then is it looked at
    uint32_t leaves_at_once_ = 0;  ///< priorities ahead of which an egress never chooses another one
    uint32_t priorities_in_use_ = 0;
    bool counts_buffer_ = false;  ///< somebody asks who holds how much of the buffer
    bool has_control_ = false;    ///< some port has flow control
    bool credits_ = false;        ///< and it is InfiniBand's
    bool measures_delays_ = false;
    std::array<uint8_t, kPriorities> dense_;  ///< by priority: its place in queues_, or kUnused
    link::ServiceMap class_of_;               ///< by service: its priority
    sim::ByteCount buffered_ = 0;
    uint64_t received_ = 0;
    uint64_t sent_ = 0;
    uint64_t dropped_ = 0;
    uint64_t queued_ = 0;  ///< packets in the queues
    ForwardingTable table_;
    SharedBuffer buffer_;
    SwitchConfig config_;
    wire::PacketPool* pool_;
    sim::EventList<ControlTimer> control_timers_;
    struct StormAt {
        PortIndex port;
        pfc::PauseStorm storm;
    };
    std::vector<StormAt> storms_;
    std::vector<sim::TimeHistogram> delays_;  ///< by port, then priority; empty: not measured
    std::vector<link::VlArbiter> arbiters_;   ///< by port; empty: config_.scheduler decides
    struct FlowletEntry {
        sim::SimTime last;
        uint32_t salt = 0;
    };
    std::vector<FlowletEntry> flowlets_;
    std::unordered_map<wire::LeafId, std::vector<PortIndex>> group_ports_;
    link::FateObserver* discards_ = nullptr;
};

}  // namespace simverbs::fabric
