// CPU copies through a GPU's BAR1 window against the published run of gdrcopy_copylat.
#include <gtest/gtest.h>

#include "models/host/complex.hpp"
#include "tests/conformance/pcie/published.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using host::Complex;
using sim::SimTime;

constexpr SimTime kNow = SimTime::us(5);

class GdrCopy : public testing::TestWithParam<test::BarWindowRow> {};

TEST_P(GdrCopy, StoresTakeThePublishedTimeWithinAFifth) {
    Complex c(test::dgx_1v());
    const double us = (c.cpu_store(0, kNow, c.gpu_memory(0), GetParam().bytes) - kNow).in_us();
    EXPECT_NEAR(us, GetParam().store_us, 0.2 * GetParam().store_us);
}
TEST_P(GdrCopy, LoadsTakeThePublishedTimeWithinAFifth) {
    Complex c(test::dgx_1v());
    const double us = (c.cpu_load(0, kNow, c.gpu_memory(0), GetParam().bytes) - kNow).in_us();
    EXPECT_NEAR(us, GetParam().load_us, 0.2 * GetParam().load_us);
}
INSTANTIATE_TEST_SUITE_P(Published, GdrCopy, testing::ValuesIn(test::kGdrCopy),
                         [](const auto& row) { return std::to_string(row.param.bytes) + "B"; });

TEST(BarWindow, IsFartherFromTheOtherSocket) {
    Complex c(test::two_socket());
    const auto load = [&](host::MemoryId cpu, int64_t at) {
        return c.cpu_load(cpu, SimTime::us(at), c.gpu_memory(1), 16) - SimTime::us(at);
    };
    EXPECT_EQ(load(1, 20) - load(0, 10), SimTime::ns(140));
}

TEST(BarWindow, StoresWaitForALinkThatIsTaken) {
    Complex c(test::dgx_1v());
    // Completions of a GPU's reads come down the same link.
    (void)c.dma_read(c.gpu_agent(0), kNow, host::kNearestMemory, 1 << 20);
    EXPECT_GT(c.cpu_store(0, kNow + SimTime::us(2), c.gpu_memory(0), 65536), kNow + SimTime::us(70));
}

}  // namespace
}  // namespace simverbs
