// The same packets at the same picoseconds, whatever the window and the number of threads: a hash over every packet
// that every host of a fat tree received, and the counters of every switch port.
#include <gtest/gtest.h>

#include "tests/support/fat_tree.hpp"

namespace simverbs::test {
namespace {

struct Result {
    uint64_t hash = 0;
    uint64_t hops = 0;
    uint64_t received = 0;
    std::vector<uint64_t> counters;
    bool operator==(const Result&) const = default;
};

Result run(sim::SimTime window, unsigned threads, uint64_t seed, fabric::Forwarding forwarding, bool cut) {
    FatTreeConfig c;
    c.k = 4;
    c.engine = {.window = window, .threads = threads, .seed = seed};
    c.link.propagation = sim::SimTime::ns(100);
    c.switches.pipeline_latency = sim::SimTime::ns(300);
    c.switches.forwarding = forwarding;
    c.switches.queue_bytes = 20'000;
    c.traffic.packets = 150;
    FatTree tree(c);
    if (cut) {
        const sim::Draws draws(seed, 7, sim::DrawPurpose::Other);
        for (uint64_t n = 0; tree.engine.next_event_time() != sim::SimTime::max(); ++n)
            tree.engine.run_window(tree.engine.frontier() +
                                   sim::SimTime::ps(static_cast<int64_t>(1 + draws.below(90'000, n))));
    } else {
        tree.engine.run();
    }
    Result r{tree.hash(), tree.hops(), tree.received(), {}};
    for (const auto* tier : {&tree.edges, &tree.aggs, &tree.cores})
        for (const auto& s : *tier)
            for (uint32_t p = 0; p < c.k; ++p) {
                const auto counters = s->counters(p);
                r.counters.insert(r.counters.end(), {counters.rx_packets, counters.tx_packets, counters.drops_full,
                                                     counters.max_queue_bytes});
            }
    return r;
}

TEST(FatTreeDeterminism, SameForEveryWindowThreadCountAndCut) {
    for (const auto forwarding : {fabric::Forwarding::CutThrough, fabric::Forwarding::StoreAndForward}) {
        const Result expected = run(sim::SimTime::zero(), 1, 1, forwarding, false);
        EXPECT_GT(expected.received, 500U);
        EXPECT_LT(expected.received, 16U * 150) << "ECMP collisions must fill queues, or drops are not tested";
        for (const unsigned threads : {1U, 2U, 4U})
            for (const auto window : {sim::SimTime::ns(25), sim::SimTime::ns(100)})
                EXPECT_EQ(expected, run(window, threads, 1, forwarding, false)) << threads << " threads";
        EXPECT_EQ(expected, run(sim::SimTime::zero(), 1, 1, forwarding, true));
        EXPECT_EQ(expected, run(sim::SimTime::zero(), 2, 1, forwarding, true));
        EXPECT_NE(expected.hash, run(sim::SimTime::zero(), 1, 2, forwarding, false).hash);
    }
}

}  // namespace
}  // namespace simverbs::test
