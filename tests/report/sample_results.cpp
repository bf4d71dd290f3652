#include "tests/report/sample_results.hpp"

#include <algorithm>
#include <cmath>

namespace simverbs::scenarios::report {

using run::RunResult;
using sim::BitRate;
using sim::SimTime;

namespace {

/// A draw from [0, 1) for each (stream, index).
double draw(uint64_t stream, uint64_t index) {
    uint64_t x = stream * 0x9E3779B97F4A7C15ULL + index * 0xD1B54A32D192ED03ULL + 1;
    for (int round = 0; round < 3; ++round) x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9ULL;
    return static_cast<double>(x >> 11) / static_cast<double>(1ULL << 53);
}

uint32_t add_port(RunResult& r, bool is_switch, uint32_t node, BitRate rate) {
    const auto index = static_cast<uint32_t>(r.ports.size());
    run::PortRecord port;
    port.is_switch = is_switch;
    port.node = node;
    port.rate = rate;
    if (is_switch) {
        port.port = static_cast<uint32_t>(r.switches[node].ports.size());
        port.name = r.switches[node].name + "/" + std::to_string(port.port);
        r.switches[node].ports.push_back(index);
    } else {
        port.name = r.hosts[node].name;
        r.hosts[node].port = index;
    }
    r.ports.push_back(port);
    return index;
}

void add_link(RunResult& r, uint32_t a, uint32_t b) {
    const auto index = static_cast<uint32_t>(r.links.size());
    r.ports[a].link = r.ports[b].link = index;
    r.links.push_back({r.ports[a].name + " - " + r.ports[b].name, a, b, r.ports[a].rate, SimTime::us(1)});
}

uint32_t add_switch(RunResult& r, const std::string& name) {
    r.switches.push_back({.name = name, .ports = {}, .buffer = 32'000'000, .max_buffer = 4'100'000});
    return static_cast<uint32_t>(r.switches.size() - 1);
}

/// k pods of k/2 ToRs and k/2 aggregation switches, k*k/4 cores; 100 Gb/s to hosts, 400 Gb/s above.
void add_fat_tree(RunResult& r, uint32_t k) {
    const uint32_t half = k / 2;
    const BitRate slow = BitRate::gbps(100);
    const BitRate fast = BitRate::gbps(400);
    std::vector<uint32_t> tors, aggs, cores;
    for (uint32_t i = 0; i < k * half; ++i) tors.push_back(add_switch(r, "tor" + std::to_string(i)));
    for (uint32_t i = 0; i < k * half; ++i) aggs.push_back(add_switch(r, "agg" + std::to_string(i)));
    for (uint32_t i = 0; i < half * half; ++i) cores.push_back(add_switch(r, "core" + std::to_string(i)));
    for (uint32_t h = 0; h < k * half * half; ++h) {
        r.hosts.push_back({"h" + std::to_string(h), 0});
        const uint32_t a = add_port(r, false, h, slow);
        add_link(r, a, add_port(r, true, tors[h / half], slow));
    }
    for (uint32_t t = 0; t < tors.size(); ++t) {
        for (uint32_t up_link = 0; up_link < half; ++up_link) {
            const uint32_t up = add_port(r, true, tors[t], fast);
            add_link(r, up, add_port(r, true, aggs[t / half * half + up_link], fast));
        }
    }
    for (uint32_t g = 0; g < aggs.size(); ++g) {
        for (uint32_t up_link = 0; up_link < half; ++up_link) {
            const uint32_t up = add_port(r, true, aggs[g], fast);
            add_link(r, up, add_port(r, true, cores[g % half * half + up_link], fast));
        }
    }
}

run::FlowRecord sample_flow(uint32_t i, uint32_t flows, uint32_t hosts, double load, SimTime time) {
    run::FlowRecord f;
    f.number = i;
    f.src = static_cast<uint32_t>(draw(1, i) * hosts);
    f.dst = (f.src + 1 + static_cast<uint32_t>(draw(2, i) * (hosts - 1))) % hosts;
    f.bytes = static_cast<sim::ByteCount>(std::pow(10.0, 3 + 4.4 * std::pow(draw(3, i), 1.6)));
    f.planned = f.started = SimTime::ps(static_cast<int64_t>(static_cast<double>(time.in_ps()) * 0.8 * i / flows));
    f.ideal = SimTime::us(5) + BitRate::gbps(100).time_for(f.bytes);
    const double size_penalty = 1 + 0.8 * load * std::log10(static_cast<double>(f.bytes) / 500);
    const double slow = 1 + load * size_penalty * std::pow(-std::log(1 - draw(4, i) * 0.9999), 1.3);
    f.acknowledged = f.started + SimTime::ps(static_cast<int64_t>(static_cast<double>(f.ideal.in_ps()) * slow));
    if (f.acknowledged > time) f.acknowledged = time;
    f.received = f.acknowledged - SimTime::us(2);
    f.cnps = static_cast<uint32_t>(slow * 3 * draw(5, i));
    f.status = flow::FlowStatus::Success;
    return f;
}

void add_flows(RunResult& r, uint32_t flows, double load) {
    r.groups = {{.name = "websearch", .kind = "poisson"}, {.name = "incast", .kind = "incast"}};
    for (uint32_t i = 0; i < flows; ++i) {
        run::FlowRecord f = sample_flow(i, flows, static_cast<uint32_t>(r.hosts.size()), load, r.simulated_time);
        f.group = i % 9 == 0 ? 1 : 0;
        r.flows.push_back(f);
    }
}

/// Fills the end counts of all ports, in which the first switch's are the busiest.
void add_counts(RunResult& r, double load) {
    for (uint32_t i = 0; i < r.ports.size(); ++i) {
        run::PortRecord& port = r.ports[i];
        const double busy = std::min(load * (0.25 + 0.9 * draw(6, i)), 0.98);
        port.end.tx_bytes =
            static_cast<uint64_t>(busy * r.simulated_time.in_s() * static_cast<double>(port.rate.in_bps()) / 8);
        port.end.tx_packets = port.end.tx_bytes / 4096;
        port.end.marks = port.is_switch && busy > 0.5 ? static_cast<uint64_t>(4000 * busy * draw(7, i)) : 0;
        port.end.pauses_sent = busy > 0.7 ? static_cast<uint64_t>(60 * draw(8, i)) : 0;
        port.end.pauses_received = busy > 0.65 ? static_cast<uint64_t>(60 * draw(9, i)) : 0;
        port.end.paused_time = SimTime::us(static_cast<int64_t>(port.end.pauses_received) * 9);
        port.max_queue = static_cast<sim::ByteCount>(port.is_switch ? 900'000 * busy * busy : 0);
    }
}

/// Counts that grow as a congested port's do: bursts that fill the queue, marks while it is long, pauses in between.
run::PortSamples sample_port(const RunResult& r, uint32_t port, size_t samples) {
    run::PortSamples out{.port = port, .counts = {}};
    run::PortCounts now;
    const SimTime step = r.sample_times[1] - r.sample_times[0];
    double queue = 0;
    for (size_t i = 0; i < samples; ++i) {
        const double wave = 0.5 + 0.45 * std::sin(static_cast<double>(i) / (9.0 + port % 7) + port);
        const double rate = static_cast<double>(r.ports[port].rate.in_bps()) * wave;
        now.tx_bytes += static_cast<uint64_t>(rate * step.in_s() / 8);
        queue = std::max(queue + (wave - 0.6) * 30'000 + (draw(port + 20, i) - 0.5) * 20'000, 0.0);
        now.queue[3] = static_cast<sim::ByteCount>(queue);
        if (queue > 60'000) now.marks += static_cast<uint64_t>(queue / 20'000);
        if (queue > 150'000 && i % 3 == 0) now.paused_time += SimTime::ps(step.in_ps() * 6 / 10);
        out.counts.push_back(now);
    }
    return out;
}

void add_samples(RunResult& r, size_t samples) {
    const SimTime step = r.simulated_time / static_cast<int64_t>(samples);
    for (size_t i = 0; i < samples; ++i) r.sample_times.push_back(step * static_cast<int64_t>(i + 1));
    for (uint32_t port = 16; port < 32; ++port) r.port_samples.push_back(sample_port(r, port, samples));
    for (uint32_t node = 0; node < 4; ++node) {
        run::SwitchSamples s{.node = node, .buffer = {}};
        for (size_t i = 0; i < samples; ++i)
            s.buffer.push_back(static_cast<sim::ByteCount>(4e5 * (1.2 + std::sin(static_cast<double>(i) / 20 + node))));
        r.switch_samples.push_back(std::move(s));
    }
    for (uint32_t flow = 0; flow < 3; ++flow) {
        run::FlowSamples s{.flow = flow * 9, .rate = {}, .delivered = {}};
        sim::ByteCount delivered = 0;
        for (size_t i = 0; i < samples; ++i) {
            const double share = 0.34 + (flow == 0 ? 0.66 : -0.3) * std::exp(-static_cast<double>(i) / 80);
            s.rate.push_back(BitRate::bps(static_cast<int64_t>(share * 1e11)));
            delivered += static_cast<sim::ByteCount>(share * 0.95e11 / 8 * step.in_s());
            s.delivered.push_back(delivered);
        }
        r.flow_samples.push_back(std::move(s));
    }
}

/// A host with an adapter and a GPU below one switch; the adapter's link was busy in the first half.
void add_inside(RunResult& r) {
    run::HostInsideRecord inside;
    inside.host = r.hosts.front().name;
    inside.platform = "one_switch";
    inside.devices = {{run::InsideKind::NumaNode, "node0", {}, {}},
                      {run::InsideKind::HostBridge, "root0", {}, {}, 0},
                      {run::InsideKind::Switch, "pex0", {}, "gen4 x16", 1},
                      {run::InsideKind::Adapter, "nic0", "mlx5_0", "gen4 x8, of gen4 x16", 2},
                      {run::InsideKind::Gpu, "gpu0", "A100", "gen4 x16", 2}};
    constexpr size_t kBins = 200;
    for (size_t d = 2; d < inside.devices.size(); ++d) {
        for (const bool up : {false, true}) {
            run::InsidePart part{inside.devices[d].name + (up ? " up" : " down"), "PCIe link", BitRate::gbps(200)};
            part.bin = r.simulated_time / static_cast<int64_t>(kBins);
            for (size_t i = 0; i < kBins; ++i) {
                const double share = d == 3 && i < kBins / 2 ? 0.9 : 0.1 * static_cast<double>(d);
                part.bins.push_back(SimTime::ps(static_cast<int64_t>(share * static_cast<double>(part.bin.in_ps()))));
                part.busy += part.bins.back();
            }
            (up ? inside.devices[d].up : inside.devices[d].down) = static_cast<uint32_t>(inside.parts.size());
            inside.parts.push_back(std::move(part));
        }
    }
    r.insides.push_back(std::move(inside));
}

}  // namespace

RunResult rich_result(double load) {
    constexpr uint32_t kFlows = 4000;
    constexpr size_t kSamples = 500;
    RunResult r;
    r.scenario = "WebSearch at 50% on a fat tree, with incasts";
    r.description =
        "Poisson flows of the WebSearch distribution between all hosts of a k=4 fat tree, and an incast of eight to "
        "one "
        "every millisecond. Shows what DCQCN leaves to priority flow control.";
    r.settings = {{"cc.algorithm", "dcqcn"}, {"workload.load", "0.5"}};
    r.algorithm = "dcqcn";
    r.seed = 7;
    r.simulated_time = SimTime::ms(60);
    r.measure_from = SimTime::ms(1);
    r.ending = run::RunEnding::Until;
    r.packet_hops = 48'123'456;
    add_fat_tree(r, 4);
    add_flows(r, kFlows, load);
    for (run::FlowRecord& f : r.flows) f.is_measured = f.started >= r.measure_from;
    r.flows.back().status = flow::FlowStatus::Pending;
    r.flows.back().received = r.flows.back().acknowledged = SimTime::max();
    r.flows[77].status = flow::FlowStatus::RetryExceeded;
    r.flows[77].received = SimTime::max();
    r.flows[77].timeouts = 8;
    r.flows[77].retransmitted = 512;
    add_counts(r, load);
    add_samples(r, kSamples);
    add_inside(r);
    r.ports[16].end.drops = 14;
    r.faults = {{"link tor0/1 down at 4 ms", 1, true}, {"lose the 3rd CNP of h3", 0, false}};
    return r;
}

RunResult empty_result() {
    RunResult r;
    r.scenario = "empty";
    r.hosts.push_back({"h0", 0});
    return r;
}

RunResult hostile_result() {
    RunResult r = rich_result(0.4);
    const std::string markup = "</script><script>throw 'x'</script><img src=x onerror=\"throw 1\">'\"&<!--";
    const std::string endless(500, 'w');
    r.scenario = markup + endless;
    r.description = markup + " @DATA@ @SCRIPT@ " + endless;
    r.algorithm = markup;
    r.settings = {{endless, markup}, {"bytes", "\xFF\xC0\x80 \xED\xA0\x80 \x01"}};
    r.ending = run::RunEnding::Stuck;
    r.stuck_dump = "h0 waits for " + markup + "\n" + endless + "\nh1 waits for h0\n";
    r.deadlocks = 1;
    r.groups[0].name = endless;
    r.groups[1].name = markup;
    r.faults = {{markup, 0, true}};
    r.hosts[0].name = endless;
    r.hosts[1].name = markup;
    r.hosts[2].name = "\xFF\xFE";
    r.switches[0].name = "__proto__";
    for (uint32_t p = 0; p < 20; ++p) r.ports[p].name = (p % 2 == 0 ? endless : markup) + std::to_string(p);
    r.links[0].name = markup;
    r.insides[0].host = markup;
    r.insides[0].platform = endless;
    r.insides[0].devices[3].name = endless;
    r.insides[0].devices[4].what = markup;
    r.insides[0].devices[2].up = 4'000'000;
    r.links[1].a = 4'000'000;
    r.ports[5].rate = BitRate();
    r.flows[0].bytes = 0;
    r.flows[1].ideal = SimTime::zero();
    r.flows[2].started = SimTime::max();
    r.flows[3].src = r.flows[3].group = 4'000'000;
    r.sample_times.front() = SimTime::zero();
    r.port_samples[0].counts.resize(3);
    r.port_samples[1].port = 4'000'000;
    r.flow_samples[0].flow = 4'000'000;
    return r;
}

RunResult large_result(uint32_t flows) {
    RunResult r;
    r.scenario = "large";
    r.simulated_time = SimTime::ms(100);
    add_fat_tree(r, 8);
    add_flows(r, flows, 0.5);
    add_counts(r, 0.5);
    return r;
}

std::vector<Verdict> sample_verdicts(bool all_met) {
    return {{"", true, "fct.slowdown.p50 of websearch < 4", "2.31", "< 4"},
            {"tail", all_met, "fct.slowdown.p99 of websearch < 20", all_met ? "17.2" : "24.9", "< 20"},
            {"", true, "lossless_drops never", "0", "0"},
            {"", true, "utilisation of tor0/0 > 50%", "63%", "> 50%"}};
}

}  // namespace simverbs::scenarios::report
