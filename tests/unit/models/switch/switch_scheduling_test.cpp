// Who goes first: strict priorities and deficit round robin.
#include <gtest/gtest.h>

#include "tests/conformance/qbb/qbb_rig.hpp"

namespace simverbs::test {
namespace {

using fabric::SwitchConfig;
using sim::BitRate;
using sim::SimTime;

SwitchConfig weighted(uint16_t strict) {
    SwitchConfig c;
    c.ports = 6;
    c.scheduler.strict = strict;
    c.scheduler.quantum = {1500, 3000, 6000};
    return c;
}

/// Bytes of the wire that h5 got of each priority by `until`.
std::array<double, 8> bytes_by_priority(const PfcStar& star, SimTime until) {
    std::array<double, 8> bytes{};
    for (const auto& r : star.hosts[5]->received)
        if (r.time < until) bytes[r.packet.priority] += r.packet.payload_bytes + 82;
    return bytes;
}

TEST(SwitchScheduling, DeficitRoundRobinSharesByQuantaWhateverTheSizesOfPackets) {
    for (const bool same_size : {true, false}) {
        PfcStar star(weighted(0));
        for (int i = 0; i < 6; ++i) star.add();
        const uint16_t sizes[] = {1000, static_cast<uint16_t>(same_size ? 1000 : 4096),
                                  static_cast<uint16_t>(same_size ? 1000 : 256)};
        for (uint32_t p = 0; p < 3; ++p) star.hosts[p]->send({5, 40'000, sizes[p], p});
        const SimTime until = SimTime::us(800);  // all three still have packets
        star.engine.run_until(until);
        const auto bytes = bytes_by_priority(star, until);
        const double sum = bytes[0] + bytes[1] + bytes[2];
        EXPECT_NEAR(sum, 800e-6 * 12.5e9, 50'000) << "the port is never idle";
        EXPECT_NEAR(bytes[0] / sum, 1.0 / 7, 0.02 / 7);
        EXPECT_NEAR(bytes[1] / sum, 2.0 / 7, 2 * 0.02 / 7);
        EXPECT_NEAR(bytes[2] / sum, 4.0 / 7, 4 * 0.02 / 7);
    }
}

TEST(SwitchScheduling, WhatOneDoesNotUseTheOthersShare) {
    PfcStar star(weighted(0));
    for (int i = 0; i < 2; ++i) star.add();
    star.add({.rate = BitRate::gbps(10)});  // of the largest weight, but sends a tenth
    for (int i = 3; i < 6; ++i) star.add();
    for (uint32_t p = 0; p < 3; ++p) star.hosts[p]->send({5, 40'000, 1000, p});
    const SimTime until = SimTime::us(800);
    star.engine.run_until(until);
    const auto bytes = bytes_by_priority(star, until);
    const double sum = bytes[0] + bytes[1] + bytes[2];
    EXPECT_NEAR(bytes[2] / sum, 0.1, 0.002);
    EXPECT_NEAR(bytes[0] / sum, 0.3, 0.006);
    EXPECT_NEAR(bytes[1] / sum, 0.6, 0.012);
}

TEST(SwitchScheduling, AStrictClassGoesAheadOfTheWeightedOnes) {
    PfcStar star(weighted(1 << 6));
    for (int i = 0; i < 3; ++i) star.add();
    star.add({.rate = BitRate::gbps(25)});
    for (int i = 4; i < 6; ++i) star.add();
    for (uint32_t p = 0; p < 3; ++p) star.hosts[p]->send({5, 40'000, 1000, p});
    star.hosts[3]->send({5, 2'000, 1000, 6, SimTime::us(10)});
    const SimTime until = SimTime::us(600);
    star.engine.run_until(until);
    const auto bytes = bytes_by_priority(star, until);
    const double window = (600 - 10) * 1e-6 * 12.5e9;
    EXPECT_NEAR(bytes[6] / window, 0.25, 0.005) << "everything that it sends";
    EXPECT_NEAR(bytes[2] / bytes[0], 4, 0.08);
    EXPECT_NEAR(bytes[1] / bytes[0], 2, 0.04);
    // None waits longer than for the packet that is being sent. (From a slower port each is stored first.)
    SimTime worst;
    size_t i = 0;
    for (const auto& r : star.hosts[5]->received)
        if (r.packet.priority == 6) worst = std::max(worst, r.time - star.hosts[3]->sent[i++].time);
    EXPECT_LE(worst.in_ps(), 2 * 50'000 + 1082 * 320 + 1082 * 80);
}

TEST(SwitchScheduling, AmongStrictClassesTheHighestStarvesTheOthers) {
    PfcStar star(SwitchConfig{.ports = 6});
    for (int i = 0; i < 6; ++i) star.add();
    star.hosts[0]->send({5, 1000, 1000, 1});
    star.hosts[1]->send({5, 1000, 1000, 4});
    const SimTime until = SimTime::us(80);
    star.engine.run_until(until);
    const auto bytes = bytes_by_priority(star, until);
    EXPECT_LE(bytes[1], 1082 * 2);
    EXPECT_GT(bytes[4], 900 * 1082);
}

}  // namespace
}  // namespace simverbs::test
