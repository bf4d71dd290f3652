// What a PCIe link carries, measured by DMA through the model, against the published model of PCIe.
#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/pcie/published.hpp"
#include "tests/conformance/pcie/rig.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using host::Complex;
using sim::SimTime;
using test::Stream;

std::string row_name(const testing::TestParamInfo<test::EfficiencyRow>& info) {
    return "Gen" + std::to_string(info.param.link.generation) + "_" + std::to_string(info.param.bytes) + "B";
}

class PcieEfficiency : public testing::TestWithParam<test::EfficiencyRow> {};

double measured(const test::EfficiencyRow& row, Stream::Kind kind) {
    Complex host(test::one_adapter(row.link));
    Stream s(0, kind, host::kNearestMemory, row.bytes, 256 << 10);
    test::run_streams(host, SimTime::us(200), s);
    return s.rate();
}

TEST_P(PcieEfficiency, MeasuredWritesAreWithinOnePercentOfTheTable) {
    EXPECT_NEAR(measured(GetParam(), Stream::Kind::Write), GetParam().write_gbps, 0.01 * GetParam().write_gbps);
}
TEST_P(PcieEfficiency, MeasuredReadsAreWithinOnePercentOfTheTable) {
    EXPECT_NEAR(measured(GetParam(), Stream::Kind::Read), GetParam().read_gbps, 0.01 * GetParam().read_gbps);
}
INSTANTIATE_TEST_SUITE_P(Table, PcieEfficiency, testing::ValuesIn(test::kEfficiency), row_name);

TEST(PcieLink, ReadsAndWritesHaveADirectionEach) {
    Complex host(test::one_adapter({4, 16, 256}));
    Stream in(0, Stream::Kind::Read, host::kNearestMemory, 4096, 256 << 10);
    Stream out(0, Stream::Kind::Write, host::kNearestMemory, 4096, 256 << 10);
    test::run_streams(host, SimTime::us(200), in, out);
    EXPECT_NEAR(in.rate(), 210.9, 2.2);
    // Read requests (24 bytes for 512) go the writes' way.
    EXPECT_NEAR(out.rate(), 207.9 - 210.9 * 24 / 512, 2.1);
}

TEST(PcieLink, ASlotOfHalfTheWidthCarriesHalf) {
    host::PlatformSpec p = test::one_adapter({4, 16, 256});
    Complex full(p);
    p.nics[0].slot.lanes = 8;
    Complex half(p);
    Stream in_full(0, Stream::Kind::Write, host::kNearestMemory, 4096, 256 << 10);
    Stream in_half = in_full;
    test::run_streams(full, SimTime::us(200), in_full);
    test::run_streams(half, SimTime::us(200), in_half);
    EXPECT_NEAR(in_half.rate(), in_full.rate() / 2, 0.02 * in_full.rate());
    EXPECT_EQ(half.link(0), (pcie::LinkSpec{4, 8, 256}));
}

TEST(PcieLink, ASlotThatDegradesIsSlowFromThenOn) {
    Complex host(test::one_adapter({4, 16, 256}));
    const SimTime before = host.dma_write(0, SimTime::us(1), host::kNearestMemory, 4096) - SimTime::us(1);
    host.set_slot(0, {3, 4, 256});
    const SimTime after = host.dma_write(0, SimTime::us(3), host::kNearestMemory, 4096) - SimTime::us(3);
    const SimTime wire = after - host.nominal_write(0, 0);
    EXPECT_GT(after, before + SimTime::ns(1000));
    EXPECT_NEAR(wire.in_us(), 4096 * 8 / (104.0e3 / 4), 0.05);
}

}  // namespace
}  // namespace simverbs
