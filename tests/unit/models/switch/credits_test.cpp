// InfiniBand's credits: the arithmetic of one end, and what they do to a fabric.
#include "models/link/credits.hpp"

#include <gtest/gtest.h>

#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

using link::Credits;

TEST(Credits, ASenderHasWhatTheBufferHasAndNoMore) {
    Credits c(1024);  // 16 blocks
    EXPECT_TRUE(c.may_send(0, 1024));
    EXPECT_FALSE(c.may_send(0, 1025));
    c.sent(0, 65);  // two blocks
    EXPECT_TRUE(c.may_send(0, 14 * 64));
    EXPECT_FALSE(c.may_send(0, 14 * 64 + 1));
    EXPECT_TRUE(c.may_send(1, 1024)) << "each VL by itself";
    EXPECT_TRUE(c.may_send(link::kManagementVl, 1 << 20)) << "VL15 takes none";
    const sim::ThrowingChecks throwing;
    EXPECT_THROW(c.sent(0, 15 * 64), sim::CheckError);
}

TEST(Credits, AReceiverThatIsSentMoreThanItHasFailsACheck) {
    const sim::ThrowingChecks throwing;
    Credits c(1024);
    c.arrived(0, 1000);
    EXPECT_THROW(c.arrived(0, 65), sim::CheckError);
}

TEST(Credits, TheTwoEndsAgreeForEverAndAcrossTheModulus) {
    // A sender and a receiver with any delay in between: what the sender has left, what is in flight and what the
    // receiver holds and has not told are the buffer, always.
    Credits sender(64 * 100), receiver(64 * 100);
    uint64_t x = 7;
    uint32_t in_receiver = 0, told_late = 0;
    std::vector<uint32_t> packets;
    uint64_t blocks_sent = 0;
    for (int i = 0; i < 20'000; ++i) {
        x = sim::mix64(x);
        const uint32_t blocks = 1 + x % 33;
        if (x >> 63 != 0 && sender.may_send(2, blocks * 64)) {
            sender.sent(2, blocks * 64);
            receiver.arrived(2, blocks * 64);
            packets.push_back(blocks);
            in_receiver += blocks;
            blocks_sent += blocks;
            ASSERT_LE(in_receiver + told_late, 100U);
        } else if (!packets.empty()) {
            in_receiver -= packets.back();
            told_late += packets.back();
            if (const auto limit = receiver.freed(2, packets.back() * 64)) {
                EXPECT_LT(*limit, link::kCreditModulus);
                sender.on_limit(2, *limit);
                told_late = 0;
            }
            packets.pop_back();
            ASSERT_LT(told_late, 100U / link::kAdvertisedParts);
        }
        ASSERT_EQ(sender.may_send(2, (100 - in_receiver - told_late) * 64), true);
        ASSERT_EQ(sender.may_send(2, (101 - in_receiver - told_late) * 64), false);
    }
    EXPECT_GT(blocks_sent, 3U * link::kCreditModulus);
}

TEST(Credits, AsMuchAsALargestPacketIsAlwaysToldInTheEnd) {
    for (uint32_t blocks = link::kLargestPacketBlocks; blocks < 700; ++blocks) {
        Credits sender(sim::ByteCount{blocks} * 64), receiver(sim::ByteCount{blocks} * 64);
        // Small packets come and go; whenever the receiver is empty, a largest one may follow.
        for (int i = 0; i < 300; ++i) {
            sender.sent(0, 30);
            receiver.arrived(0, 30);
            if (const auto limit = receiver.freed(0, 30)) sender.on_limit(0, *limit);
            ASSERT_TRUE(sender.may_send(0, link::kLargestPacketBlocks * 64)) << blocks << " blocks, packet " << i;
        }
    }
}

FlowRig infiniband(FlowRig rig, sim::ByteCount vl_buffer) {
    rig.config.layer = link::LinkLayer::InfiniBand;
    rig.config.switches.vl_buffer = vl_buffer;
    return rig;
}

/// Gb/s of payload and headers of a flow alone through one switch; links of 1 us.
double rate_with(sim::ByteCount vl_buffer) {
    constexpr int64_t kBytes = 2'000'000;
    FlowRig rig = infiniband(FlowRig::single_switch(2), vl_buffer);
    rig.config.nics.payload_bytes = 1024;
    rig.add(0, 1, kBytes);
    FlowFabric& f = rig.build();
    EXPECT_EQ(f.run_until_done().end, FlowRunEnd::Idle);
    EXPECT_EQ(leftovers(f), "");
    const double time = rig.result(0).received.in_s() - 2e-6;
    return kBytes * (1050.0 / 1024) * 8 / time / 1e9;
}

TEST(CreditsInAFabric, ABufferThatCoversTheRoundTripGivesLineRate) {
    EXPECT_GT(rate_with(64 << 10), 97.0);
    EXPECT_GT(rate_with(0), 99.0) << "without credits";
}

TEST(CreditsInAFabric, ASmallerBufferGivesItsSizeARoundTrip) {
    for (const sim::ByteCount buffer : {4'096, 8'192, 16'384}) {
        // Packets of 17 blocks; out, through, the credit back: two links and a packet's time to be forwarded.
        const double packets = static_cast<double>(buffer / 64 / 17);
        const double round_trip = 2.0e-6 + 1050 * 8 / 100e9;
        const double expected = packets * 1050 * 8 / round_trip / 1e9;
        const double rate = rate_with(buffer);
        EXPECT_LT(rate, expected * 1.05) << buffer;
        EXPECT_GT(rate, expected * 0.80) << buffer;
    }
}

TEST(CreditsInAFabric, NothingIsEverDroppedWhateverTheLoad) {
    FlowRig rig = infiniband(FlowRig::fat_tree(4), 16 << 10);
    for (uint32_t h = 1; h < 16; ++h) rig.add(h, 0, 100'000);
    for (uint32_t h = 0; h < 16; ++h) rig.add(h, (h + 7) % 16, 100'000);
    FlowFabric& f = rig.build();
    const auto end = f.run_until_done();
    EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
    for (flow::FlowIndex i = 0; i < f.flows().size(); ++i) {
        EXPECT_EQ(rig.result(i).status, FlowStatus::Success);
        EXPECT_EQ(rig.result(i).retransmitted, 0U);
    }
    EXPECT_EQ(leftovers(f), "");
}

TEST(CreditsInAFabric, ASecondVlIsNotStoppedByTheFirst) {
    // h0 and h1 (left) and h4 (right) overload h3; h2 sends to h5 over the same trunk, on its own VL or on theirs.
    const auto victim = [](uint8_t vl) {
        FlowRig rig;
        const topologies::LinkParameters link{BitRate::gbps(100), SimTime::ns(200)};
        (void)topologies::make_dumbbell(rig.topology, {3, 3, link, link});
        rig = infiniband(std::move(rig), 16 << 10);
        for (const uint32_t h : {0U, 1U, 4U}) rig.add(h, 3, 20'000'000, {}, 3);
        const auto flow = rig.add(2, 5, 1'000'000, SimTime::us(50), vl);
        FlowFabric& f = rig.build();
        (void)f.run_until_done({.time = SimTime::ms(1)});
        const auto& r = rig.result(flow);
        EXPECT_EQ(r.status, FlowStatus::Success);
        return 8e6 / (r.acknowledged - r.started).in_s() / 1e9;
    };
    EXPECT_LT(victim(3), 40.0);
    EXPECT_GT(victim(5), 85.0);
}

TEST(CreditsInAFabric, LossGivesItsCreditsBack) {
    for (const double loss : {0.01, 0.2}) {
        FlowRig rig = infiniband(FlowRig::single_switch(4, SimTime::ns(200)), 8 << 10);
        rig.config.nics.retransmission_timeout = SimTime::us(100);
        rig.config.nics.recovery = flow::LossRecovery::SelectiveRepeat;
        for (auto& l : rig.topology.links) l.packet_loss = loss;
        for (uint32_t h = 0; h < 4; ++h) rig.add(h, (h + 1) % 4, 300'000);
        FlowFabric& f = rig.build();
        const auto end = f.run_until_done();
        EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
        EXPECT_EQ(f.ended(), 4U);
        EXPECT_EQ(leftovers(f), "");
        if (loss > 0.1) continue;
        for (flow::FlowIndex i = 0; i < 4; ++i) EXPECT_EQ(rig.result(i).status, FlowStatus::Success);
    }
}

}  // namespace
}  // namespace simverbs::test
