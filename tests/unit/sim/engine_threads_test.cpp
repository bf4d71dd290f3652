// The threaded engine: the same results, and (in the ThreadSanitizer build) no race.
#include "random_network_check.hpp"

namespace simverbs::sim::test {
namespace {

TEST(ThreadedEngine, SameTraceForOneToFourThreads) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(seed);
        const NetworkSpec net = random_network(seed);
        const Outcome expected = run_reference(net);
        for (unsigned threads = 1; threads <= 4; ++threads) {
            SCOPED_TRACE(threads);
            expect_same(expected, run_engine(net, {.threads = threads}));
        }
    }
}

TEST(ThreadedEngine, SameTraceWithShortWindowsAndRandomCuts) {
    for (uint64_t seed = 11; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        const NetworkSpec net = random_network(seed);
        const Outcome expected = run_reference(net);
        expect_same(expected, run_engine(net, {.window = SimTime::ns(9), .threads = 2}));
        expect_same(expected, run_engine(net, {.threads = 3, .cut_seed = seed, .ask_next = true}));
    }
}

}  // namespace
}  // namespace simverbs::sim::test
