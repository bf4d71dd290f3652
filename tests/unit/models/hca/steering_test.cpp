// Which raw packet QPs get a frame.
#include "models/hca/raw/steering.hpp"

#include <gtest/gtest.h>

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
        QpAttr attr;
        attr.port_num = 1;
        attr.qp_state = QpState::Init;
        EXPECT_EQ(p.hca->modify_qp(rig.by(p), p.qpn, attr, kState | kPort), 0);
        for (const QpState s : {QpState::Rtr, QpState::Rts}) {
            attr.qp_state = s;
            EXPECT_EQ(p.hca->modify_qp(rig.by(p), p.qpn, attr, kState), 0);
        }
        return p;
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
        if (host != 1) EXPECT_EQ(rig.completions(p), "1:SUCCESS");
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
