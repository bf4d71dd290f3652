// What a run has brought: plain data, from which expectations, files and the report are made.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/flow/flow_table.hpp"
#include "scenarios/run/inside_record.hpp"
#include "sim/sim_time.hpp"
#include "sim/stats/time_histogram.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::run {

inline constexpr uint32_t kPriorities = 16;
inline constexpr uint32_t kLosslessPriorities = 8;  ///< of Ethernet
/// No index: the thing does not exist.
inline constexpr uint32_t kNone = UINT32_MAX;

struct FlowRecord {
    uint32_t group = 0;   ///< in RunResult::groups
    uint32_t number = 0;  ///< in its group
    uint32_t src = 0;     ///< in RunResult::hosts
    uint32_t dst = 0;
    uint8_t priority = 0;
    sim::ByteCount bytes = 0;
    sim::SimTime planned;                             ///< earliest start
    sim::SimTime started = sim::SimTime::max();       ///< when its source could begin; max(): never
    sim::SimTime received = sim::SimTime::max();      ///< last byte at the destination
    sim::SimTime acknowledged = sim::SimTime::max();  ///< last ACK at the source, or when it failed
    sim::SimTime ideal;                               ///< FCT in the empty network
    uint32_t retransmitted = 0;                       ///< packets
    uint32_t timeouts = 0;
    uint32_t naks = 0;
    uint32_t cnps = 0;
    flow::FlowStatus status = flow::FlowStatus::Pending;
    std::optional<sim::ByteCount> delivered;  ///< payload in order at the destination at the end; absent: not known
    bool is_measured = true;                  ///< started within [RunSpec::measure_from, measure_until)
};

/// What one direction of a port has counted at one instant; all but `queue` only grow.
struct PortCounts {
    uint64_t tx_packets = 0, tx_bytes = 0;  ///< byte times on the wire
    uint64_t rx_packets = 0, rx_bytes = 0;
    uint64_t drops = 0;           ///< for want of buffer, in any class (the lossless ones and the watchdog's included)
    uint64_t lossless_drops = 0;  ///< the headroom was too small
    uint64_t watchdog_drops = 0;
    uint64_t other_drops = 0;  ///< no route, no hops left
    uint64_t corrupted = 0;
    uint64_t trims = 0;
    uint64_t marks = 0;
    uint64_t pauses_sent = 0;
    uint64_t pauses_received = 0;
    uint64_t pause_storms = 0;
    sim::SimTime paused_time;                              ///< sending was paused by the peer (IB: no credits)
    std::array<sim::ByteCount, kPriorities> queue{};       ///< bytes that wait at the egress, by priority
    std::array<uint32_t, kLosslessPriorities> headroom{};  ///< bytes in headroom of the ingress, by priority
};

/// A port of a switch ("tor0/5") or of a host ("h3", "h3.mlx5_0/1").
struct PortRecord {
    std::string name;
    bool is_switch = false;
    uint32_t node = 0;  ///< in RunResult::switches or hosts
    uint32_t port = 0;
    uint32_t link = kNone;
    sim::BitRate rate;
    PortCounts end;  ///< at the end of the run
    sim::ByteCount max_queue = 0;
    std::array<uint32_t, kLosslessPriorities> max_headroom{};  ///< most that the ingress has wanted, by priority
    std::vector<sim::TimeHistogram> delays;  ///< how long packets waited here, by priority; empty: not measured
};

struct LinkRecord {
    std::string name;  ///< "tor0/1 - agg0/2"
    uint32_t a = 0;    ///< in RunResult::ports
    uint32_t b = 0;
    sim::BitRate rate;
    sim::SimTime delay;
};

struct HostRecord {
    std::string name;
    uint32_t port = 0;  ///< in RunResult::ports
};
struct SwitchRecord {
    std::string name;
    std::vector<uint32_t> ports;      ///< in RunResult::ports
    sim::ByteCount buffer = 0;        ///< bytes that it has; 0: unlimited
    sim::ByteCount max_buffer = 0;    ///< most bytes in use
    sim::ByteCount max_headroom = 0;  ///< most headroom that a (port, priority) has wanted
    sim::ByteCount headroom = 0;      ///< of each (port, lossless priority)
};

/// A workload's flows.
struct GroupRecord {
    std::string name;
    std::string kind;               ///< "incast"
    std::string size_distribution;  ///< of Poisson flows: "websearch" or a file's name
    uint64_t iterations = 1;        ///< of a collective
    sim::ByteCount rank_bytes = 0;  ///< of a collective: the buffer of each rank
    uint32_t ranks = 0;             ///< of a collective
    double bus_bandwidth_factor =
        0;  ///< of a collective, as nccl-tests define it: bus bandwidth = factor * bytes / time
};

/// A program on one of the hosts.
struct ProgramRecord {
    std::string name;
    std::string host;
    std::string command;
    bool was_started = false;
    sim::SimTime started;
    std::optional<int> exit_code;  ///< 128 + n if signal n ended it; absent if it never ended by itself or began
    std::string output;            ///< stdout and stderr, the middle left out where there is too much of it
    std::string problem;           ///< one sentence; empty if it ended as the scenario says
};

struct FaultRecord {
    std::string name;
    uint64_t fired = 0;
    bool must_fire = true;
    sim::SimTime first = {}, last = {};  ///< when, if it fired
    std::string silence = {};            ///< why it did not fire, a clause; "": nothing is known

    /// It acted `times` more, from `from` to `to`.
    void add_firing(uint64_t times, sim::SimTime from, sim::SimTime to) {
        first = fired == 0 ? from : std::min(first, from);
        last = fired == 0 ? to : std::max(last, to);
        fired += times;
    }
};

/// Values of something at RunResult::sample_times.
struct PortSamples {
    uint32_t port = 0;  ///< in RunResult::ports
    std::vector<PortCounts> counts;
    /// Delays so far, by priority, where somebody asks for this instant and they are measured; else empty.
    std::vector<std::vector<sim::TimeHistogram>> delays;
};
struct SwitchSamples {
    uint32_t node = 0;  ///< in RunResult::switches
    std::vector<sim::ByteCount> buffer;
};
struct FlowSamples {
    uint32_t flow = 0;
    std::vector<sim::BitRate> rate;         ///< that congestion control allows; 0: not under way
    std::vector<sim::ByteCount> delivered;  ///< payload in order so far (to a packet)
    std::vector<sim::SimTime> rtt;          ///< that the sender has measured last; 0: none. Empty: not sampled
};

enum class RunEnding : uint8_t {
    Done,         ///< all flows have ended
    Until,        ///< the time was over
    Stuck,        ///< nothing could happen, or nothing came forward, while flows were outstanding
    Interrupted,  ///< whoever watched it (Ctrl-C) stopped it
};

struct RunResult {
    std::string scenario;
    std::string description;
    std::string run_name;  ///< of a sweep, else ""
    std::vector<std::pair<std::string, std::string>> settings;
    uint64_t seed = 1;
    std::string algorithm;
    bool is_infiniband = false;  ///< links have credits, not PFC
    RunEnding ending = RunEnding::Done;
    std::string stuck_dump;       ///< of Stuck: who waits for what, the circle named
    uint64_t deadlocks = 0;       ///< circles of queues that waited for each other at the end
    sim::SimTime simulated_time;  ///< at the end
    sim::SimTime measure_from;
    std::optional<sim::SimTime> measure_until;
    uint64_t packet_hops = 0;
    size_t memory_bytes = 0;  ///< of the model

    std::vector<HostRecord> hosts;
    std::vector<SwitchRecord> switches;
    std::vector<PortRecord> ports;
    std::vector<LinkRecord> links;
    std::vector<GroupRecord> groups;
    std::vector<FlowRecord> flows;  ///< by FlowIndex
    std::vector<ProgramRecord> programs;
    std::vector<FaultRecord> faults;
    std::vector<HostInsideRecord> insides;   ///< of hosts with programs and a platform
    std::vector<PcieLinkRecord> pcie_links;  ///< of all of them
    std::vector<std::string> warnings;       ///< what the user should know, one sentence each

    std::vector<sim::SimTime> sample_times;
    std::vector<PortSamples> port_samples;  ///< of the ports that somebody asked for
    std::vector<SwitchSamples> switch_samples;
    std::vector<FlowSamples> flow_samples;

    double wall_seconds = 0;  ///< of the run, set-up excluded; the only fields that differ from run to run
    double wall_setup_seconds = 0;
};

}  // namespace simverbs::scenarios::run
