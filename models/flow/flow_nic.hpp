// The NIC of a host whose traffic is flows: RC WRITEs without rings, completions or payload (models/flow).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/cc/congestion_control.hpp"
#include "models/flow/flow_table.hpp"
#include "models/link/flow_control_end.hpp"
#include "models/link/ports.hpp"
#include "models/link/service_map.hpp"
#include "models/link/vl_arbiter.hpp"
#include "models/pfc/pause_storm.hpp"
#include "models/pfc/pfc.hpp"
#include "models/wire/packet.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/link_ring.hpp"
#include "sim/node.hpp"

namespace simverbs::flow {

/// What a requester does about packets that did not arrive.
enum class LossRecovery : uint8_t {
    GoBackN,          ///< from the lost packet on, everything again
    SelectiveRepeat,  ///< only what is missing (Mittal et al., IRN, SIGCOMM 2018)
};

/// Knows the way from one host to another: what its congestion control starts from.
class Paths {
  public:
    virtual ~Paths() = default;
    [[nodiscard]] virtual cc::PathFacts facts(HostIndex src, HostIndex dst) const = 0;
};

struct FlowNicConfig {
    std::string path;  ///< of the component, "h0"
    HostIndex host = 0;
    uint32_t payload_bytes = 4096;  ///< of a full packet: the path MTU
    uint32_t ack_every = 1;         ///< packets; the last of a flow asks for one always
    uint8_t ack_priority = 0xFF;    ///< 0xFF: the flow's own
    uint8_t cnp_priority = 6;
    sim::SimTime retransmission_timeout = sim::SimTime::ms(4);
    uint8_t retry_cnt = 7;  ///< timeouts in a row without progress
    LossRecovery recovery = LossRecovery::GoBackN;
    /// Payload in flight of a flow, beside what congestion control allows.
    int64_t window_bytes = cc::Control::kNoWindow;
    bool window_of_bdp = false;                         ///< the same: line rate times base RTT
    bool measures_rtt = false;                          ///< of a packet of each flow at a time, for rtt_of()
    const cc::CongestionControl* cc = nullptr;          ///< required
    const Paths* paths = nullptr;                       ///< required
    sim::ByteCount vl_buffer = 0;                       ///< InfiniBand: of each VL
    std::optional<link::VlArbitration> vl_arbitration;  ///< InfiniBand; else the highest priority goes first
    link::ServiceMap classes = link::kOwnClasses;       ///< priority (InfiniBand: VL) of each service
    link::ServiceMap peer_classes = link::kOwnClasses;  ///< InfiniBand: the neighbour's SL2VL table
};

struct FlowNicCounters {
    uint64_t tx_packets = 0, tx_bytes = 0;  ///< byte times on the wire
    uint64_t rx_packets = 0, rx_bytes = 0;
    uint64_t data_received = 0;  ///< payload bytes in order
    uint64_t cnps_sent = 0, cnps_handled = 0;
    uint64_t naks_sent = 0, timeouts = 0, retransmitted = 0, out_of_sequence = 0;
    uint64_t corrupt = 0;      ///< dropped: ICRC
    uint64_t pauses_sent = 0;  ///< only a fault makes a NIC pause its switch
};

/// One host with one port. Requesters take turns packet by packet; acknowledgements and CNPs go first. A packet counts
/// as received when its tail is in.
class alignas(64) FlowNic final : public sim::Node {
  public:
    FlowNic(FlowNicConfig config, FlowTable& flows, wire::PacketPool* pool);
    ~FlowNic() override;

    void attach_port(const link::PortWiring& wiring);
    /// Taps the port (nullptr: no more).
    void set_observer(link::PacketObserver* observer) noexcept {
        ingress_.observer = observer;
        egress_.observer = observer;
    }
    /// A fault: this NIC pauses its switch, whatever it receives. After attach_port, before begin().
    void add_pause_storm(const pfc::PauseStorm& storm);
    /// Pauses that faults have made it send for `priority`.
    [[nodiscard]] uint64_t storm_frames(uint32_t priority) const noexcept;
    /// After the engine knows the node: asks to run when the first flow starts.
    void begin();

    void run_window(sim::SimTime end) override;
    void prefetch() const override;
    [[nodiscard]] sim::SimTime next_event_time() const override;

    [[nodiscard]] const FlowNicCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] const FlowNicConfig& config() const noexcept { return config_; }
    /// Flows of this host that have begun and not ended.
    [[nodiscard]] uint32_t active() const noexcept { return static_cast<uint32_t>(senders_.size() - free_.size()); }
    /// Flows of this host that have ended, in success or not.
    [[nodiscard]] uint64_t ended() const noexcept { return ended_; }
    /// Grows whenever payload arrives in order, or a flow ends.
    [[nodiscard]] uint64_t progress() const noexcept { return progress_; }
    /// What it has obeyed: pauses, waits for credits.
    [[nodiscard]] const link::FlowControlEnd& flow_control() const noexcept { return flow_control_; }
    /// Time in which sending was paused (InfiniBand: had no credits) up to the engine's frontier, summed over
    /// priorities.
    [[nodiscard]] sim::SimTime paused_time() const noexcept;
    [[nodiscard]] uint32_t stopped_priorities() const noexcept { return egress_.blocked & backlog(); }
    /// Rate that congestion control gives a flow now; zero if it is not under way.
    [[nodiscard]] sim::BitRate rate_of(FlowIndex flow) const;
    /// The round trip time of a flow that was measured last: from a packet's first bit out to its acknowledgement, of
    /// packets that were sent once; zero if none, if it is not measured, or if the flow is not under way.
    [[nodiscard]] sim::SimTime rtt_of(FlowIndex flow) const;
    /// When the next flow of this host begins by itself, max() if none.
    [[nodiscard]] sim::SimTime next_start() const noexcept { return next_start_time_; }
    /// Payload that has arrived here of the whole packets before the first that is missing.
    [[nodiscard]] sim::ByteCount bytes_received(FlowIndex flow) const;
    /// One line for each flow under way (at most `most`): what it waits for.
    void describe(std::string& out, size_t most) const;
    /// Bytes that this NIC takes, rings included.
    [[nodiscard]] size_t memory() const noexcept;

  private:
    static constexpr uint32_t kNone = 0xFFFFFFFF;
    static constexpr uint8_t kHops = 64;  ///< TTL of what is sent
    static constexpr uint32_t kPriorities = 16;

    /// A requester at work. Packets are numbered from 0; PSNs are their low 24 bits.
    struct alignas(64) Sender {
        uint32_t next = 0;     ///< to be sent
        uint32_t una = 0;      ///< first that is not acknowledged
        uint32_t packets = 0;  ///< of the flow
        uint32_t highest = 0;  ///< first that was never sent
        FlowIndex flow = 0;
        wire::LeafId dest = 0;
        uint32_t dest_qp = 0;
        uint32_t link = kNone;  ///< next in the ready list
        sim::SimTime next_time;
        uint16_t flow_hash = 0;
        uint16_t last_payload = 0;  ///< bytes in the last packet
        uint8_t service = 0;        ///< Packet::priority
        uint8_t priority = 0;       ///< that it has here
        uint8_t retries = 0;
        bool queued = false;     ///< in a ready list, or paced
        bool timer_set = false;  ///< in the heap of retransmission timers
        bool in_use = false;
        uint32_t paced_bytes = 0;  ///< of the last packet, on the wire

        cc::Control control;
        sim::SimTime deadline;                          ///< of the retransmission timer
        int64_t window_bytes = cc::Control::kNoWindow;  ///< FlowNicConfig's
        sim::SimTime
            paced_from;  ///< next_time is this and the time of the last packet at the rate of congestion control
        uint32_t generation = 0;
        uint32_t recovery_to = 0;  ///< selective repeat: what is missing before this is lost …
        uint32_t resend_from = 0;  ///< … and what lies before this has been sent again
    };
    static_assert(sizeof(Sender) == 128);
    struct Receiver {
        uint32_t expected = 0;
        uint32_t packets = 0;
        HostIndex src = 0;
        uint32_t src_qp = 0;
        sim::SimTime last_cnp = sim::SimTime::max();  ///< max(): never
        uint16_t flow_hash = 0;
        uint8_t service = 0;
        bool nak_sent = false;
        bool cnp_due = false;  ///< in the heap of late CNPs
    };
    struct TimerEntry {
        sim::SimTime time;
        uint32_t slot = 0;
        uint32_t generation = 0;
        [[nodiscard]] bool operator<(const TimerEntry& o) const noexcept {  // std heaps put the largest first
            return o.time != time ? o.time < time : o.slot < slot;
        }
    };
    struct ReadyList {
        uint32_t head = kNone, tail = kNone;
    };
    enum class What : uint8_t { Control, Deliver, Timer, Transmit };

    // flow_nic.cpp
    [[nodiscard]] sim::SimTime next_arrival() const noexcept;
    [[nodiscard]] sim::SimTime tail_of(sim::SimTime header, const wire::Packet& packet) const noexcept {
        return header == sim::SimTime::max() ? header : header + ingress_.byte_time.of(ingress_.bytes_of(packet));
    }
    void find_next_timer() noexcept;
    void note_timer(sim::SimTime t) noexcept { timer_ = std::min(timer_, t); }
    [[nodiscard]] sim::SimTime next_transmit() const noexcept;
    [[nodiscard]] uint32_t backlog() const noexcept { return ready_mask_ | control_mask_; }
    /// The priority (InfiniBand: VL) by which this NIC sends a packet.
    [[nodiscard]] uint32_t class_of(const wire::Packet& packet) const noexcept {
        return config_.classes[packet.priority];
    }
    sim::SimTime on_deliver(sim::SimTime now);
    sim::SimTime deliver_after_faults(sim::SimTime now);
    void on_packet(wire::Packet& packet, sim::SimTime now, sim::SimTime next);
    [[nodiscard]] bool take_with_faults(wire::Packet& packet, sim::SimTime now);
    void on_timer(sim::SimTime now);
    void on_transmit(sim::SimTime now);
    void emit(const wire::Packet& packet, uint32_t bytes, sim::SimTime now);
    // flow_nic_control.cpp
    void find_next_control();
    void run_control();
    void send_storm_frames(sim::SimTime now);
    [[nodiscard]] std::optional<uint32_t> choose_vl(uint32_t sendable);
    [[nodiscard]] uint32_t next_bytes(uint32_t priority) const;
    void give_credits(const wire::Packet& packet, uint32_t bytes, sim::SimTime now);
    // flow_requester.cpp
    void start_flow(FlowIndex flow, sim::SimTime now);
    void start_due_flows(sim::SimTime now);
    void release_dependents(FlowIndex flow, sim::SimTime now);
    void make_ready(uint32_t slot, sim::SimTime now);
    void push_ready(uint32_t slot);
    [[nodiscard]] bool may_send(const Sender& s) const noexcept;
    /// Packets of a flow: one at least.
    [[nodiscard]] uint32_t packets_of(const FlowSpec& flow) const noexcept;
    [[nodiscard]] uint32_t payload_of(const Sender& s, uint32_t packet) const noexcept {
        return packet + 1 == s.packets ? s.last_payload : config_.payload_bytes;
    }
    void send_data(uint32_t slot, sim::SimTime now);
    void build_data(Sender& s, uint32_t number, sim::SimTime now, wire::Packet& packet);
    uint32_t next_packet(Sender& s) const {
        return config_.recovery == LossRecovery::GoBackN || s.next >= s.highest ? s.next : next_missing(s);
    }
    uint32_t next_missing(Sender& s) const;
    [[nodiscard]] bool sacked(const Sender& s, uint32_t number) const;
    void pace(Sender& s, uint32_t wire_bytes, sim::SimTime now);
    void on_paced(uint32_t slot, sim::SimTime now);
    void on_ack(wire::Packet& packet, sim::SimTime now);
    void on_cnp(const wire::Packet& packet, sim::SimTime now);
    void acknowledge(Sender& s, uint32_t upto);
    void on_nak(Sender& s, uint32_t slot, const wire::Packet& nak);
    void set_deadline(uint32_t slot, sim::SimTime now);
    void on_retransmission_timers(sim::SimTime now);
    void on_timeout(uint32_t slot, sim::SimTime now);
    void finish(uint32_t slot, FlowStatus status, sim::SimTime now);
    void update_by_time(Sender& s, uint32_t slot, sim::SimTime now);
    [[nodiscard]] void* cc_state(uint32_t slot) noexcept { return cc_states_.data() + size_t{slot} * cc_words_; }
    // flow_responder.cpp
    void on_data(wire::Packet& packet, sim::SimTime now, sim::SimTime next);
    void on_out_of_order(Receiver& r, uint32_t qp, wire::Packet& packet, int32_t ahead, sim::SimTime now);
    void accept_in_order(Receiver& r, uint32_t qp, const wire::Packet& packet, sim::SimTime now);
    [[nodiscard]] wire::Packet make_ack(const Receiver& r, wire::Packet& data, uint8_t syndrome, uint32_t psn);
    void send_ack(Receiver& r, wire::Packet& data, uint8_t syndrome, uint32_t psn);
    [[nodiscard]] bool leaves_at_once(uint32_t priority, sim::SimTime now, sim::SimTime next) const noexcept;
    void on_mark(uint32_t qp, sim::SimTime now);
    void send_late_cnps(sim::SimTime now);
    void send_cnp(Receiver& r, sim::SimTime now);
    void push_control(const wire::Packet& packet);

    // The first lines serve every packet, what follows them many.
    sim::SimTime now_;
    sim::SimTime timer_ = sim::SimTime::max();  ///< earliest of all timers
    link::IngressPort ingress_;
    link::EgressPort egress_;
    uint32_t ready_mask_ = 0;    ///< priorities with a ready requester
    uint32_t control_mask_ = 0;  ///< priorities with an acknowledgement or a CNP to send
    bool cc_listens_ = false;    ///< the algorithm is more than none
    bool credits_on_ = false;
    cc::Needs needs_;
    sim::SimTime next_control_ = sim::SimTime::max();
    sim::SimTime woken_for_;
    uint64_t progress_ = 0;
    FlowNicCounters counters_;
    std::vector<Sender> senders_;
    std::vector<Receiver> receivers_;
    std::vector<uint32_t> slot_of_;  ///< by source number: its place in senders_
    wire::PacketPool* pool_;
    link::FlowControlEnd flow_control_;
    FlowNicConfig config_;
    ReadyList ready_[kPriorities];
    std::unique_ptr<sim::LinkRing<wire::Packet>> acks_[kPriorities];

    FlowTable& flows_;
    std::vector<TimerEntry> paced_;      ///< heap
    std::vector<TimerEntry> timers_;     ///< heap of retransmission timers
    std::vector<TimerEntry> late_cnps_;  ///< heap; slots are responders
    std::vector<uint64_t> cc_states_;
    size_t cc_words_ = 0;
    std::vector<cc::PathFacts> path_facts_;  ///< by slot
    std::vector<uint32_t> free_;
    size_t next_start_ = 0;  ///< in FlowTable::leaving
    sim::SimTime next_start_time_ = sim::SimTime::max();
    uint64_t ended_ = 0;
    // Link-level flow control.
    std::unique_ptr<link::VlArbiter> arbiter_;  ///< InfiniBand
    sim::BitRate rate_;
    std::vector<pfc::PauseStorm> storms_;
    // Selective repeat: bit i: packet i has arrived, though not all before it; by responder, by requester's slot.
    /// One packet of each requester is timed.
    struct TimedPacket {
        bool is_under_way = false;
        uint32_t number = 0;
        sim::SimTime sent;
        sim::SimTime rtt;  ///< of the last one
    };
    void time_packet(uint32_t slot, uint32_t number, sim::SimTime now);
    void note_rtt(uint32_t slot, uint32_t upto, sim::SimTime now);
    std::vector<TimedPacket> timed_;  ///< by slot; empty if not measured
    std::vector<std::vector<uint64_t>> beyond_;
    std::vector<std::vector<uint64_t>> sacked_;
    // Links with faults: packets whose tail is still coming in.
    std::unique_ptr<sim::LinkRing<wire::Packet>> tails_;
    sim::SimTime last_tail_;
};

}  // namespace simverbs::flow
