// What a switch is: buffer, marking, scheduling, load balancing.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "models/ecn/red_marking.hpp"
#include "models/link/service_map.hpp"
#include "models/link/vl_arbiter.hpp"
#include "models/pfc/pfc.hpp"
#include "models/switch/shared_buffer.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::fabric {

enum class Forwarding : uint8_t { CutThrough, StoreAndForward };

/// Which of several equally good ports a packet takes.
enum class LoadBalancing : uint8_t {
    Ecmp,         ///< by the flow's hash: a flow keeps its path
    PacketSpray,  ///< each packet by itself
    Flowlet,      ///< a flow may change its path after a pause
    Adaptive,     ///< the port with the shortest queue
};

/// ECN marking of an egress queue.
struct EcnConfig {
    uint16_t priorities = 0;  ///< bit p: packets of priority p are marked
    ecn::RedParams red;
    bool at_enqueue = false;   ///< else when a packet begins to leave
    uint32_t least_bytes = 0;  ///< shorter packets are not marked
};

/// Strict priorities go first, the highest ahead; the others share what is left by deficit round robin (Shreedhar and
/// Varghese, 1996).
struct SchedulerConfig {
    uint16_t strict = 0xFFFF;
    std::array<uint32_t, 16> quantum{};  ///< bytes a round of each other priority
};

struct PfcConfig {
    uint32_t quanta = pfc::kMaxQuanta;  ///< what a pause frame asks for; renewed at half time while needed
    /// A priority that has had to wait this long is taken to be paused by a storm or a deadlock: it is counted, and
    /// its packets are dropped until the peer lets it go on. max(): never.
    sim::SimTime watchdog = sim::SimTime::max();
};

struct SwitchConfig {
    std::string path;  ///< of the component: "sw0"; its id salts the ECMP hash and keys the draws
    uint32_t ports = 0;
    Forwarding forwarding = Forwarding::CutThrough;
    /// From header in to decision. Links count it: pass it on as LinkEnd::ingress_latency.
    sim::SimTime pipeline_latency = sim::SimTime::zero();
    BufferConfig buffer;
    /// Bytes that an egress queue of a priority that is not lossless may hold; beyond, packets are dropped.
    sim::ByteCount queue_bytes = std::numeric_limits<sim::ByteCount>::max();
    /// The same as a part of the free shared buffer; 0: no such limit.
    double lossy_alpha = 0;
    PfcConfig pfc;
    EcnConfig ecn;
    SchedulerConfig scheduler;
    LoadBalancing balancing = LoadBalancing::Ecmp;
    /// Priority (InfiniBand: VL) of each service. Everything else here speaks of priorities.
    link::ServiceMap classes = link::kOwnClasses;
    /// Bit p: packets of priority p may occur. The fewer, the more packets can leave at once (Switch).
    uint16_t priorities = 0xFFFF;
    sim::SimTime flowlet_gap = sim::SimTime::us(50);
    bool measures_delays = false;  ///< how long packets wait in queues
    bool telemetry = false;        ///< writes INT into packets that carry a record, acknowledgements excepted
    bool trimming = false;         ///< a lossy packet that finds no room loses its payload instead of its life
    /// InfiniBand: bytes of each (ingress port, VL), which credits hand out; 0: as much as anybody wants.
    sim::ByteCount vl_buffer = 0;
    std::optional<link::VlArbitration> vl_arbitration;  ///< InfiniBand: instead of `scheduler` (VL 15 stays strict)
    uint64_t seed = 1;
};

/// What a port counted. Bytes are byte times on the wire (link::packet_bytes), those of queues frame bytes.
struct PortCounters {
    uint64_t rx_packets = 0, rx_bytes = 0;
    uint64_t tx_packets = 0, tx_bytes = 0;
    uint64_t drops_full = 0;      ///< at this egress: queue or buffer full
    uint64_t drops_headroom = 0;  ///< at this ingress: a lossless packet for which the headroom did not suffice
    uint64_t drops_ttl = 0;       ///< at this ingress: no hops left
    uint64_t drops_no_route = 0;  ///< at this ingress: no route, or the port is not wired
    uint64_t drops_watchdog = 0;  ///< at this egress: paused for too long
    uint64_t trimmed = 0;         ///< at this egress
    uint64_t marked = 0;          ///< at this egress: Ce (InfiniBand: FECN) set here
    uint64_t max_queue_bytes = 0;
    uint64_t pauses_sent = 0, pauses_received = 0;  ///< XOFF frames (without renewals, with them)
    uint64_t watchdog_events = 0;
    sim::SimTime paused_time;  ///< this egress: any priority paused, summed over priorities
};

}  // namespace simverbs::fabric
