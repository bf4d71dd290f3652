// What holds of a host's inside whatever devices do.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "models/host/complex.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs::host {
namespace {

using sim::SimTime;

struct Sink final : CopySink {
    explicit Sink(std::vector<SimTime>& to) : log(to) {}
    void on_copy_done(uint64_t, SimTime visible_at) override { log.push_back(visible_at); }
    std::vector<SimTime>& log;
};

/// Random requests of all devices; what came of each.
std::vector<SimTime> play(Complex& c, uint32_t seed, bool far_ahead) {
    const PlatformSpec& p = c.platform();
    std::vector<SimTime> log, last_read(16), last_write(16);
    Sink sink(log);
    std::mt19937 random(seed);
    const auto agents = static_cast<uint32_t>(p.nics.size() + p.gpus.size());
    const auto memories = static_cast<uint32_t>(p.numa_nodes.size() + p.gpus.size());
    SimTime now;
    for (int i = 0; i < 3000; ++i) {
        now += SimTime::ns(static_cast<int64_t>(random() % (far_ahead ? 20 : 400)));
        c.run_until(now);
        const auto agent = static_cast<AgentId>(random() % agents);
        const DmaTarget target(static_cast<MemoryId>(random() % memories), random() % (1 << 26));
        const auto bytes = static_cast<uint32_t>(random() % 3 == 0 ? random() % 9000 : random() % 300);
        SimTime at;
        switch (random() % 6) {
            case 0:
            case 1:
                at = c.dma_read(agent, now, target, bytes);
                EXPECT_GE(at, last_read[agent]);
                last_read[agent] = at;
                break;
            case 2:
            case 3:
                at = c.dma_write(agent, now, target, bytes);
                EXPECT_GE(at, last_write[agent]);
                last_write[agent] = at;
                break;
            case 4:
                at = c.mmio_write(agent, now, 8, static_cast<MemoryId>(random() % p.numa_nodes.size()));
                EXPECT_GE(at - now, c.least_mmio_write(agent));
                break;
            default: {
                const auto g = static_cast<uint16_t>(random() % p.gpus.size());
                CopySpec copy;
                copy.gpu = c.gpu_agent(g);
                copy.from = static_cast<MemoryId>(random() % memories);
                copy.to = c.gpu_memory(g);
                copy.bytes = random() % 100'000;
                if (random() % 2 == 0) std::swap(copy.from, copy.to);
                copy.engine = static_cast<uint8_t>(random() % p.gpus[g].copy_engines);
                c.submit(copy, now, sink);
                at = now;
            }
        }
        EXPECT_GE(at, now);
        log.push_back(at);
    }
    c.run_until(SimTime::max());
    return log;
}

class ComplexProperty : public testing::TestWithParam<uint32_t> {};

TEST_P(ComplexProperty, RequestsStayInOrderAndTakeTimeAndTheSameAgain) {
    for (const bool far_ahead : {false, true})
        for (const auto& p : {test::two_socket(), test::hgx_h100()}) {
            Complex a(p), b(p);
            EXPECT_EQ(play(a, GetParam(), far_ahead), play(b, GetParam(), far_ahead));
        }
}

TEST_P(ComplexProperty, APartIsBusyForItsBytesAndServesOneThingAtATime) {
    for (const bool far_ahead : {false, true}) {
        Complex c(test::two_socket());
        (void)play(c, GetParam(), far_ahead);
        for (const PartView& v : c.parts()) {
            const Part& part = *v.part;
            for (uint32_t i = 0; i < pcie::Utilisation::kBins; ++i)
                ASSERT_LE(part.use.bin(i), part.use.width()) << v.name << " bin " << i;
            if (v.kind != PartKind::PcieLink) continue;
            const SimTime expected = v.rate.time_for(static_cast<sim::ByteCount>(part.wire_bytes));
            // A picosecond of rounding for each request.
            EXPECT_LE(part.use.total(), expected) << v.name;
            EXPECT_GE(part.use.total(), expected - SimTime::ns(50)) << v.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ComplexProperty, testing::Range(0U, 8U));

}  // namespace
}  // namespace simverbs::host
