// CPU copies through a GPU's BAR1 window against the published run of gdrcopy_copylat.
// Source: NVIDIA/gdrcopy README: Tesla V100-SXM2-32GB in a DGX-1V (PCIe 3.0 x16 behind a switch).
#include <gtest/gtest.h>

#include <array>

#include "models/host/complex.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using host::Complex;
using sim::SimTime;

struct Row {
    uint64_t bytes;
    double store_us, load_us;
};

constexpr std::array kPublished = {
    Row{1, 0.0889, 0.9069},
    Row{2, 0.0884, 1.7170},
    Row{4, 0.0884, 1.7169},
    Row{8, 0.0884, 1.7164},
    Row{16, 0.0905, 0.8601},
    Row{32, 0.0902, 1.7024},
    Row{64, 0.0902, 3.1016},
    Row{128, 0.0952, 3.4944},
    Row{256, 0.0983, 3.6400},
    Row{512, 0.1176, 2.4394},
    Row{1024, 0.1825, 2.8022},
    Row{2048, 0.2549, 4.6615},
    Row{4096, 0.4366, 7.9783},
    Row{8192, 0.8141, 14.9209},
    Row{16384, 1.6155, 28.9571},
    Row{32768, 3.2284, 56.9373},
    Row{65536, 6.4906, 114.1008},
    Row{131072, 12.9761, 234.9382},
    Row{262144, 25.9459, 496.4011},
    Row{524288, 51.9100, 985.5196},
    Row{1048576, 103.8028, 1970.7057},
    Row{2097152, 207.5990, 3942.5611},
    Row{4194304, 415.2856, 7888.9468},
    Row{8388608, 830.6355, 18361.5673},
    Row{16777216, 1661.3285, 36758.8342},
};

host::PlatformSpec dgx_1v() {
    const pcie::LinkSpec gen3{3, 16, 256};
    host::PlatformSpec p = test::one_adapter(gen3);
    p.switches = {test::pcie_switch("plx0", test::under_bridge(0), gen3)};
    p.gpus = {test::gpu("gpu0", test::under_switch(0), gen3)};
    return p;
}

constexpr SimTime kNow = SimTime::us(5);

class GdrCopy : public testing::TestWithParam<Row> {};

TEST_P(GdrCopy, StoresTakeThePublishedTimeWithinAFifth) {
    Complex c(dgx_1v());
    const double us = (c.cpu_store(0, kNow, c.gpu_memory(0), GetParam().bytes) - kNow).in_us();
    EXPECT_NEAR(us, GetParam().store_us, 0.2 * GetParam().store_us);
}
TEST_P(GdrCopy, LoadsTakeThePublishedTimeWithinAFifth) {
    Complex c(dgx_1v());
    const double us = (c.cpu_load(0, kNow, c.gpu_memory(0), GetParam().bytes) - kNow).in_us();
    EXPECT_NEAR(us, GetParam().load_us, 0.2 * GetParam().load_us);
}
INSTANTIATE_TEST_SUITE_P(Published, GdrCopy, testing::ValuesIn(kPublished),
                         [](const auto& row) { return std::to_string(row.param.bytes) + "B"; });

TEST(BarWindow, IsFartherFromTheOtherSocket) {
    Complex c(test::two_socket());
    const auto load = [&](host::MemoryId cpu, int64_t at) {
        return c.cpu_load(cpu, SimTime::us(at), c.gpu_memory(1), 16) - SimTime::us(at);
    };
    EXPECT_EQ(load(1, 20) - load(0, 10), SimTime::ns(140));
}

TEST(BarWindow, StoresWaitForALinkThatIsTaken) {
    Complex c(dgx_1v());
    // Completions of a GPU's reads come down the same link.
    (void)c.dma_read(c.gpu_agent(0), kNow, host::kNearestMemory, 1 << 20);
    EXPECT_GT(c.cpu_store(0, kNow + SimTime::us(2), c.gpu_memory(0), 65536), kNow + SimTime::us(70));
}

}  // namespace
}  // namespace simverbs
