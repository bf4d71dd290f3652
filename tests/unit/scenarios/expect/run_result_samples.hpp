// A hand-made result of a run, small enough to compute every metric of it in the head.
#pragma once

#include <fmt/format.h>

#include <string>

#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::testing {

/// h0 … h3 at one switch, sw0/i to host i; 100 Gb/s; port numbers: hosts 0 … 3, the switch's 4 … 7.
inline run::RunResult star_of_four() {
    run::RunResult result;
    result.scenario = "star";
    result.description = "Four hosts, <one> switch.";
    result.seed = 7;
    result.algorithm = "dcqcn";
    result.ending = run::RunEnding::Until;
    result.simulated_time = sim::SimTime::ms(10);
    result.packet_hops = 123'456;
    result.memory_bytes = 65'536;
    result.wall_seconds = 0.5;
    const sim::BitRate rate = sim::BitRate::gbps(100);
    run::SwitchRecord node{"sw0", {}, 1'000'000, 300'000, 5'000, 9'000};
    for (uint32_t i = 0; i < 4; ++i) {
        result.hosts.push_back({fmt::format("h{}", i), i});
        result.ports.push_back({fmt::format("h{}", i), false, i, 0, i, rate, {}, 0});
    }
    for (uint32_t i = 0; i < 4; ++i) {
        result.ports.push_back({fmt::format("sw0/{}", i), true, 0, i, i, rate, {}, 0});
        result.links.push_back({fmt::format("h{} - sw0/{}", i, i), i, i + 4, rate, sim::SimTime::us(1)});
        node.ports.push_back(i + 4);
    }
    result.switches.push_back(node);
    return result;
}

struct FlowTimes {
    int64_t started_us;
    int64_t ended_us;  ///< received and acknowledged; below 0: never
    int64_t ideal_us;
};

inline void add_flow(run::RunResult& result, uint32_t group, uint32_t src, uint32_t dst, sim::ByteCount bytes,
                     FlowTimes times) {
    run::FlowRecord flow;
    flow.group = group;
    for (const run::FlowRecord& other : result.flows) flow.number += other.group == group ? 1 : 0;
    flow.src = src;
    flow.dst = dst;
    flow.priority = 3;
    flow.bytes = bytes;
    flow.planned = flow.started = sim::SimTime::us(times.started_us);
    flow.ideal = sim::SimTime::us(times.ideal_us);
    if (times.ended_us >= 0) {
        flow.received = flow.acknowledged = sim::SimTime::us(times.ended_us);
        flow.status = flow::FlowStatus::Success;
    }
    result.flows.push_back(flow);
}

/// Samples each ms from 1 to 9 of h3's and sw0's ports, of sw0 and of flows web[0] and web[3].
inline void add_samples(run::RunResult& result) {
    for (int64_t ms = 1; ms <= 9; ++ms) result.sample_times.push_back(sim::SimTime::ms(ms));
    for (const uint32_t port : {3U, 4U, 5U, 6U, 7U}) {
        run::PortSamples samples{port, {}};
        for (uint64_t ms = 1; ms <= 9; ++ms) {
            run::PortCounts counts;
            if (port == 7) {
                counts.tx_packets = 1'000 * ms;
                counts.tx_bytes = 10'000'000 * ms;
                counts.drops = ms < 4 ? 0 : ms < 6 ? 5 : 8;
                counts.marks = ms;
                counts.pauses_sent = 2 * ms;
                counts.queue[3] = static_cast<sim::ByteCount>(10'000 * ms);
                counts.queue[6] = 500;
            }
            if (port == 3) counts.paused_time = sim::SimTime::us(static_cast<int64_t>(10 * ms));
            samples.counts.push_back(counts);
        }
        result.port_samples.push_back(samples);
    }
    run::SwitchSamples buffer{0, {}};
    run::FlowSamples first{0, {}, {}, {}};
    run::FlowSamples last{3, {}, {}, {}};
    for (int64_t ms = 1; ms <= 9; ++ms) {
        buffer.buffer.push_back(20'000 * ms);
        first.rate.push_back(sim::BitRate::gbps(ms == 1 ? 10 : 0));
        first.delivered.push_back(1'000'000);
        first.rtt.push_back(sim::SimTime::us(ms == 1 ? 12 : 0));
        last.rate.push_back(sim::BitRate::gbps(ms > 5 ? ms : 0));
        last.delivered.push_back(ms > 5 ? 1'000'000 * (ms - 5) : 0);
        last.rtt.push_back(sim::SimTime::us(ms > 5 ? 20 : 0));
    }
    result.switch_samples.push_back(buffer);
    result.flow_samples.push_back(first);
    result.flow_samples.push_back(last);
}

/// Three groups: web (four measured flows, one that is not), inc (one failed), ring (a collective of two iterations).
inline run::RunResult sample_result() {
    run::RunResult result = star_of_four();
    result.groups.push_back({"web", "poisson", "websearch", 1, 0, 0, 0});
    result.groups.push_back({"inc", "incast", "", 1, 0, 0, 0});
    result.groups.push_back({"ring", "ring_all_reduce", "", 2, 1'000'000, 2, 1.0});
    add_flow(result, 0, 0, 3, 1'000'000, {0, 1'000, 100});   // slowdown 10
    add_flow(result, 0, 1, 3, 10'000, {2'000, 2'020, 10});   // 2
    add_flow(result, 0, 2, 3, 100'000, {4'000, 5'000, 50});  // 20
    add_flow(result, 0, 0, 1, 10'000'000, {5'000, -1, 900});
    result.flows.back().delivered = 5'000'000;
    add_flow(result, 1, 1, 3, 2'000'000, {5'000, -1, 200});
    run::FlowRecord& failed = result.flows.back();
    failed.status = flow::FlowStatus::RetryExceeded;
    failed.acknowledged = sim::SimTime::us(8'000);
    failed.delivered = 500'000;
    failed.timeouts = 7;
    failed.retransmitted = 12;
    failed.naks = 3;
    failed.cnps = 40;
    add_flow(result, 0, 0, 2, 5'000, {0, 20, 10});
    result.flows.back().is_measured = false;
    add_flow(result, 2, 0, 1, 500'000, {1'000, 1'080, 50});
    add_flow(result, 2, 1, 0, 500'000, {1'000, 1'100, 50});
    add_flow(result, 2, 0, 1, 500'000, {1'080, 1'250, 50});
    add_flow(result, 2, 1, 0, 500'000, {1'100, 1'300, 50});
    run::PortCounts& incast = result.ports[7].end;
    incast.tx_packets = 10'000;
    incast.tx_bytes = 100'000'000;
    incast.drops = 9;
    incast.lossless_drops = 2;
    incast.watchdog_drops = 1;
    incast.trims = 4;
    incast.marks = 10;
    incast.pauses_sent = 20;
    incast.pause_storms = 1;
    incast.corrupted = 6;
    result.ports[7].max_queue = 120'000;
    result.ports[4].end.drops = 1;
    result.ports[4].max_queue = 7'000;
    result.ports[3].end.paused_time = sim::SimTime::us(100);
    result.ports[3].end.pauses_received = 20;
    result.ports[0].end.tx_packets = 5'000;
    result.ports[0].end.tx_bytes = 25'000'000;
    result.programs.push_back(
        {"client", "h0", "ib_write_lat h3", true, sim::SimTime::us(3), 1, "no route\n", "ended with exit code 1"});
    result.programs.push_back({"server", "h3", "ib_write_lat", false, {}, std::nullopt, "", "was not started"});
    result.faults.push_back({"flap", 2, true, sim::SimTime::ms(1), sim::SimTime::ms(3), ""});
    result.faults.push_back({"ghost", 0, false, {}, {}, "1 passed"});
    add_samples(result);
    return result;
}

}  // namespace simverbs::scenarios::testing
