// What a switch does with the packets that it holds: buffer sharing, PFC, ECN, scheduling, load balancing; on
// InfiniBand virtual lanes. Plain data.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios {

/// Ethernet: how one of several equal paths is chosen.
enum class LoadBalancing { Ecmp, PacketSpray, Flowlet, Adaptive };
/// When a packet's queue is compared with the thresholds.
enum class EcnPoint { Dequeue, Enqueue };
/// InfiniBand: which paths the forwarding tables hold (opensm: minhop, updn).
enum class PathPolicy { MinHop, UpDown };

/// Pairs from the file (DSCP → priority, priority → weight, VL → weight, SL → VL), in the file's order.
using NumberPairs = std::vector<std::pair<int, int>>;

/// Where the file writes a key; without a path: it does not.
struct KeyPlace {
    std::string path;
    SourcePosition position;
};

struct PfcSpec {
    bool is_enabled = true;
    std::vector<int> priorities;
    std::optional<sim::ByteCount> headroom;  ///< absent: from cable, rate and MTU
    KeyPlace headroom_place;
    sim::ByteCount reserve = 0;            ///< of each port and priority
    sim::ByteCount xon_offset = 0;         ///< XON when this far below the XOFF threshold
    int quanta = 0;                        ///< of a pause frame: 512 bit times each
    std::optional<sim::SimTime> watchdog;  ///< a queue paused for so long is drained and its pauses ignored
};

struct EcnSpec {
    bool is_enabled = true;
    sim::ByteCount kmin = 0;
    sim::ByteCount kmax = 0;
    double pmax = 1;
    std::vector<int> priorities;
    EcnPoint at = EcnPoint::Dequeue;
    bool has_own_thresholds = false;  ///< the file writes kmin, kmax or pmax; else a preset's may be taken
};

struct SchedulerSpec {
    std::vector<int> strict;  ///< served first, the highest number first
    NumberPairs dwrr;         ///< priority → weight; those named nowhere have weight 1
};

/// VL arbitration tables as in IBTA: (VL, weight in 64 B), and the Limit of High-Priority in 4 KB (255: none).
struct VlArbitrationSpec {
    NumberPairs high;
    NumberPairs low;
    int high_limit = 0;
    KeyPlace high_place, low_place;
};

struct FecnSpec {
    bool is_enabled = false;
    int threshold = 0;               ///< 0…15: 0 never marks, 15 marks soonest
    int marking_rate = 0;            ///< packets between two that are marked, on average
    sim::ByteCount packet_size = 0;  ///< shorter packets are not marked
};

struct SwitchQueueing {
    sim::ByteCount cell = 96;    ///< the buffer is counted in these
    double alpha = 1;            ///< dynamic threshold = alpha × free shared buffer
    std::optional<int> a_shift;  ///< HPCC's rule instead of alpha: free shared buffer >> a_shift
    PfcSpec pfc;
    EcnSpec ecn;
    SchedulerSpec scheduler;
    NumberPairs dscp_map;
    NumberPairs pcp_map;
    LoadBalancing load_balancing = LoadBalancing::Ecmp;
    sim::SimTime flowlet_gap;
    bool trims = false;            ///< a packet without room loses its payload, not itself
    std::optional<bool> adds_int;  ///< in-band network telemetry; absent: if congestion control needs it

    sim::ByteCount vl_buffer = 0;  ///< of each port and VL
    KeyPlace vl_buffer_place;
    VlArbitrationSpec vl_arbitration;
    NumberPairs sl2vl;
    FecnSpec fecn;
    PathPolicy path_policy = PathPolicy::MinHop;
};

}  // namespace simverbs::scenarios
