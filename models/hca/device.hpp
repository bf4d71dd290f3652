// The implementation of an Hca. One class, one file per concern.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/hca/cq/cq.hpp"
#include "models/hca/hca.hpp"
#include "models/hca/mr/mr_table.hpp"
#include "models/hca/port.hpp"
#include "models/hca/qp/qp.hpp"
#include "models/hca/qp_observer.hpp"
#include "models/hca/transport/sorted_queue.hpp"
#include "models/host/host_port.hpp"
#include "models/host/payload_mover.hpp"
#include "models/wire/opcode_table.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/event_list.hpp"
#include "sim/stuck.hpp"
#include "sim/timer.hpp"

namespace simverbs::hca {

struct Pd {
    uint32_t owner = 0;
    uint32_t users = 0;
};
struct Ah {
    uint32_t owner = 0, pd = 0;
    Path path;
};
/// One opening of an XRC domain.
struct Xrcd {
    uint32_t owner = 0;
    uint32_t domain = 0;  ///< index of XrcDomain
    uint32_t users = 0;   ///< SRQs and QPs that were made through it
};
/// What all openings of one file share.
struct XrcDomain {
    XrcdFile file;  ///< zeros: private
    uint32_t openings = 0;
};
struct DeviceMemory {
    uint32_t owner = 0;
    uint32_t users = 0;  ///< MRs
    host::AddressSpaceId space = 0;
    uint64_t addr = 0, length = 0;
};

struct Steering {
    uint32_t owner = 0, qpn = 0;
    uint8_t port_index = 0;
    SteeringRule rule;
};

/// Entries that ibv_query_port promises; those beyond the configured ones are empty.
inline constexpr uint32_t kGidTableLength = 256;

/// What happened to an attempt to take the next packet of a QP.
enum class Pull : uint8_t { Nothing, Packet };

/// Work that waits inside the adapter for its time.
struct Delayed {
    enum class Kind : uint8_t { WqeReady, WqeFetch, Resume } kind = Kind::WqeReady;
    uint32_t qp_slot = 0, qpn = 0;
    uint32_t count = 0;  ///< WqeReady: messages known from now on (Requester::end); WqeFetch: that many after it
};
struct AtomicExecution {
    uint32_t qp_slot = 0, qpn = 0;
    uint32_t resource = 0;  ///< count in Qp::resources
    bool is_compare_swap = false;
    host::AddressSpaceId space = 0;
    uint64_t va = 0, swap_or_add = 0, compare = 0;
};

class Device final : public LidObserver {
  public:
    Device(Hca& node, const HcaConfig& config, HostSink* sink, host::PayloadMover* mover);
    ~Device() override;

    // ---- changes of the subnet: port_changes.cpp
    void on_lid_change(wire::LeafId leaf, uint16_t lid, uint32_t count) override;

    // ---- engine: device_window.cpp
    void run_window(sim::SimTime end);
    [[nodiscard]] sim::SimTime next_event_time() const;
    /// After a change from outside of a window: asks the engine for the next event.
    void wake();
    void on_delayed(const Delayed& what, sim::SimTime now);
    void on_timer(uint64_t tag, sim::SimTime now);
    void on_atomic(const AtomicExecution& e, sim::SimTime now);

    // ---- pipeline towards the wire: transport/tx_pipeline.cpp
    void make_requester_ready(Qp& qp, sim::SimTime now);
    void make_responder_ready(Qp& qp, sim::SimTime now);
    void pump(Port& port, sim::SimTime now);
    void enqueue(Port& port, TxEntry& entry, uint32_t dma_bytes, sim::SimTime now,
                 sim::SimTime dma_extra = sim::SimTime::zero());
    void enqueue_ack(Qp& qp, uint8_t syndrome, wire::Psn psn, sim::SimTime now);
    void transmit(Port& port, sim::SimTime now);
    // transport/flow_gate.cpp: the same where the link has flow control.
    /// The next packet that may be sent now, taken from its queue; false if there is none.
    bool take_permitted(Port& port, sim::SimTime now, TxEntry& entry, bool& is_ack);
    /// Whether a QP that is ready would only add to packets that may not be sent; it waits aside then.
    static bool park_if_blocked(Port& port, const Qp& qp, uint32_t entity);
    void on_flow_control(Port& port, sim::SimTime now);
    static void give_credits(Port& port, const wire::Packet& packet, sim::SimTime now);
    [[nodiscard]] static sim::SimTime next_transmit(const Port& port) noexcept;
    void on_read_completion(host::ReadTag tag, sim::SimTime now);
    void fetch_wqes(const Qp& qp, const Delayed& what, sim::SimTime now);
    /// UC, UD: a message has left the adapter.
    void on_unreliable_sent(Qp& qp, uint32_t message, sim::SimTime now);

    // ---- congestion control: rc/rc_congestion.cpp
    /// null: the QP has none.
    QpCongestion* congestion_of(Qp& qp);
    void update_rate(QpCongestion& c, sim::SimTime now);
    void on_cnp(Qp& qp, sim::SimTime now);
    /// A request came marked.
    void on_mark(Qp& qp, sim::SimTime now);
    void send_cnp(Qp& qp, sim::SimTime now);

    // ---- packets: transport/packet_building.cpp
    [[nodiscard]] wire::Packet packet_on(const Path& path, uint32_t dest_qpn, uint16_t pkey, uint8_t opcode,
                                         wire::Psn psn);
    [[nodiscard]] wire::Packet packet_for(const Qp& qp, const Path& path, uint8_t opcode, wire::Psn psn);
    [[nodiscard]] wire::Packet bare_packet(const Path& path, uint32_t dest_qpn, uint8_t opcode, wire::Psn psn) const;
    [[nodiscard]] bool needs_addresses(uint16_t pkey) const noexcept { return wire_detail || pkey != 0xFFFF; }
    /// The side record of a packet, made if it has none.
    wire::PacketExtra& extra_of(wire::Packet& packet, const Path& path, uint16_t pkey);
    void attach_payload(wire::Packet& packet, const Path& path, uint16_t pkey, wire::StreamId stream, uint64_t offset,
                        uint32_t length);

    // ---- packets that arrive: transport/rx_dispatch.cpp
    void on_packet(Port& port, wire::Packet& packet, sim::SimTime now);
    void on_multicast(Port& home, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);
    // ---- raw frames: raw/steering.cpp
    void on_raw_frame(Port& home, const wire::Packet& packet, sim::SimTime now);
    void receive_frame(Qp& qp, const wire::Packet& packet, sim::SimTime now);
    [[nodiscard]] bool is_steered_to(uint32_t qpn) const noexcept;
    [[nodiscard]] bool has_raw_packets() const noexcept {
        return profile.behaviour.has_raw_packets && config.ports.front().link_layer == LinkLayer::Ethernet;
    }
    // ---- QP 1: management.cpp
    bool send_mad(const AhAttr& to, const std::array<uint8_t, kMadBytes>& bytes, sim::SimTime now);
    void on_mad(Port& home, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);

    [[nodiscard]] Port& port_with_leaf(wire::LeafId leaf) noexcept;
    void deliver(Port& port, Qp& qp, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);

    // ---- memory: mr/resolve_sges.cpp
    struct LocalFault {
        Check check = Check::None;
        uint64_t va = 0, length = 0;
        uint32_t key = 0;
    };
    /// Checks a message's SGEs for `needed` rights; the ranges that passed are in `out`.
    LocalFault resolve_sges(uint32_t pd, std::span<const Sge> sges, uint64_t length, uint32_t needed,
                            std::vector<ResolvedSge>& out) const;
    /// Writes a packet's payload into `sges` from byte `at` on. Stops at the first fault.
    LocalFault scatter(uint32_t pd, std::span<const Sge> sges, uint64_t at, const wire::Packet& packet,
                       sim::SimTime visible_at);
    LocalFault scatter_bytes(uint32_t pd, std::span<const Sge> sges, std::span<const uint8_t> bytes,
                             sim::SimTime visible_at);
    // Where the next DMA goes, if the host's inside is simulated: to byte `va` of a region …
    [[gnu::cold, gnu::noinline]] void aim_at(const Mr* mr, uint64_t va) noexcept;
    /// … to byte `at` of a list of SGEs …
    [[gnu::cold, gnu::noinline]] void aim_at(std::span<const Sge> sges, uint64_t at) noexcept;
    /// … or from byte `at` of a message that is sent.
    [[gnu::cold, gnu::noinline]] void aim_at_source(const Qp& qp, uint32_t message, uint64_t at) noexcept;
    /// `is_response`: the WQE's SGEs are where the answer goes.
    [[nodiscard]] WcStatus local_status_of(Check check, bool is_response = false) const noexcept;
    /// The same where the WQE is a receive.
    [[nodiscard]] WcStatus receive_status_of(Check check) const noexcept;
    // mr/memory_window.cpp
    /// The region or window behind an R_Key, if this QP may serve it.
    [[nodiscard]] const Mr* remote_region(const Qp& qp, uint32_t rkey) const noexcept;
    bool bind_window(const Qp& qp, const SendWqe& w);
    /// Ends a bound type 2 window of this QP. False if the key is none.
    bool invalidate(const Qp& qp, uint32_t rkey);
    void unbind(Mr& window);
    /// BIND_MW, LOCAL_INV.
    LocalFault execute_local(Qp& qp, const Message& m, const SendWqe& w);
    /// `part`: of a message of which more is to come.
    void write_payload(const wire::PayloadRef& payload, uint64_t skip, uint64_t length, host::AddressSpaceId space,
                       uint64_t va, bool part, sim::SimTime visible_at);

    // ---- completions: cq/write_cqe.cpp
    void complete_send(Qp& qp, uint32_t message, WcStatus status, sim::SimTime now);
    void write_cqe(Qp& qp, Cq& cq, Cqe& cqe, sim::SimTime now);
    void on_cq_overrun(Qp& qp, Cq& cq, bool is_send, sim::SimTime now);
    void raise(EventType type, OwnerId owner, uint32_t object, sim::SimTime now);

    // ---- receive WQEs: srq/take_receive.cpp
    /// Takes the next receive WQE for the inbound message; false if there is none.
    bool take_receive(Qp& qp, sim::SimTime now);
    /// XRC: the SRQ that a request names becomes the QP's for the message. False if there is none.
    bool choose_xrc_srq(Qp& qp, const wire::Packet& packet);
    /// The SRQ is about to go: no XRC QP may hold a receive WQE of it.
    void forget_srq(const Srq& srq);
    void complete_receive(Qp& qp, Cqe& cqe, sim::SimTime now);
    [[nodiscard]] uint8_t credit_code(const Qp& qp, sim::SimTime now) const noexcept;

    // ---- trouble: qp/qp_error.cpp
    /// Completes `message` in error, flushes the rest and moves the QP: RC to ERR, UC and UD to SQE.
    void fail_send(Qp& qp, uint32_t message, WcStatus status, Incident incident, sim::SimTime now);
    /// The responder found a fault: the QP goes to ERR and its queues are flushed.
    /// `incident.status` is that of the receive WQE in use; Success if it is only flushed.
    void fail_receive(Qp& qp, Incident incident, std::optional<EventType> event, sim::SimTime now);
    /// `closing`: what the responder still owes its peer goes out.
    void enter_error(Qp& qp, bool closing, sim::SimTime now);
    void drop_responses(Qp& qp);
    void flush_sends(Qp& qp, sim::SimTime now);
    void flush_receives(Qp& qp, sim::SimTime now);
    [[nodiscard]] Incident incident_of(const Qp& qp, Check check, sim::SimTime now) const;
    [[nodiscard]] Incident incident_of(const Qp& qp, Check check, const wire::Packet& packet, sim::SimTime now) const;
    void report(const Incident& incident);

    // ---- requester work that all transports share: transport/message_start.cpp
    /// The WQE's local checks; opens its stream from byte `from` on. Returns what failed.
    LocalFault open_message(Qp& qp, Message& m, uint32_t number, uint32_t from);
    void close_message(Message& m);
    void stop_at_local_error(Qp& qp, const LocalFault& fault, WcStatus status, sim::SimTime now);
    void fail_if_stopped_here(Qp& qp, sim::SimTime now);
    void refill_from_source(Qp& qp, sim::SimTime now);
    void note_drained(Qp& qp, sim::SimTime now);
    /// UD and raw packets, a message a packet: may the QP's next one begin now? If not, what it waits for is noted.
    [[nodiscard]] bool may_begin_datagram(Qp& qp, sim::SimTime now);
    /// Earliest time at which this QP may start a message; charges the adapter's and the QP's message rate.
    void charge_message(Qp& qp, sim::SimTime now);

    // ---- control plane: control/*.cpp and the folders of the objects
    void ring_doorbell(Qp& qp, sim::SimTime t, uint32_t last_wqe_bytes);
    void release_streams(Qp& qp);
    void reset_qp(Qp& qp);
    [[nodiscard]] Qp* find_qp(uint32_t qpn) noexcept;
    [[nodiscard]] Qp* find_owned(const ControlContext& by, uint32_t qpn) noexcept;
    [[nodiscard]] Cq* find_cq(uint32_t handle) noexcept;
    [[nodiscard]] Srq* find_srq(uint32_t handle) noexcept;
    [[nodiscard]] Pd* find_pd(const ControlContext& by, uint32_t handle) noexcept;
    /// Resolves an address vector: 0, or an errno value and why.
    int resolve_path(const ControlContext& by, const AhAttr& ah, uint8_t port_num, uint32_t local_qpn,
                     uint32_t remote_qpn, Path& out);
    Qp& new_qp(QpType type);
    void leave_group(Qp& qp, const Gid& gid);
    void destroy(Qp& qp, sim::SimTime now);
    // xrc/xrcd.cpp
    /// One of the handles of an XRC_RECV QP goes. False if it is the last, or the owner has none.
    bool drop_opener(Qp& qp, uint32_t owner);
    void release_srqs(uint32_t owner);
    /// Device memory and XRC domains, at the end of a client.
    void release_domains(uint32_t owner);
    void apply_attributes(Qp& qp, const QpAttr& attr, uint32_t mask, const Path& path);
    void enter_state(Qp& qp, QpState to, sim::SimTime now);
    Port& port_of(const Path& path) noexcept { return path.loopback ? *loopback : *ports[path.port_index]; }

    Hca& node;
    HcaConfig config;  ///< GIDs, P_Keys and LIDs of its ports change: port_changes.cpp
    const DeviceProfile& profile;
    const HcaTiming& timing;
    DeviceAttr attr;
    HostSink* sink;
    QpObserver* observer = nullptr;
    host::PayloadMover* mover;
    host::HostPort host_port;
    wire::PacketPool* pool = nullptr;
    bool wire_detail = false;  ///< every packet carries its addresses: a capture or a P_Key needs them

    std::vector<std::unique_ptr<Port>> ports;  ///< the last one is the loopback
    Port* loopback = nullptr;
    SortedQueue<Delayed> delayed;
    Fifo<Delayed> wqe_fetches;  ///< DMA reads of send WQEs under way
    sim::TimerQueue timers;
    sim::EventList<AtomicExecution> atomics;
    sim::SimTime atomic_free;
    sim::SimTime next_message_at;  ///< message rate limit of the adapter
    ManagementAgent* management = nullptr;
    sim::SimTime management_at = sim::SimTime::max();  ///< its next_time()
    wire::Psn mad_psn;                                 ///< of the next packet of QP 1
    sim::SimTime now_running;
    bool running = false;
    uint64_t completions = 0;  ///< a measure of progress

    uint32_t first_qpn;
    std::vector<std::unique_ptr<Qp>> qps;  ///< by slot: qpn - first_qpn
    uint32_t live_qps = 0;
    std::map<uint32_t, Pd> pds;
    std::map<uint32_t, Ah> ahs;
    std::unordered_map<uint32_t, std::unique_ptr<Cq>> cqs;
    std::unordered_map<uint32_t, std::unique_ptr<Srq>> srqs;
    std::map<uint32_t, Xrcd> xrcds;
    std::map<uint32_t, XrcDomain> xrc_domains;
    std::map<uint32_t, DeviceMemory> dms;
    uint64_t dm_bytes = 0;  ///< allocated
    uint32_t next_pd = 1, next_ah = 1, next_cq = 1, next_srq = 1, next_xrcd = 1, next_xrc_domain = 1, next_dm = 1;
    std::map<uint32_t, Steering> steering;
    uint32_t next_steering = 1;
    MrTable mrs;
    uint32_t mr_epoch = 1;  ///< changes whenever a key becomes invalid
    std::unordered_map<host::AddressSpaceId, bool> watched;
    std::map<std::pair<Gid, uint8_t>, std::vector<uint32_t>> mcast_members;  ///< group and port → QP numbers
    std::unordered_map<uint32_t, LocalFault> last_fault;                     ///< of stopped QPs, by number
    std::vector<ResolvedSge> scratch;
    std::vector<host::MemoryRange> scratch_ranges;
};

/// Answers a refused control call; `fill` runs only if somebody asked why.
template <class Fill>
int refuse(const ControlContext& by, int error, Rule rule, Fill&& fill) {
    if (by.why != nullptr) {
        *by.why = {};
        by.why->rule = rule;
        fill(*by.why);
    }
    return error;
}

}  // namespace simverbs::hca
