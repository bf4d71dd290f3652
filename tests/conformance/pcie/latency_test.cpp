// Latencies of single requests against published ones.
#include <gtest/gtest.h>

#include "tests/conformance/pcie/rig.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using host::Complex;
using host::DmaTarget;
using sim::SimTime;

constexpr SimTime kNow = SimTime::us(10);
constexpr uint64_t kSomewhere = 1 << 20;

/// 64 B by DMA read, with a cold or a warm cache. Source: pcie-bench (SIGCOMM 2018), Haswell, PCIe 3.0 x8.
double read_ns(Complex& c, host::MemoryId memory, int64_t at_us) {
    const SimTime now = SimTime::us(at_us);
    return (c.dma_read(0, now, {memory, kSomewhere}, 64) - now).in_us() * 1000;
}

TEST(HostLatency, ASmallReadTakes550NsAndFromTheCache70NsLess) {
    Complex c(test::one_adapter({3, 8, 256}));
    const double cold = read_ns(c, 0, 1), warm = read_ns(c, 0, 2);
    EXPECT_NEAR(cold, 550, 15);
    EXPECT_NEAR(cold - warm, 70, 2);
    EXPECT_EQ(c.counters().llc_hits, 1U);
    EXPECT_EQ(c.counters().llc_misses, 1U);
}

TEST(HostLatency, TheOtherSocketsMemoryCostsAFifthOfTheRequestRate) {
    host::PlatformSpec p = test::two_socket({3, 8, 256});
    p.nics[0].upstream = test::under_bridge(0);
    Complex c(p);
    // So many requests under way, and no more: rates are as one over the latencies. Neither is in a cache.
    EXPECT_NEAR(1 - read_ns(c, 0, 1) / read_ns(c, 1, 2), 0.2, 0.01);
}

TEST(HostLatency, APageBeyondTheIommusReachCosts330NsMore) {
    host::PlatformSpec p = test::one_adapter();
    p.iommu.enabled = true;
    Complex c(p);
    const auto read = [&](int64_t us, uint64_t address) {
        return c.dma_read(0, SimTime::us(us), {0, address}, 64) - SimTime::us(us);
    };
    (void)read(1, 0);
    const SimTime hit = read(2, 64);
    for (int64_t page = 1; page <= 64; ++page) (void)read(2 + page, static_cast<uint64_t>(page) * 4096);
    (void)read(100, 64);  // in the cache again, and translated
    EXPECT_EQ(read(101, 64), hit);
    for (int64_t page = 1; page <= 64; ++page) (void)read(101 + page, static_cast<uint64_t>(page) * 4096);
    EXPECT_EQ(read(200, 64) - hit, SimTime::ns(330));
}

TEST(HostLatency, WithATSADeviceRemembersMoreThanTheIommu) {
    host::PlatformSpec p = test::one_adapter();
    p.iommu.enabled = true;
    p.nics[0].ats = true;
    Complex c(p);
    for (int pass = 0; pass < 2; ++pass)
        for (int64_t page = 0; page < 1000; ++page)
            (void)c.dma_read(0, SimTime::us(1000 * (pass + 1) + page), {0, static_cast<uint64_t>(page) * 4096}, 64);
    EXPECT_EQ(c.counters().walks, 1000U);
}

/// What an adapter's profile contains is what the nominal host takes: a host like it adds nothing.
TEST(HostLatency, AnIdleNominalHostTakesExactlyWhatItSays) {
    for (const pcie::LinkSpec link : {pcie::LinkSpec{3, 8, 256}, {4, 16, 256}, {5, 16, 512}})
        for (const uint32_t bytes : {0U, 8U, 64U, 255U, 256U, 512U}) {
            Complex c(test::one_adapter(link));
            EXPECT_EQ(c.dma_read(0, kNow, host::kNearestMemory, bytes) - kNow, c.nominal_read(0, bytes)) << bytes;
            EXPECT_EQ(c.dma_write(0, kNow * 2, host::kNearestMemory, bytes) - kNow * 2, c.nominal_write(0, bytes));
            EXPECT_EQ(c.mmio_write(0, kNow * 3, bytes, host::kNearestMemory) - kNow * 3,
                      c.nominal_mmio_write(0, bytes));
        }
}

TEST(HostLatency, NoDoorbellIsFasterThanTheLeastLatencyFromAnyCpu) {
    for (const auto& p : {test::one_adapter(), test::two_socket(), test::hgx_h100()}) {
        Complex c(p);
        for (host::AgentId a = 0; a < p.nics.size(); ++a)
            for (host::MemoryId cpu = 0; cpu < p.numa_nodes.size(); ++cpu) {
                const SimTime took = c.mmio_write(a, kNow * (1 + a * 8 + cpu), 8, cpu) - kNow * (1 + a * 8 + cpu);
                EXPECT_GE(took, c.least_mmio_write(a));
            }
    }
}

TEST(HostLatency, DoorbellsPassCompletionsOfReadsThatAreStillUnderWay) {
    Complex idle(test::one_adapter()), busy(test::one_adapter());
    const SimTime alone = idle.mmio_write(0, kNow, 8, 0);
    // Completions come down half a microsecond later; the link is free before.
    (void)busy.dma_read(0, kNow, host::kNearestMemory, 65536);
    EXPECT_EQ(busy.mmio_write(0, kNow, 8, 0), alone);
}

TEST(HostLatency, AnInterruptComesBehindTheWritesBeforeIt) {
    Complex c(test::one_adapter());
    const SimTime written = c.dma_write(0, kNow, host::kNearestMemory, 65536);
    EXPECT_GE(c.interrupt(0, kNow, 0), written);
}

TEST(HostMemory, CachesAnswerByWhatWasTouchedLastNotByWhereItLies) {
    host::PlatformSpec p = test::one_adapter();
    p.numa_nodes[0].llc_bytes = 16 * 4096;
    const auto hits = [&](uint64_t base) {
        Complex c(p);
        for (int64_t i = 0; i < 64; ++i)
            (void)c.dma_read(0, SimTime::us(i + 1), {0, base + static_cast<uint64_t>(i * (i + 1) / 2 % 24) * 4096},
                             512);
        return c.counters().llc_hits;
    };
    EXPECT_EQ(hits(0), hits(0x7f1234567000));
    EXPECT_GT(hits(0), 0U);
}

TEST(HostMemory, AStreamThatNoCacheHoldsIsLimitedByTheMemory) {
    host::PlatformSpec p = test::one_adapter({5, 16, 256});
    p.numa_nodes[0].rate = sim::BitRate::gbps(200);
    Complex c(p);
    SimTime now = SimTime::us(1), done;
    constexpr uint64_t kBytes = 64 << 20;
    for (uint64_t at = 0; at < kBytes; at += 4096) done = c.dma_read(0, now, {0, at}, 4096);
    EXPECT_NEAR(test::gbps(kBytes, done - now), 200, 2);
}

}  // namespace
}  // namespace simverbs
