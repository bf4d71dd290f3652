// InfiniBand's VL arbitration: two tables, weights, the Limit of High-Priority.
#include "models/link/vl_arbiter.hpp"

#include <gtest/gtest.h>

#include <array>

namespace simverbs::link {
namespace {

constexpr uint32_t kPacket = 2048;

/// Bytes of each VL after `packets` choices, all VLs of `sendable` always having a packet.
std::array<uint32_t, kVls> sent(const VlArbitration& tables, uint32_t sendable, int packets,
                                std::array<uint32_t, kVls> sizes = {}) {
    VlArbiter arbiter;
    std::array<uint32_t, kVls> bytes{};
    const auto bytes_of = [&](uint32_t vl) { return sizes[vl] != 0 ? sizes[vl] : kPacket; };
    for (int i = 0; i < packets; ++i) {
        const uint32_t vl = arbiter.choose(tables, sendable, bytes_of);
        bytes[vl] += bytes_of(vl);
    }
    return bytes;
}

TEST(VlArbiter, VlsOfATableShareBytesByWeightWhateverTheirPackets) {
    VlArbitration tables;
    tables.low = {1, 2, 4};
    const auto bytes = sent(tables, 0b111, 7000, {4096, 256, 1024});
    const double sum = bytes[0] + bytes[1] + bytes[2];
    EXPECT_NEAR(bytes[0] / sum, 1.0 / 7, 0.01);
    EXPECT_NEAR(bytes[1] / sum, 2.0 / 7, 0.01);
    EXPECT_NEAR(bytes[2] / sum, 4.0 / 7, 0.01);
}

TEST(VlArbiter, TheHighTableGoesFirstAndSharesByItsOwnWeights) {
    VlArbitration tables;
    tables.high = {0, 64, 192};
    tables.low = {64, 0, 0};
    const auto bytes = sent(tables, 0b111, 4000);
    EXPECT_EQ(bytes[0], 0U);
    EXPECT_NEAR(static_cast<double>(bytes[2]) / bytes[1], 3.0, 0.05);
}

TEST(VlArbiter, TheLimitIsInUnitsOf4KiBAndZeroMeansAPacket) {
    VlArbitration tables;
    tables.high = {0, 64};
    tables.low = {64};
    for (const auto& [limit, packets] : {std::pair{0, 1}, {1, 2}, {2, 4}, {10, 20}}) {
        tables.high_limit = static_cast<uint8_t>(limit);
        const auto bytes = sent(tables, 0b11, 21 * (packets + 1));
        EXPECT_EQ(bytes[1] / kPacket, 21U * static_cast<uint32_t>(packets)) << limit;
        EXPECT_EQ(bytes[0] / kPacket, 21U) << limit;
    }
    tables.high_limit = VlArbitration::kNoLimit;
    EXPECT_EQ(sent(tables, 0b11, 1000)[0], 0U);
}

TEST(VlArbiter, AVlOfBothTablesIsServedByBoth) {
    VlArbitration tables;
    tables.high = {0, 64};
    tables.low = {64, 64};
    tables.high_limit = 0;
    const auto bytes = sent(tables, 0b11, 400);
    EXPECT_NEAR(static_cast<double>(bytes[1]) / bytes[0], 3.0, 0.1) << "each other packet, and half of the rest";
}

TEST(VlArbiter, WhatOnlyTheLowTableHasIsServedWhenNothingElseWaits) {
    VlArbitration tables;
    tables.high = {0, 64};
    tables.low = {64};
    EXPECT_EQ(sent(tables, 0b01, 10)[0], 10 * kPacket);
    tables.high_limit = 1;
    EXPECT_EQ(sent(tables, 0b10, 10)[1], 10 * kPacket);
}

}  // namespace
}  // namespace simverbs::link
