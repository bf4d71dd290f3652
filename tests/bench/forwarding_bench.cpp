// Bare packet forwarding on fat trees: packet-hops (one packet over one link) a second. Set-up is not timed.
#include <benchmark/benchmark.h>

#include "tests/support/fat_tree.hpp"

namespace {

using namespace simverbs;

test::FatTreeConfig config(uint32_t k, sim::SimTime cable, unsigned threads, bool spray, double load) {
    test::FatTreeConfig c;
    c.k = k;
    c.engine.threads = threads;
    c.link.rate = sim::BitRate::gbps(100);
    c.link.propagation = cable;
    c.traffic.packets = UINT64_MAX;
    c.traffic.spray = spray;
    c.traffic.load = load;
    return c;
}

void run(benchmark::State& state, const test::FatTreeConfig& c, sim::SimTime step) {
    test::FatTree tree(c);
    tree.engine.run_until(sim::SimTime::us(20));
    uint64_t before = tree.hops();
    for ([[maybe_unused]] auto _ : state) tree.engine.run_until(tree.engine.frontier() + step);
    const uint64_t hops = tree.hops() - before;
    state.counters["hops/s"] = benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kIsRate);
    state.counters["hops"] = benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kAvgIterations);
}

/// Arguments: k, cable in ns, threads, load in percent. Packets of a flow are sprayed over all paths.
void BM_FatTreePermutation(benchmark::State& state) {
    const auto k = static_cast<uint32_t>(state.range(0));
    run(state,
        config(k, sim::SimTime::ns(state.range(1)), static_cast<unsigned>(state.range(2)), true,
               static_cast<double>(state.range(3)) / 100),
        sim::SimTime::us(k <= 8 ? 400 : 50));
}
BENCHMARK(BM_FatTreePermutation)
    ->ArgNames({"k", "cable_ns", "threads", "load"})
    ->Args({8, 1000, 1, 80})
    ->Args({8, 100, 1, 80})
    ->Args({16, 1000, 1, 80})
    ->Args({16, 100, 1, 80})
    ->Unit(benchmark::kMillisecond)
    ->MinTime(2.0);
BENCHMARK(BM_FatTreePermutation)
    ->ArgNames({"k", "cable_ns", "threads", "load"})
    ->Args({8, 1000, 2, 80})
    ->Args({16, 1000, 2, 80})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MinTime(2.0);

/// Two hosts, one switch: the window machinery with almost nothing in a window.
void BM_TwoHostsOneSwitch(benchmark::State& state) {
    test::FatTreeConfig c = config(2, sim::SimTime::ns(state.range(0)), 1, false, 1.0);
    run(state, c, sim::SimTime::us(400));
}
BENCHMARK(BM_TwoHostsOneSwitch)->ArgNames({"cable_ns"})->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
