// Which raw packet QPs get a frame.
#include "models/hca/raw/steering.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

constexpr std::array<uint8_t, 6> kBroadcast{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, kNobody{2, 0, 0, 0, 0, 99};

std::array<uint8_t, 6> mac_of(size_t host) {
    return {2, 0, 0, 0, 0, static_cast<uint8_t>(host + 1)};
}

/// Two raw packet QPs on host 1, senders on all hosts.
class RawPackets : public testing::Test {
  protected:
    RawPackets() : rig(options()) {
        QpOptions o;
        o.type = QpType::RawPacket;
        for (size_t h = 0; h < 3; ++h) senders.push_back(open(h, o));
        first = senders[1];
        second = open(1, o);
        for (uint64_t i = 0; i < 20; ++i) {
            EXPECT_EQ(rig.receive(first, 100 + i, 8192, 2000), 0);
            EXPECT_EQ(rig.receive(second, 200 + i, 8192, 2000), 0);
        }
    }
    static RigOptions options() {
        RigOptions o;
        o.hosts = 3;
        return o;
    }
    Peer open(size_t host, const QpOptions& o) {
        Peer p = rig.open(host, o);
        to_rts(p);
        return p;
    }
    void to_rts(Peer& p) {
        QpAttr attr;
        attr.port_num = 1;
        attr.qp_state = QpState::Init;
        EXPECT_EQ(p.hca->modify_qp(rig.by(p), p.qpn, attr, kState | kPort), 0);
        for (const QpState s : {QpState::Rtr, QpState::Rts}) {
            attr.qp_state = s;
            EXPECT_EQ(p.hca->modify_qp(rig.by(p), p.qpn, attr, kState), 0);
        }
    }
    uint32_t steer(const Peer& to, SteeringType type, uint16_t priority = 0, std::array<uint8_t, 6> mac = mac_of(1)) {
        SteeringRule rule;
        rule.type = type;
        rule.priority = priority;
        if (type == SteeringType::Normal) {
            std::ranges::copy(mac, rule.pattern.value.begin());
            std::fill_n(rule.pattern.mask.begin(), 6, uint8_t{0xFF});
        }
        const auto made = to.hca->create_steering(rig.by(to), to.qpn, rule);
        EXPECT_EQ(made.error, 0);
        return made.value;
    }
    void send(size_t host, std::array<uint8_t, 6> to, uint32_t bytes = 100) {
        Peer& p = senders[host];
        std::ranges::copy(to, p.bytes);
        EXPECT_EQ(rig.send(p, WrOpcode::Send, 1, 0, bytes), 0);
        rig.settle();
        if (host != 1) {
            EXPECT_EQ(rig.completions(p), "1:SUCCESS");
        }
    }
    /// Who got something since the last call: "1", "12", "".
    std::string receivers() {
        std::string who;
        if (!rig.completions(first).empty()) who += '1';
        if (!rig.completions(second).empty()) who += '2';
        return who;
    }

    Rig rig;
    std::vector<Peer> senders;
    Peer first, second;
};

TEST_F(RawPackets, WithoutARuleNoFrameIsReceived) {
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "");
}

TEST_F(RawPackets, OfNormalRulesThatFitTheLowestPriorityNumberCounts) {
    steer(first, SteeringType::Normal, 5);
    const uint32_t better = steer(second, SteeringType::Normal, 2);
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "2");
    ASSERT_EQ(second.hca->destroy_steering(rig.by(second), better), 0);
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "1");
    EXPECT_EQ(second.hca->destroy_steering(rig.by(second), better), ENOENT);
}

TEST_F(RawPackets, RulesOfOneRankAllGetTheFrame) {
    steer(first, SteeringType::Normal, 2);
    steer(second, SteeringType::Normal, 2);
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "12");
}

TEST_F(RawPackets, DefaultsTakeWhatNoNormalRuleTakes_McDefaultTakesGroupsFirst) {
    steer(first, SteeringType::AllDefault);
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "1");
    send(0, kBroadcast);
    EXPECT_EQ(receivers(), "1");
    steer(second, SteeringType::McDefault);
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "1");
    send(0, kBroadcast);
    EXPECT_EQ(receivers(), "2");
    steer(first, SteeringType::Normal, 9, kBroadcast);
    send(0, kBroadcast);
    EXPECT_EQ(receivers(), "1");
}

TEST_F(RawPackets, ASnifferGetsEveryFrame_WhoeverElseGetsIt) {
    steer(second, SteeringType::Sniffer);
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "2");
    steer(first, SteeringType::Normal);
    send(0, mac_of(1));
    EXPECT_EQ(receivers(), "12");
}

TEST_F(RawPackets, SwitchesFloodGroupsAndUnknownAddresses_AndDeliverKnownOnesToTheirPortAlone) {
    steer(first, SteeringType::Sniffer);
    send(0, mac_of(2));
    EXPECT_EQ(receivers(), "") << "another port's";
    send(0, kNobody);
    EXPECT_EQ(receivers(), "1");
    send(0, kBroadcast);
    EXPECT_EQ(receivers(), "1");
    EXPECT_EQ(rig.taps[0]->seen.size(), 3U) << "one copy each on the sender's link, and none comes back";
    EXPECT_EQ(rig.taps[2]->seen.size(), 3U);
    EXPECT_EQ(rig.fabric().pool().in_use(), 0U);
}

TEST_F(RawPackets, AnAdapterHearsItsOwnBroadcasts_ButNotTheQpThatSentThem) {
    steer(first, SteeringType::AllDefault);
    steer(second, SteeringType::AllDefault);
    send(1, kBroadcast);
    EXPECT_EQ(rig.completions(first), "1:SUCCESS") << "it has sent one, and received none";
    EXPECT_EQ(rig.completions(second), "200:SUCCESS");
    send(1, kNobody);
    EXPECT_EQ(rig.completions(second), "");
}

TEST_F(RawPackets, AFrameIsWrittenAsItWasSent_AndCountedWithoutAGrh) {
    steer(first, SteeringType::Normal);
    for (uint64_t i = 0; i < 100; ++i) senders[0].bytes[i] = static_cast<uint8_t>(i * 3);
    send(0, mac_of(1), 61);
    rig.show_memory();
    EXPECT_TRUE(std::equal(senders[0].bytes, senders[0].bytes + 61, first.bytes + 8192));
    ASSERT_FALSE(first.sink->cqes.empty());
    EXPECT_EQ(first.sink->cqes.back().cqe.byte_len, 61U);
    EXPECT_EQ(first.sink->cqes.back().cqe.wc_flags, 0U);
}

TEST_F(RawPackets, FramesThatAreTooShortOrTooLongAreLocalLengthErrors) {
    ASSERT_EQ(rig.send(senders[0], WrOpcode::Send, 1, 0, 13), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(senders[0]), "1:LOC_LEN_ERR");
    EXPECT_EQ(rig.state(senders[0]), QpState::Sqe);
    ASSERT_EQ(rig.send(senders[2], WrOpcode::Send, 2, 0, 4200 + 15), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(senders[2]), "2:LOC_LEN_ERR");
}

TEST_F(RawPackets, AQpWithRulesIsNotDestroyed_AndRulesAreOfRawPacketQpsAndExistingPorts) {
    const uint32_t rule = steer(second, SteeringType::Sniffer);
    EXPECT_EQ(second.hca->destroy_qp(rig.by(second), second.qpn), EBUSY);
    ASSERT_EQ(second.hca->destroy_steering(rig.by(second), rule), 0);
    SteeringRule wrong;
    wrong.port_num = 2;
    EXPECT_EQ(second.hca->create_steering(rig.by(second), second.qpn, wrong).error, EINVAL);
    EXPECT_EQ(second.hca->destroy_qp(rig.by(second), second.qpn), 0);
    const Peer datagrams = rig.open(1, [] {
        QpOptions o;
        o.type = QpType::Ud;
        return o;
    }());
    EXPECT_EQ(datagrams.hca->create_steering(rig.by(datagrams), datagrams.qpn, {}).error, EINVAL);
}

TEST_F(RawPackets, AnRssQpsFramesAreSpreadOverItsQueues_EachFlowToOne) {
    // The queues are of one program.
    QpInitAttr init;
    init.type = QpType::RawPacket;
    init.pd = first.pd;
    init.send_cq = init.recv_cq = first.cq;
    init.cap = {1, 32, 1, 1, 0};
    Peer other = first;
    other.qpn = first.hca->create_qp(rig.by(first), init).value.qp_num;
    to_rts(other);
    for (uint64_t i = 0; i < 20; ++i) EXPECT_EQ(rig.receive(other, 300 + i, 8192, 2000), 0);
    SteeringRule rule;
    rule.type = SteeringType::AllDefault;
    rule.spread.emplace();
    rule.spread->queues = {first.qpn, other.qpn, other.qpn, first.qpn};
    rule.spread->fields = kHashSrcPortUdp | kHashDstPortUdp;
    for (size_t i = 0; i < rule.spread->key.size(); ++i) rule.spread->key[i] = static_cast<uint8_t>(i * 37 + 5);
    ASSERT_EQ(first.hca->create_steering(rig.by(first), first.qpn, rule).error, 0);
    EXPECT_EQ(second.hca->create_steering(rig.by(second), second.qpn, rule).error, EINVAL) << "not its queues";
    uint8_t* frame = senders[0].bytes;
    frame[12] = 0x08;
    frame[14] = 0x45;
    frame[23] = 17;
    std::map<char, int> got;  // by the first digit of the receive's number
    for (uint8_t port = 0; port < 8; ++port) {
        frame[37] = port;
        send(0, mac_of(1));
        const std::string who = rig.completions(first);
        ASSERT_FALSE(who.empty());
        ++got[who[0]];
        send(0, mac_of(1));
        EXPECT_EQ(rig.completions(first)[0], who[0]) << "a flow stays where it is";
    }
    EXPECT_EQ(got['1'] + got['3'], 8);
    EXPECT_GT(got['1'], 0);
    EXPECT_GT(got['3'], 0);
}

/// Source: Microsoft, "Verifying the RSS hash calculation".
TEST(ReceiveSideScalingHash, IsThatOfTheSpecification) {
    const ToeplitzKey key{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
                          0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
                          0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
    // 66.9.149.187:2794 to 161.142.100.80:1766, TCP.
    std::array<uint8_t, 58> frame{};
    frame[12] = 0x08;
    frame[14] = 0x45;
    frame[23] = 6;
    const std::array<uint8_t, 12> flow{66, 9, 149, 187, 161, 142, 100, 80, 0x0A, 0xEA, 0x06, 0xE6};
    std::ranges::copy(flow, frame.begin() + 26);
    ReceiveSideScaling spread;
    spread.key = key;
    spread.fields = kHashSrcIpv4 | kHashDstIpv4;
    EXPECT_EQ(spread.hash_of(frame), 0x323e8fc2U);
    spread.fields = kAllHashFields;
    EXPECT_EQ(spread.hash_of(frame), 0x51ccc178U);
    frame[12] = 0x81;
    EXPECT_EQ(spread.hash_of(frame), 0U) << "none of its fields is there";
}

TEST(RawPacketQps, AnAdapterOnEthernetSaysThatItSteersFlows) {
    constexpr uint32_t kManagedFlowSteering = 1U << 29;
    RigOptions infiniband;
    infiniband.layer = LinkLayer::InfiniBand;
    Rig roce, ib(infiniband);
    EXPECT_NE(roce.fabric().nic(0).query_device().device_cap_flags & kManagedFlowSteering, 0U);
    EXPECT_EQ(ib.fabric().nic(0).query_device().device_cap_flags & kManagedFlowSteering, 0U);
}

TEST(RawPacketQps, InfiniBandAndSoftRoceHaveNone) {
    RigOptions infiniband, soft;
    infiniband.layer = LinkLayer::InfiniBand;
    soft.profile = "rxe";
    for (const RigOptions& o : {infiniband, soft}) {
        Rig rig(o);
        const Peer p = rig.open(0);
        QpInitAttr init;
        init.type = QpType::RawPacket;
        init.pd = p.pd;
        init.send_cq = init.recv_cq = p.cq;
        EXPECT_EQ(p.hca->create_qp(rig.by(p), init).error, EOPNOTSUPP);
    }
}

}  // namespace
}  // namespace simverbs::test
