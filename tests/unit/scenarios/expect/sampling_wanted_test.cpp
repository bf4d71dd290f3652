#include "scenarios/expect/sampling_wanted.hpp"

#include <gtest/gtest.h>

#include "tests/unit/scenarios/expect/expect_test_support.hpp"

namespace simverbs::scenarios::expect {
namespace {

SamplingWanted wanted_by(const std::vector<std::string>& statements) {
    return sampling_wanted(testing::expectations_of(statements));
}

TEST(SamplingWanted, NothingIsSampledForWhatTheEndTells) {
    const SamplingWanted wanted = wanted_by({"fct.p99 of web < 1 ms", "never drops", "queue < 1 MB",
                                             "queue.max of sw0/3 < 1 MB", "completed from 1 ms > 3",
                                             "all flows complete", "fault flap fired", "utilisation of link h3 > 1 %"});
    EXPECT_TRUE(wanted.is_empty());
    EXPECT_TRUE(wanted.instants.empty());
    EXPECT_FALSE(wanted.needs_interval);
}

TEST(SamplingWanted, BoundsNeedSamplesAtTheirInstants) {
    const SamplingWanted wanted = wanted_by({"utilisation of link h3 from 5 ms until 9 ms > 97 %",
                                             "throughput of web from 5 ms > 1 Gb/s", "drops until 2 ms == 0"});
    EXPECT_EQ(wanted.instants, (std::vector{sim::SimTime::ms(2), sim::SimTime::ms(5), sim::SimTime::ms(9)}));
    EXPECT_FALSE(wanted.needs_interval);
    const SampledParts parts = sampled_parts(wanted, testing::sample_result());
    EXPECT_EQ(parts.ports, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(parts.flows, (std::vector<uint32_t>{0, 1, 2, 3}));
    EXPECT_TRUE(parts.switches.empty());
}

TEST(SamplingWanted, WithinNeedsTenSamplesInIt) {
    const SamplingWanted wanted = wanted_by(
        {"pfc_pauses of sw0/1 within 1 ms < 9", "drops of h3 within 100 us == 0", "queue.p99 of sw0/2 < 1 KB"});
    EXPECT_TRUE(wanted.needs_interval);
    EXPECT_EQ(wanted.interval, sim::SimTime::us(10));
    EXPECT_EQ(sampled_parts(wanted, testing::sample_result()).ports, (std::vector<uint32_t>{3, 5, 6}));
}

TEST(SamplingWanted, RatesAndBuffersAreSampledAtAnyInterval) {
    const SamplingWanted wanted = wanted_by({"rate of flow web[1] > 1 Gb/s", "buffer.mean of sw0 < 1 MB"});
    EXPECT_TRUE(wanted.needs_interval);
    EXPECT_FALSE(wanted.interval.has_value());
    const SampledParts parts = sampled_parts(wanted, testing::sample_result());
    EXPECT_EQ(parts.flows, (std::vector<uint32_t>{1}));
    EXPECT_EQ(parts.switches, (std::vector<uint32_t>{0}));
}

}  // namespace
}  // namespace simverbs::scenarios::expect
