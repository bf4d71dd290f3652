// What a requester and a responder of flows do about packets that are lost, doubled, late or damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

using flow::LossRecovery;
using link::FaultKind;
using link::LinkFault;
using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<uint32_t> range(uint32_t first, uint32_t end, std::vector<uint32_t> then = {}) {
    std::vector<uint32_t> v(end - first);
    std::iota(v.begin(), v.end(), first);
    v.insert(v.end(), then.begin(), then.end());
    return v;
}

/// Two hosts, one flow of `packets` packets of 1000 bytes from h0 to h1; at 100 Gb/s over 1 us all are on their way
/// before the first ACK is back.
struct Pair : FlowRig {
    Pair(LossRecovery recovery, uint32_t packets, const std::vector<LinkFault>& of_data,
         const std::vector<LinkFault>& of_acks = {})
        : FlowRig(back_to_back()) {
        config.nics.recovery = recovery;
        config.nics.retransmission_timeout = SimTime::us(50);
        for (const LinkFault& f : of_data) config.faults.push_back({0, true, f});
        for (const LinkFault& f : of_acks) config.faults.push_back({0, false, f});
        add(0, 1, int64_t{packets} * 1000);
        build();
        requester = &tap(0);
        responder = &tap(1);
        end = fabric->run_until_done();
    }
    void expect_clean_success(int64_t bytes) {
        EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
        EXPECT_EQ(result(0).status, FlowStatus::Success);
        EXPECT_EQ(fabric->nic(1).counters().data_received, static_cast<uint64_t>(bytes)) << "each byte counts once";
        EXPECT_EQ(leftovers(*fabric), "");
    }
    PortLog* requester = nullptr;
    PortLog* responder = nullptr;
    scenarios::run::FlowRunResult end;
};

LinkFault drop(uint64_t nth) {
    return {.kind = FaultKind::Drop, .nth = nth};
}

TEST(FlowLoss, OneLostPacket_OneNak_GoBackNSendsFromItOn) {
    Pair pair(LossRecovery::GoBackN, 8, {drop(3)});
    EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, range(2, 8))));
    EXPECT_EQ(pair.responder->count(is_nak, true), 1U) << "then silence until the requester is back";
    EXPECT_EQ(pair.fabric->nic(1).counters().out_of_sequence, 5U);
    EXPECT_EQ(pair.result(0).retransmitted, 6U);
    EXPECT_EQ(pair.result(0).timeouts, 0U);
    pair.expect_clean_success(8000);
}

TEST(FlowLoss, OneLostPacket_SelectiveRepeatSendsItAlone) {
    Pair pair(LossRecovery::SelectiveRepeat, 8, {drop(3)});
    EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, {2})));
    EXPECT_EQ(pair.responder->count(is_nak, true), 5U) << "one for each packet that arrives beyond";
    EXPECT_EQ(pair.result(0).timeouts, 0U);
    pair.expect_clean_success(8000);
}

TEST(FlowLoss, SeveralLossesOfOneWindow_SelectiveRepeatSendsEachOnceWithoutATimeout) {
    Pair pair(LossRecovery::SelectiveRepeat, 200, {drop(6), drop(16), drop(17), drop(120)});
    const auto sent = pair.requester->data_sent();
    std::vector<uint32_t> again;
    std::vector<bool> seen(200, false);
    for (const uint32_t psn : sent) {
        if (seen[psn]) again.push_back(psn);
        seen[psn] = true;
    }
    EXPECT_THAT(again, ElementsAre(5, 15, 16, 116)) << "the link counts three repeated packets before the 120th";
    EXPECT_EQ(pair.result(0).timeouts, 0U);
    pair.expect_clean_success(200'000);
}

TEST(FlowLoss, ALostRetransmission_IsFoundByTheTimer) {
    Pair pair(LossRecovery::SelectiveRepeat, 8, {drop(3), drop(9)});
    EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, {2, 2})));
    EXPECT_EQ(pair.result(0).timeouts, 1U);
    pair.expect_clean_success(8000);
}

TEST(FlowLoss, ALostRetransmission_GoBackN_TheResponderStaysSilentAndTheTimerExpires) {
    Pair pair(LossRecovery::GoBackN, 4, {drop(2), drop(5)});
    EXPECT_THAT(pair.requester->data_sent(), ElementsAre(0, 1, 2, 3, 1, 2, 3, 1, 2, 3));
    EXPECT_EQ(pair.responder->count(is_nak, true), 1U);
    EXPECT_EQ(pair.result(0).timeouts, 1U);
    pair.expect_clean_success(4000);
}

TEST(FlowLoss, ALostAck_IsCoveredByTheNextOne) {
    for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat}) {
        Pair pair(recovery, 8, {}, {drop(3)});
        EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8)));
        EXPECT_EQ(pair.result(0).timeouts, 0U);
        pair.expect_clean_success(8000);
    }
}

TEST(FlowLoss, TheLastAckLost_TheTimerSendsTheLastPacketAgainAndItIsAcknowledgedAgain) {
    for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat}) {
        Pair pair(recovery, 8, {}, {drop(8)});
        EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, {7})));
        EXPECT_EQ(pair.result(0).timeouts, 1U);
        EXPECT_EQ(pair.responder->count(is_nak, true), 0U);
        pair.expect_clean_success(8000);
    }
}

TEST(FlowLoss, TheLastPacketLost_OnlyTheTimerCanTell) {
    for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat}) {
        Pair pair(recovery, 8, {drop(8)});
        EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, {7})));
        EXPECT_EQ(pair.result(0).timeouts, 1U);
        pair.expect_clean_success(8000);
    }
}

TEST(FlowLoss, ADoubledPacket_IsAcknowledgedAgainAndNothingElse) {
    for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat}) {
        Pair pair(recovery, 8, {{.kind = FaultKind::Duplicate, .nth = 3}});
        EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8)));
        EXPECT_EQ(pair.responder->count(is_ack, true), 9U);
        EXPECT_EQ(pair.responder->count(is_nak, true), 0U);
        pair.expect_clean_success(8000);
    }
}

TEST(FlowLoss, APacketThatIsOvertaken_GoBackNSendsFromItOn) {
    Pair pair(LossRecovery::GoBackN, 8, {{.kind = FaultKind::Reorder, .nth = 3, .behind = 2}});
    // In comes 0 1 3 4 2 5 6 7: a NAK for 2, and when 2 has come in time one for 3.
    EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, {2, 3, 4, 3, 4, 5, 6, 7})));
    EXPECT_EQ(pair.responder->count(is_nak, true), 2U);
    EXPECT_EQ(pair.result(0).timeouts, 0U);
    pair.expect_clean_success(8000);
}

TEST(FlowLoss, APacketThatIsOvertaken_SelectiveRepeatSendsItOnceInVain) {
    Pair pair(LossRecovery::SelectiveRepeat, 8, {{.kind = FaultKind::Reorder, .nth = 3, .behind = 2}});
    EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, {2})));
    pair.expect_clean_success(8000);
}

TEST(FlowLoss, ADamagedPacket_IsCountedAndTreatedAsLost) {
    Pair pair(LossRecovery::GoBackN, 8, {{.kind = FaultKind::Corrupt, .nth = 3}});
    EXPECT_THAT(pair.requester->data_sent(), ElementsAreArray(range(0, 8, range(2, 8))));
    EXPECT_EQ(pair.fabric->nic(1).counters().corrupt, 1U);
    pair.expect_clean_success(8000);
}

TEST(FlowLoss, ADeadLink_EndsInRetryExceededAfterRetryCntTimeoutsMore) {
    for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat}) {
        Pair pair(recovery, 8, {{.kind = FaultKind::Down}});
        EXPECT_EQ(pair.end.end, FlowRunEnd::Idle) << pair.end.dump;
        EXPECT_EQ(pair.result(0).status, FlowStatus::RetryExceeded);
        EXPECT_EQ(pair.result(0).timeouts, 8U);
        // Each of the eight timers starts when packet 0 is sent: at once after the timeout before.
        EXPECT_EQ(pair.result(0).acknowledged, SimTime::us(8 * 50));
        EXPECT_EQ(pair.result(0).received, SimTime::max());
        EXPECT_EQ(leftovers(*pair.fabric), "");
    }
}

TEST(FlowLoss, ProgressReloadsTheRetryCounter) {
    // Far more timeouts altogether than retry_cnt allows in a row.
    Pair pair(LossRecovery::GoBackN, 200, {{.kind = FaultKind::Drop, .probability = 0.3}});
    EXPECT_GT(pair.result(0).timeouts, 7U);
    pair.expect_clean_success(200'000);
}

TEST(FlowLoss, PacketsThatWaitForAPausedPort_DoNotTimeOut) {
    // The switch's egress to h1 is shared by two senders; PFC keeps h0 and h2 waiting far longer than the timeout.
    FlowRig rig = FlowRig::single_switch(3, SimTime::ns(100));
    rig.use_pfc(400'000);
    rig.config.nics.retransmission_timeout = SimTime::us(200);
    rig.add(0, 1, 4'000'000);
    rig.add(2, 1, 4'000'000);
    FlowFabric& fabric = rig.build();
    EXPECT_EQ(fabric.run_until_done().end, FlowRunEnd::Idle);
    EXPECT_GT(fabric.nic(0).flow_control().paused_time(), SimTime::us(100));
    for (const flow::FlowIndex f : {0U, 1U}) {
        EXPECT_EQ(rig.result(f).status, FlowStatus::Success);
        EXPECT_EQ(rig.result(f).retransmitted, 0U);
    }
}

TEST(FlowLoss, ALostPacketThatCannotBeSentAgainYet_CountsOneTimeout) {
    // The first packet of flow 0 is lost; a higher priority keeps the port busy for 430 us, the timer is one of 50 us.
    FlowRig rig = FlowRig::back_to_back();
    rig.config.nics.retry_cnt = 2;
    rig.config.nics.retransmission_timeout = SimTime::us(50);
    rig.config.faults.push_back({0, true, drop(1)});
    rig.add(0, 1, 2'000, {}, 1);
    rig.add(0, 1, 5'000'000, SimTime::ns(50), 5);
    EXPECT_EQ(rig.build().run_until_done().end, FlowRunEnd::Idle);
    EXPECT_EQ(rig.result(0).status, FlowStatus::Success);
    EXPECT_EQ(rig.result(0).timeouts, 1U);
}

TEST(FlowLoss, AFlowThatFailsInTheReadyList_LeavesItsNeighboursThere) {
    FlowRig rig = FlowRig::back_to_back();
    rig.config.nics.retry_cnt = 0;
    rig.config.nics.retransmission_timeout = SimTime::us(100);
    rig.config.faults.push_back({0, true, drop(2)});  // the first packet of flow 1
    for (int i = 0; i < 3; ++i) rig.add(0, 1, 5'000, {}, 1);
    rig.add(0, 1, 5'000'000, SimTime::ns(200), 5);  // starves them for 430 us
    FlowFabric& fabric = rig.build();
    PortLog& log = rig.tap(0);
    // Flows 0 and 2 wait longer for nothing than the timeout as well, but all that they sent is acknowledged.
    EXPECT_EQ(fabric.run_until_done().end, FlowRunEnd::Idle);
    EXPECT_EQ(rig.result(1).status, FlowStatus::RetryExceeded);
    EXPECT_LT(rig.result(1).acknowledged, SimTime::us(110)) << "while the port was busy with others";
    for (const flow::FlowIndex f : {0U, 2U, 3U}) EXPECT_EQ(rig.result(f).status, FlowStatus::Success) << f;
    for (const PortLog::Entry& e : log.entries)
        EXPECT_FALSE(e.out && e.packet.dest_qp == 1 && e.time > rig.result(1).acknowledged)
            << "it sends nothing any more";
    EXPECT_EQ(leftovers(fabric), "");
}

TEST(FlowLoss, TailsCountBehindAFaultyLinkAsBehindAGoodOne) {
    SimTime ends[2];
    for (const bool faulty : {false, true}) {
        FlowRig rig = FlowRig::single_switch(2);
        if (faulty)
            for (uint32_t l = 0; l < 2; ++l)
                for (const bool from_a : {true, false}) rig.config.faults.push_back({l, from_a, drop(1'000'000)});
        rig.add(0, 1, 50'000);
        rig.build().run_until_done();
        ends[faulty ? 1 : 0] = rig.result(0).acknowledged;
    }
    EXPECT_EQ(ends[0], ends[1]) << "a fault that does not fire changes nothing";
}

}  // namespace
}  // namespace simverbs::test
