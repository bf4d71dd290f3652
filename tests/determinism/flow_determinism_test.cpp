// Flows with congestion control, pauses and loss give the same results to the last bit, whatever the number of threads,
// the length of windows, and whatever else the fabric carries elsewhere.
#include <gtest/gtest.h>

#include "scenarios/workloads/incast.hpp"
#include "scenarios/workloads/permutation.hpp"
#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

struct Variant {
    const char* cc = "dcqcn";
    unsigned threads = 1;
    SimTime window;
    bool unrelated = false;  ///< another ToR with two hosts and a workload between them, first in the plan
    uint64_t seed = 1;
    flow::LossRecovery recovery = flow::LossRecovery::GoBackN;
};

constexpr uint32_t kHosts = 16;

/// Everything that was counted, by name of what counted it.
struct Digest {
    std::vector<std::string> flows;
    std::vector<std::string> nics;
    std::vector<std::string> ports;
    bool operator==(const Digest&) const = default;
};

void add_unrelated(FlowRig& rig) {
    topologies::Topology& t = rig.topology;
    const auto tor = static_cast<uint32_t>(t.switches.size());
    t.switches.push_back({.name = "extra", .tier = topologies::SwitchTier::Leaf, .level = 0});
    const topologies::Link like = t.links.front();
    for (uint32_t i = 0; i < 2; ++i) {
        t.hosts.push_back({.name = "x" + std::to_string(i)});
        topologies::Link l = like;
        l.a = {{false, kHosts + i}, 0};
        l.b = {{true, tor}, i};
        t.links.push_back(l);
    }
    scenarios::workloads::WorkloadCommon common{"elsewhere", kHosts + 2, 1, {}, 3};
    EXPECT_TRUE(
        scenarios::workloads::append_incast(rig.plan, {common, {kHosts}, kHosts + 1, 300'000, {}, 3, SimTime::us(50)})
            .empty());
}

Digest run(const Variant& v) {
    FlowRig rig = FlowRig::fat_tree(4);
    for (size_t i = 0; i < rig.topology.links.size(); i += 3) rig.topology.links[i].packet_loss = 0.002;
    if (v.unrelated) add_unrelated(rig);
    const auto hosts = static_cast<uint32_t>(rig.topology.hosts.size());
    namespace workloads = scenarios::workloads;
    EXPECT_TRUE(workloads::append_permutation(
                    rig.plan,
                    {{"permutation", hosts, v.seed, {}, 3}, workloads::host_range(0, kHosts), 200'000, SimTime::us(2)})
                    .empty());
    EXPECT_TRUE(workloads::append_incast(rig.plan, {{"incast", hosts, v.seed, SimTime::us(5), 3},
                                                    workloads::host_range(1, 12),
                                                    0,
                                                    60'000,
                                                    SimTime::us(1),
                                                    2,
                                                    SimTime::us(40)})
                    .empty());
    rig.use(v.cc);
    rig.use_pfc(1 << 20);
    rig.config.engine = {.window = v.window, .threads = v.threads, .seed = v.seed};
    rig.config.switches.pipeline_latency = SimTime::ns(300);
    rig.config.switches.ecn = {1 << 3, {20'000, 80'000, 0.2}, false};
    rig.config.nics.recovery = v.recovery;
    rig.config.nics.retransmission_timeout = SimTime::us(200);
    FlowFabric& f = rig.build();
    EXPECT_EQ(f.run_until_done().end, FlowRunEnd::Idle);
    EXPECT_EQ(leftovers(f), "");
    Digest d;
    const auto text = [](auto... n) {
        std::string s;
        ((s += std::to_string(n) + " "), ...);
        return s;
    };
    for (flow::FlowIndex i = 0; i < f.flows().size(); ++i) {
        const auto& spec = f.flows().spec(i);
        const std::string& group = f.flows().plan().groups[spec.group];
        if (group == "elsewhere") continue;
        const auto& r = f.flows().result(i);
        d.flows.push_back(group + " " +
                          text(spec.src, spec.dst, r.started.in_ps(), r.received.in_ps(), r.acknowledged.in_ps(),
                               r.retransmitted, r.timeouts, static_cast<int>(r.status)));
    }
    for (uint32_t h = 0; h < kHosts; ++h) {
        const auto& c = f.nic(h).counters();
        const link::FlowControlEnd& pauses = f.nic(h).flow_control();
        d.nics.push_back(text(h, c.tx_packets, c.tx_bytes, c.rx_packets, c.rx_bytes, c.data_received, c.cnps_sent,
                              c.cnps_handled, c.naks_sent, c.timeouts, c.retransmitted, c.out_of_sequence, c.corrupt,
                              pauses.pauses_received(), pauses.paused_time().in_ps()));
    }
    for (size_t s = 0; s < f.switch_count(); ++s) {
        const fabric::Switch& sw = f.fabric_switch(s);
        if (sw.config().path == "extra") continue;
        for (fabric::PortIndex p = 0; p < sw.config().ports; ++p) {
            const auto c = sw.counters(p);
            d.ports.push_back(sw.config().path + text(p, c.rx_packets, c.rx_bytes, c.tx_packets, c.tx_bytes,
                                                      c.drops_full, c.drops_headroom, c.marked, c.max_queue_bytes,
                                                      c.pauses_sent, c.pauses_received, c.paused_time.in_ps()));
        }
    }
    return d;
}

uint64_t sum_of(const Digest& d, size_t field) {
    uint64_t sum = 0;
    for (std::string line : d.nics) {
        for (size_t i = 0; i < field; ++i) line.erase(0, line.find(' ') + 1);
        sum += std::stoull(line);
    }
    return sum;
}

void expect_same(const Digest& a, const Digest& b, const char* what) {
    EXPECT_EQ(a.flows, b.flows) << what;
    EXPECT_EQ(a.nics, b.nics) << what;
    EXPECT_EQ(a.ports, b.ports) << what;
}

class FlowDeterminism : public testing::TestWithParam<std::pair<const char*, flow::LossRecovery>> {
  protected:
    [[nodiscard]] static Variant variant() { return {.cc = GetParam().first, .recovery = GetParam().second}; }
};

TEST_P(FlowDeterminism, TheScenarioExercisesWhatItIsAbout) {
    const Digest d = run(variant());
    EXPECT_GT(sum_of(d, 8), 0U) << "loss: NAKs";
    EXPECT_GT(sum_of(d, 13), 0U) << "pauses";
    EXPECT_GT(d.flows.size(), 30U);
    Variant other = variant();
    other.seed = 2;
    EXPECT_NE(run(other).flows, d.flows) << "another seed is another run";
}

TEST_P(FlowDeterminism, TwiceTheSame) {
    expect_same(run(variant()), run(variant()), "twice");
}

TEST_P(FlowDeterminism, TheNumberOfThreadsChangesNothing) {
    const Digest one = run(variant());
    for (const unsigned threads : {2U, 4U}) {
        Variant v = variant();
        v.threads = threads;
        expect_same(one, run(v), threads == 2 ? "2 threads" : "4 threads");
    }
}

TEST_P(FlowDeterminism, TheLengthOfWindowsChangesNothing) {
    const Digest longest = run(variant());
    for (const SimTime window : {SimTime::us(1), SimTime::ns(250), SimTime::ns(100)}) {
        Variant v = variant();
        v.window = window;
        expect_same(longest, run(v), "window");
    }
}

TEST_P(FlowDeterminism, AnUnrelatedToRWithItsWorkloadChangesNothing) {
    Variant v = variant();
    const Digest alone = run(v);
    v.unrelated = true;
    expect_same(alone, run(v), "beside another workload");
}

INSTANTIATE_TEST_SUITE_P(Algorithms, FlowDeterminism,
                         testing::Values(std::pair{"dcqcn", flow::LossRecovery::GoBackN},
                                         std::pair{"hpcc", flow::LossRecovery::SelectiveRepeat}),
                         [](const auto& p) { return std::string(p.param.first); });

}  // namespace
}  // namespace simverbs::test
