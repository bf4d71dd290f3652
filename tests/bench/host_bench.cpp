// What a modelled DMA request costs in the inside of a host: the whole way, all its TLPs at once.
#include <benchmark/benchmark.h>

#include "models/host/complex.hpp"
#include "tests/support/platforms.hpp"

namespace {

using namespace simverbs;
using sim::SimTime;

/// Requests of so many bytes at the rate of the link, each when the last has begun.
template <class Request>
void run(benchmark::State& state, host::Complex& c, SimTime gap, Request&& request) {
    SimTime now = SimTime::us(1);
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(request(c, now));
        now += gap;
    }
    state.SetItemsProcessed(state.iterations());
}

/// Arguments: bytes, the time between two requests in ns.
void BM_WriteToNearestMemory(benchmark::State& state) {
    host::Complex c(test::one_adapter());
    const auto bytes = static_cast<uint32_t>(state.range(0));
    run(state, c, SimTime::ns(state.range(1)),
        [&](host::Complex& h, SimTime now) { return h.dma_write(0, now, host::kNearestMemory, bytes); });
}
BENCHMARK(BM_WriteToNearestMemory)->ArgNames({"bytes", "gap_ns"})->Args({64, 10})->Args({4096, 170})->Args({4096, 150});

void BM_ReadOfNearestMemory(benchmark::State& state) {
    host::Complex c(test::one_adapter());
    const auto bytes = static_cast<uint32_t>(state.range(0));
    run(state, c, SimTime::ns(state.range(1)),
        [&](host::Complex& h, SimTime now) { return h.dma_read(0, now, host::kNearestMemory, bytes); });
}
BENCHMARK(BM_ReadOfNearestMemory)->ArgNames({"bytes", "gap_ns"})->Args({64, 10})->Args({4096, 170})->Args({4096, 150});

/// The address is known: caches and translations are looked up.
void BM_ReadThroughSwitchCacheAndIommu(benchmark::State& state) {
    host::PlatformSpec p = test::two_socket();
    p.iommu.enabled = true;
    host::Complex c(p);
    uint64_t at = 0;
    run(state, c, SimTime::ns(170), [&](host::Complex& h, SimTime now) {
        return h.dma_read(0, now, {1, at++ % 16384 * 4096}, 4096);
    });
}
BENCHMARK(BM_ReadThroughSwitchCacheAndIommu);

void BM_PeerWriteAcrossSockets(benchmark::State& state) {
    host::Complex c(test::two_socket());
    run(state, c, SimTime::ns(460),
        [&](host::Complex& h, SimTime now) { return h.dma_write(0, now, h.gpu_memory(2), 4096); });
}
BENCHMARK(BM_PeerWriteAcrossSockets);

/// A gigabyte by a copy engine, piece by piece.
void BM_CopyOfAGigabyte(benchmark::State& state) {
    struct Sink final : host::CopySink {
        void on_copy_done(uint64_t, SimTime visible_at) override { at = visible_at; }
        SimTime at = SimTime::us(1);
    } sink;
    host::Complex c(test::two_socket());
    host::CopySpec copy;
    copy.gpu = c.gpu_agent(0);
    copy.to = c.gpu_memory(0);
    copy.bytes = 1 << 30;
    for ([[maybe_unused]] auto _ : state) {
        c.submit(copy, sink.at, sink);
        c.run_until(SimTime::max());
    }
}
BENCHMARK(BM_CopyOfAGigabyte)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
