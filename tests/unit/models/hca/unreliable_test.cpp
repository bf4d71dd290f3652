// UC, UD, SRQ, CQ events, P_Keys, multicast.
#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

QpOptions of_type(QpType t) {
    QpOptions q;
    q.type = t;
    return q;
}

TEST(Uc, WritesAndSendsArriveAndCompleteWhenTheyHaveLeft) {
    Rig rig;
    auto [a, b] = rig.connect(of_type(QpType::Uc));
    for (uint32_t i = 0; i < 9000; ++i) a.bytes[i] = static_cast<uint8_t>(i * 5);
    ASSERT_EQ(rig.receive(b, 200, 100000, 9000), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 9000, b.base, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 9000), 0);
    rig.settle();
    rig.show_memory();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS");
    EXPECT_EQ(rig.completions(b), "200:SUCCESS");
    EXPECT_TRUE(std::equal(a.bytes, a.bytes + 9000, b.bytes));
    EXPECT_TRUE(std::equal(a.bytes, a.bytes + 9000, b.bytes + 100000));
}

TEST(Uc, AMessageWithALostPacketIsLostAsAWhole_TheNextOneArrives) {
    link::LinkFault f;
    f.nth = 2;
    RigOptions o;
    o.faults_out = {f};
    Rig rig(o);
    auto [a, b] = rig.connect(of_type(QpType::Uc));
    ASSERT_EQ(rig.receive(b, 200, 0, 4096), 0);
    ASSERT_EQ(rig.receive(b, 201, 8192, 4096), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 3000), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 2000), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS");
    EXPECT_EQ(rig.completions(b), "200:SUCCESS") << "the receive that the lost one had taken serves the next";
    EXPECT_EQ(b.sink->cqes.at(0).cqe.byte_len, 2000U);
}

TEST(Uc, ABadRkeyIsDroppedInSilence) {
    Rig rig;
    auto [a, b] = rig.connect(of_type(QpType::Uc));
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.rkey ^ 1), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    EXPECT_EQ(rig.state(b), QpState::Rts);
}

TEST(Uc, ALocalErrorLeadsToSqe_ReceivesGoOn_AndRtsRecovers) {
    Rig rig;
    auto [a, b] = rig.connect(of_type(QpType::Uc));
    ASSERT_EQ(rig.receive(a, 100, 0, 4096), 0);
    const uint32_t good = a.mr.lkey;
    a.mr.lkey ^= 0x100;
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    a.mr.lkey = good;
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 2, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:LOC_PROT_ERR 2:WR_FLUSH_ERR");
    EXPECT_EQ(rig.state(a), QpState::Sqe);
    ASSERT_EQ(rig.send(b, WrOpcode::Send, 5, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "100:SUCCESS");
    QpAttr attr;
    attr.qp_state = QpState::Rts;
    ASSERT_EQ(a.hca->modify_qp(rig.by(a), a.qpn, attr, kState), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 3, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "3:SUCCESS");
}

int send_ud(Rig& rig, Peer& from, const Peer& to, uint64_t id, uint32_t length, uint32_t qkey = 0x11111111) {
    const Sge sge{from.base, length, from.mr.lkey};
    SendWr wr;
    wr.wr_id = id;
    wr.send_flags = kSignaled;
    wr.sges = &sge;
    wr.num_sge = 1;
    wr.ah = from.ah;
    wr.remote_qpn = to.qpn;
    wr.remote_qkey = qkey;
    return from.hca->post_send(from.qpn, wr, rig.now());
}

struct Ud : testing::TestWithParam<LinkLayer> {};

TEST_P(Ud, ADatagramArrivesBehindTheGrhAreaAndNamesItsSender) {
    RigOptions o;
    o.layer = GetParam();
    Rig rig(o);
    auto [a, b] = rig.connect(of_type(QpType::Ud));
    for (uint32_t i = 0; i < 1000; ++i) a.bytes[i] = static_cast<uint8_t>(i + 1);
    ASSERT_EQ(rig.receive(b, 200, 0, 2000), 0);
    ASSERT_EQ(send_ud(rig, a, b, 1, 1000), 0);
    rig.settle();
    rig.show_memory();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    ASSERT_EQ(b.sink->cqes.size(), 1U);
    const Cqe& c = b.sink->cqes[0].cqe;
    EXPECT_EQ(c.byte_len, 1040U);
    EXPECT_EQ(c.src_qp, a.qpn);
    EXPECT_TRUE(std::equal(a.bytes, a.bytes + 1000, b.bytes + 40));
    if (GetParam() == LinkLayer::Ethernet) {
        EXPECT_EQ(c.wc_flags, kWcGrh);
        EXPECT_EQ(b.bytes[20], 0x45) << "an IPv4 header in the second half";
    } else {
        EXPECT_EQ(c.wc_flags, 0);
        EXPECT_EQ(c.slid, a.hca->config().ports[0].lid);
    }
}
INSTANTIATE_TEST_SUITE_P(Layers, Ud, testing::Values(LinkLayer::Ethernet, LinkLayer::InfiniBand));

TEST(UdOnce, TheIpv4HeaderInTheGrhAreaHasTheDscpAndARightChecksum) {
    Rig rig;
    auto [a, b] = rig.connect(of_type(QpType::Ud));
    AhAttr to_b = rig.address_of(1, 0);
    to_b.traffic_class = 106;
    a.ah = a.hca->create_ah(rig.by(a), a.pd, to_b).value;
    ASSERT_EQ(rig.receive(b, 200, 0, 2000), 0);
    ASSERT_EQ(send_ud(rig, a, b, 1, 100), 0);
    rig.settle();
    rig.show_memory();
    ASSERT_EQ(rig.completions(b), "200:SUCCESS");
    const uint8_t* const header = b.bytes + 20;
    EXPECT_EQ(header[1] >> 2, 26);
    uint32_t sum = 0;
    for (size_t i = 0; i < 20; i += 2) sum += static_cast<uint32_t>(header[i]) << 8 | header[i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
    EXPECT_EQ((sum & 0xFFFF) + (sum >> 16), 0xFFFFU);
}

TEST(UdOnce, WhatDoesNotFitIsDroppedOrRefused) {
    Rig rig;
    auto [a, b] = rig.connect(of_type(QpType::Ud));
    ASSERT_EQ(send_ud(rig, a, b, 1, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a) + "|" + rig.completions(b), "1:SUCCESS|") << "no receive: dropped";
    ASSERT_EQ(rig.receive(b, 200, 0, 2000), 0);
    ASSERT_EQ(send_ud(rig, a, b, 2, 8, 0x22222222), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a) + "|" + rig.completions(b), "2:SUCCESS|") << "wrong Q_Key: dropped";
    EXPECT_EQ(b.hca->query_port(1).value.qkey_viol_cntr, 1U);
    ASSERT_EQ(send_ud(rig, a, b, 3, 5000), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "3:LOC_LEN_ERR") << "longer than the MTU";
    EXPECT_EQ(rig.state(a), QpState::Sqe);
}

TEST(UdOnce, MulticastReachesTheMembersAndNobodyElse) {
    RigOptions o;
    o.hosts = 4;
    Rig rig(o);
    std::vector<Peer> peers;
    for (size_t h = 0; h < 4; ++h) {
        peers.push_back(rig.open(h, of_type(QpType::Ud)));
        ASSERT_EQ(rig.to_init(peers[h], of_type(QpType::Ud)), 0);
        ASSERT_EQ(rig.to_rtr(peers[h], peers[h], h, of_type(QpType::Ud)), 0);
        ASSERT_EQ(rig.to_rts(peers[h], of_type(QpType::Ud)), 0);
        ASSERT_EQ(rig.receive(peers[h], 200 + h, 0, 200), 0);
    }
    const Gid group = wire::parse_gid("ff0e::1234")->bytes;
    for (size_t h = 0; h < 3; ++h) ASSERT_EQ(peers[h].hca->attach_mcast(rig.by(peers[h]), peers[h].qpn, group, 0), 0);
    AhAttr ah = rig.address_of(1, 0);
    ah.dgid = group;
    peers[0].ah = peers[0].hca->create_ah(rig.by(peers[0]), peers[0].pd, ah).value;
    Peer everybody;
    everybody.qpn = 0xFFFFFF;
    ASSERT_EQ(send_ud(rig, peers[0], everybody, 1, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(peers[0]), "1:SUCCESS");
    EXPECT_EQ(rig.completions(peers[1]), "201:SUCCESS");
    EXPECT_EQ(rig.completions(peers[2]), "202:SUCCESS");
    EXPECT_EQ(rig.completions(peers[3]), "");
    EXPECT_EQ(peers[1].hca->destroy_qp(rig.by(peers[1]), peers[1].qpn), EBUSY);
}

TEST(SrqTest, ReceivesAreSharedTheLimitFiresOnceAndTheLastWqeIsTold) {
    Rig rig;
    QpOptions q;
    q.with_srq = true;
    q.recv_wr = 15;
    auto [a, b] = rig.connect(q);
    EXPECT_EQ(b.hca->post_recv(b.qpn, {}, rig.now()), EINVAL) << "the QP has an SRQ";
    for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(rig.receive(b, 200 + i, i * 64, 64), 0);
    SrqAttr limit;
    limit.srq_limit = 3;
    ASSERT_EQ(b.hca->modify_srq(rig.by(b), b.srq, limit, kSrqLimit), 0);
    for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(rig.send(a, WrOpcode::Send, i, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(b), "200:SUCCESS 201:SUCCESS 202:SUCCESS");
    ASSERT_EQ(b.sink->events.size(), 1U);
    EXPECT_EQ(b.sink->events[0].type, EventType::SrqLimitReached);
    EXPECT_EQ(b.hca->query_srq(rig.by(b), b.srq).value.srq_limit, 0U);
    EXPECT_EQ(b.hca->destroy_srq(rig.by(b), b.srq), EBUSY);
    ASSERT_EQ(rig.to_state(b, QpState::Err), 0);
    EXPECT_EQ(b.sink->events.back().type, EventType::QpLastWqeReached);
    EXPECT_EQ(rig.completions(b), "") << "what is left belongs to the SRQ";
}

TEST(CqEvents, AnArmedCqTellsOnce_SolicitedOnlyWaitsForASolicitedOne) {
    Rig rig;
    auto [a, b] = rig.connect();
    for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(rig.receive(b, 200 + i, 0, 64), 0);
    ASSERT_EQ(b.hca->req_notify_cq(b.cq, true, rig.now()), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(b.sink->cq_events.size(), 0U);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 8, 0, 0, kSignaled | kSolicitedWr), 0);
    rig.settle();
    EXPECT_EQ(b.sink->cq_events.size(), 1U);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 3, 0, 8, 0, 0, kSignaled | kSolicitedWr), 0);
    rig.settle();
    EXPECT_EQ(b.sink->cq_events.size(), 1U) << "armed once";
    ASSERT_EQ(b.hca->req_notify_cq(b.cq, false, rig.now()), 0);
    rig.settle();
    EXPECT_EQ(b.sink->cq_events.size(), 1U) << "old completions do not count";
}

TEST(CqEvents, ACompletionBetweenArmingAndItsArrivalIsNotMissed) {
    Rig rig;
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.receive(b, 200, 0, 64), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    ASSERT_TRUE(rig.run_until([&b = b] { return !b.sink->cqes.empty(); }));
    // The adapter is ahead: the completion becomes visible later than the program's clock.
    const SimTime visible = b.sink->cqes[0].at;
    ASSERT_EQ(b.hca->req_notify_cq(b.cq, false, visible - SimTime::ns(1)), 0);
    ASSERT_EQ(b.sink->cq_events.size(), 1U);
    EXPECT_GE(b.sink->cq_events[0].second, visible);
}

TEST(Pkeys, PacketsOfAnotherPartitionAreDroppedAndCounted) {
    RigOptions o;
    o.layer = LinkLayer::InfiniBand;
    o.pkeys = {0xFFFF, 0x8001};
    Rig rig(o);
    QpOptions qa, qb;
    qa.pkey_index = 1;
    qa.retry_cnt = 0;
    Peer a = rig.open(0, qa), b = rig.open(1, qb);
    ASSERT_EQ(rig.to_init(a, qa) + rig.to_init(b, qb), 0);
    ASSERT_EQ(rig.to_rtr(a, b, 1, qa) + rig.to_rtr(b, a, 0, qb), 0);
    ASSERT_EQ(rig.to_rts(a, qa) + rig.to_rts(b, qb), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:RETRY_EXC_ERR");
    EXPECT_EQ(b.hca->query_port(1).value.bad_pkey_cntr, 1U);
}

TEST(Release, AClientThatDiesTakesItsObjectsAndNothingElse) {
    Rig rig;
    auto [a, b] = rig.connect();
    Peer other = rig.open(0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 100000, b.base, b.mr.rkey), 0);
    rig.engine().run_until(rig.now() + SimTime::us(2));
    a.hca->release_all(a.owner, rig.now());
    rig.fabric().mover()->space_gone(a.space);
    rig.settle();
    rig.show_memory();
    EXPECT_EQ(a.hca->query_qp(rig.by(a), a.qpn).error, ENOENT);
    EXPECT_EQ(other.hca->query_qp(rig.by(other), other.qpn).error, 0);
    EXPECT_EQ(other.hca->query_qp(rig.by(a), other.qpn).error, ENOENT) << "somebody else's";
    EXPECT_EQ(rig.fabric().pool().in_use(), 0U);
    EXPECT_EQ(rig.fabric().mover()->open_streams(), 0U);
}

}  // namespace
}  // namespace simverbs::test
