// What changes at a port while QPs use it.
#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

struct PortChanges : testing::Test {
    void start(const RigOptions& options = {}) {
        rig = std::make_unique<Rig>(options);
        a = rig->open(0);
        b = rig->open(1);
        ASSERT_EQ(rig->to_init(a) + rig->to_init(b), 0);
        ASSERT_EQ(rig->to_rtr(a, b, 1) + rig->to_rtr(b, a, 0), 0);
        ASSERT_EQ(rig->to_rts(a) + rig->to_rts(b), 0);
    }
    [[nodiscard]] SimTime now() const { return rig->engine().frontier(); }
    void write(uint64_t wr_id) {
        ASSERT_EQ(rig->send(a, WrOpcode::RdmaWrite, wr_id, 0, 64, b.base, b.mr.rkey), 0);
        rig->settle();
    }
    [[nodiscard]] std::vector<EventType> events(const Peer& p) const {
        std::vector<EventType> out;
        for (const AsyncEvent& e : p.sink->events) out.push_back(e.type);
        return out;
    }
    std::unique_ptr<Rig> rig;
    Peer a, b;
};

TEST_F(PortChanges, APortTellsOnlyOfComingUpAndCeasingToBe) {
    start();
    a.hca->set_port_state(1, PortState::Active, now());
    EXPECT_TRUE(a.sink->events.empty());
    a.hca->set_port_state(1, PortState::Down, now());
    EXPECT_EQ(a.hca->query_port(1).value.state, PortState::Down);
    EXPECT_EQ(a.hca->query_port(1).value.phys_state, 3);
    a.hca->set_port_state(1, PortState::Armed, now());
    a.hca->set_port_state(1, PortState::Active, now());
    EXPECT_EQ(events(a), (std::vector{EventType::PortErr, EventType::PortActive}));
    EXPECT_EQ(a.sink->events[0].owner, 0U);
    EXPECT_EQ(a.sink->events[0].object, 1U);
    EXPECT_TRUE(b.sink->events.empty());
}

TEST_F(PortChanges, ARemovedGidIsFoundByNobodyNew_TheConnectionGoesOn) {
    start();
    const Gid old = b.hca->query_gid(1, 0).value.gid;
    // RoCE v1 and v2 have an entry each for one address.
    for (uint32_t index = 0; index < b.hca->config().ports[0].gids.size(); ++index)
        if (b.hca->config().ports[0].gids[index].gid == old) b.hca->change_gid(1, index, Gid{}, now());
    EXPECT_EQ(b.hca->query_gid(1, 0).error, ENODATA);
    ASSERT_FALSE(events(b).empty());
    EXPECT_EQ(events(b)[0], EventType::GidChange);
    write(1);
    EXPECT_EQ(rig->completions(a), "1:SUCCESS");
    AhAttr ah;
    ah.is_global = true;
    ah.port_num = 1;
    ah.dgid = old;
    EXPECT_EQ(a.hca->create_ah(rig->by(a), a.pd, ah).error, ETIMEDOUT) << "nobody answers for it any more";
    ah.dgid = a.hca->query_gid(1, 0).value.gid;
    EXPECT_EQ(b.hca->create_ah(rig->by(b), b.pd, ah).error, ENODATA) << "and it is no source";
}

TEST_F(PortChanges, AnotherGidIsFoundAtOnce) {
    start();
    Gid gid{};
    gid[15] = 77;
    b.hca->change_gid(1, 0, gid, now());
    AhAttr ah;
    ah.is_global = true;
    ah.port_num = 1;
    ah.dgid = gid;
    EXPECT_EQ(a.hca->create_ah(rig->by(a), a.pd, ah).error, 0);
    EXPECT_EQ(b.hca->query_gid(1, 0).value.gid, gid);
}

TEST_F(PortChanges, AnotherPkeyOfTheResponder_PacketsAreDroppedAndTheRequesterGivesUp) {
    start({.layer = LinkLayer::InfiniBand});
    write(1);
    b.hca->change_pkey(1, 0, 0x8123, now());
    EXPECT_EQ(events(b), std::vector{EventType::PkeyChange});
    EXPECT_EQ(b.hca->query_pkey(1, 0).value, 0x8123);
    write(2);
    EXPECT_EQ(rig->completions(a), "1:SUCCESS 2:RETRY_EXC_ERR");
    EXPECT_GT(b.hca->query_port(1).value.bad_pkey_cntr, 0U);
}

TEST_F(PortChanges, BothSidesInTheNewPartitionUnderstandEachOther) {
    start({.layer = LinkLayer::InfiniBand});
    a.hca->change_pkey(1, 0, 0x8123, now());
    b.hca->change_pkey(1, 0, 0x0123, now());
    write(1);
    EXPECT_EQ(rig->completions(a), "1:SUCCESS");
}

TEST_F(PortChanges, TwoLimitedMembersDoNot) {
    start({.layer = LinkLayer::InfiniBand});
    a.hca->change_pkey(1, 0, 0x0123, now());
    b.hca->change_pkey(1, 0, 0x0123, now());
    write(1);
    EXPECT_EQ(rig->completions(a), "1:RETRY_EXC_ERR");
}

TEST_F(PortChanges, AnotherLidIsFound_TheOldOneNoMore_AndWhatIsConnectedGivesUp) {
    start({.layer = LinkLayer::InfiniBand});
    const uint16_t old = b.hca->query_port(1).value.lid;
    b.hca->change_lid(1, 40, now());
    EXPECT_EQ(events(b), std::vector{EventType::LidChange});
    AhAttr ah;
    ah.port_num = 1;
    ah.dlid = old;
    EXPECT_EQ(a.hca->create_ah(rig->by(a), a.pd, ah).error, EINVAL);
    ah.dlid = 40;
    EXPECT_EQ(a.hca->create_ah(rig->by(a), a.pd, ah).error, 0);
    write(1);
    EXPECT_EQ(rig->completions(a), "1:RETRY_EXC_ERR") << "its packets are for a LID that nobody has";
    EXPECT_EQ(events(b), std::vector{EventType::LidChange}) << "the peer hears nothing";
}

TEST_F(PortChanges, OwnLidChanges_ThePeerTakesNoPacketsFromTheNewOne) {
    start({.layer = LinkLayer::InfiniBand, .through_switch = true});
    a.hca->change_lid(1, 40, now());
    rig->taps[1]->seen.clear();
    write(1);
    EXPECT_EQ(rig->completions(a), "1:RETRY_EXC_ERR");
    EXPECT_EQ(rig->taps[1]->count_in(10), 4U) << "they arrive, and are dropped";
    EXPECT_EQ(rig->state(b), QpState::Rts);
}

TEST_F(PortChanges, TheOldLidComesBack_TheConnectionGoesOn) {
    start({.layer = LinkLayer::InfiniBand, .through_switch = true});
    const uint16_t old = b.hca->query_port(1).value.lid;
    b.hca->change_lid(1, 40, now());
    b.hca->change_lid(1, old, now());
    write(1);
    EXPECT_EQ(rig->completions(a), "1:SUCCESS");
}

TEST_F(PortChanges, ConnectedAnewWithTheNewLidItWorks) {
    start({.layer = LinkLayer::InfiniBand});
    b.hca->change_lid(1, 40, now());
    write(1);
    for (Peer* p : {&a, &b}) ASSERT_EQ(rig->to_state(*p, QpState::Reset), 0);
    ASSERT_EQ(rig->to_init(a) + rig->to_init(b), 0);
    ASSERT_EQ(rig->to_rtr(a, b, 1) + rig->to_rtr(b, a, 0), 0);
    ASSERT_EQ(rig->to_rts(a) + rig->to_rts(b), 0);
    (void)rig->completions(a);
    write(2);
    EXPECT_EQ(rig->completions(a), "2:SUCCESS");
}

TEST_F(PortChanges, ACqOverrunsBeyondItsLimit) {
    start();
    ASSERT_EQ(a.hca->limit_cq(a.cq, 2), 0);
    for (uint64_t i = 1; i <= 3; ++i) write(i);
    EXPECT_EQ(rig->completions(a), "1:SUCCESS 2:SUCCESS");
    EXPECT_EQ(events(a), (std::vector{EventType::CqErr, EventType::QpFatal}));
    EXPECT_EQ(rig->state(a), QpState::Err);
}

TEST_F(PortChanges, ACqThatHasOverrunIsDead_RoomOrNot_AndTakesItsQpsWithIt) {
    start();
    ASSERT_EQ(a.hca->limit_cq(a.cq, 2), 0);
    for (uint64_t i = 1; i <= 3; ++i) write(i);
    EXPECT_EQ(rig->completions(a), "1:SUCCESS 2:SUCCESS") << "polled: there is room again";
    // The same CQ, and a QP that is as good as new.
    ASSERT_EQ(rig->to_state(a, QpState::Reset), 0);
    ASSERT_EQ(rig->to_state(b, QpState::Reset), 0);
    ASSERT_EQ(rig->to_init(a) + rig->to_init(b), 0);
    ASSERT_EQ(rig->to_rtr(a, b, 1) + rig->to_rtr(b, a, 0), 0);
    ASSERT_EQ(rig->to_rts(a) + rig->to_rts(b), 0);
    a.sink->events.clear();
    write(4);
    EXPECT_EQ(rig->completions(a), "");
    EXPECT_EQ(events(a), std::vector{EventType::QpFatal}) << "the CQ itself has told once, and for all";
    EXPECT_EQ(rig->state(a), QpState::Err);
}

}  // namespace
}  // namespace simverbs::test
