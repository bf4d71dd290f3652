// The engine against a naive one: random networks, schedules, window lengths and cuts.
#include <algorithm>

#include "random_network_check.hpp"

namespace simverbs::sim::test {
namespace {

constexpr uint64_t kNetworks = 60;

TEST(EngineAgainstReference, TheNetworksAreWorthRunning) {
    size_t events = 0;
    size_t left = 0;
    for (uint64_t seed = 1; seed <= kNetworks; ++seed) {
        const Outcome o = run_reference(random_network(seed));
        events += o.trace.size();
        left += o.outside.size();
        EXPECT_TRUE(std::ranges::is_sorted(o.trace, {}, &TraceRecord::key)) << "seed " << seed;
    }
    EXPECT_GT(events, kNetworks * 300);
    EXPECT_GT(left, kNetworks);
}

TEST(EngineAgainstReference, SameTraceForTheLongestWindow) {
    for (uint64_t seed = 1; seed <= kNetworks; ++seed) {
        SCOPED_TRACE(seed);
        const NetworkSpec net = random_network(seed);
        expect_same(run_reference(net), run_engine(net, {}));
    }
}

TEST(EngineAgainstReference, SameTraceForEveryLegalWindow) {
    for (uint64_t seed = 1; seed <= kNetworks; ++seed) {
        SCOPED_TRACE(seed);
        const NetworkSpec net = random_network(seed);
        const Outcome expected = run_reference(net);
        for (const SimTime window : {SimTime::ps(997), SimTime::ns(7), SimTime::ps(16'384), net.smallest_latency})
            expect_same(expected, run_engine(net, {.window = window}));
    }
}

TEST(EngineAgainstReference, SameTraceWhereverWindowsAreCut) {
    for (uint64_t seed = 1; seed <= kNetworks; ++seed) {
        SCOPED_TRACE(seed);
        const NetworkSpec net = random_network(seed);
        expect_same(run_reference(net), run_engine(net, {.cut_seed = seed + 77}));
    }
}

TEST(EngineAgainstReference, TheNextEventTimeIsExactBetweenWindows) {
    for (uint64_t seed = 1; seed <= kNetworks; ++seed) {
        SCOPED_TRACE(seed);
        const NetworkSpec net = random_network(seed);
        const Outcome expected = run_reference(net);
        expect_same(expected, run_engine(net, {.ask_next = true}));
        expect_same(expected, run_engine(net, {.cut_seed = seed, .ask_next = true}));
    }
}

}  // namespace
}  // namespace simverbs::sim::test
