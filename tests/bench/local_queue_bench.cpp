// The queue of a node in a window: updates a second by number of sources.
#include <benchmark/benchmark.h>

#include "sim/local_queue.hpp"
#include "sim/rng.hpp"

namespace {

using namespace simverbs::sim;

/// Replace the top by a later event of the same source, as a busy node does: one update per event.
void BM_LocalQueueUpdate(benchmark::State& state) {
    const auto sources = static_cast<uint32_t>(state.range(0));
    LocalQueue q;
    q.reset(sources);
    uint32_t x = 12345;
    const auto next = [&x] { return x = x * 1664525 + 1013904223; };
    for (uint32_t s = 0; s < sources; ++s) q.set_leaf(s, local_key(SimTime::ps(next() % 1000), EventPhase::Deliver, s));
    q.build();
    for ([[maybe_unused]] auto _ : state) {
        const LocalKey top = q.top();
        const int64_t t = (local_key_time(top).in_ps() + next() % 1000) & 0xFFFFF;
        q.update(local_key_source(top), local_key(SimTime::ps(t), EventPhase::Deliver, local_key_source(top)));
        benchmark::DoNotOptimize(q);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_LocalQueueUpdate)->Arg(2)->Arg(16)->Arg(32)->Arg(128)->Arg(512);

/// What the start of a window costs.
void BM_LocalQueueBuild(benchmark::State& state) {
    const auto sources = static_cast<uint32_t>(state.range(0));
    LocalQueue q;
    for ([[maybe_unused]] auto _ : state) {
        q.reset(sources);
        for (uint32_t s = 0; s < sources; ++s) q.set_leaf(s, local_key(SimTime::ps(s), EventPhase::Deliver, s));
        q.build();
        benchmark::DoNotOptimize(q.top());
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_LocalQueueBuild)->Arg(16)->Arg(32)->Arg(128)->Arg(512);

}  // namespace

BENCHMARK_MAIN();
