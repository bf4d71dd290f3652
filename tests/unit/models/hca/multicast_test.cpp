// Datagrams to groups: one copy on the sender's link, one to each member port.
#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

constexpr uint32_t kQkey = 0x11111111;

/// Host h's program receives into its own place, and its first `members` have joined.
class Group {
  public:
    Group(RigOptions options, size_t members) : rig(std::move(options)) {
        QpOptions o;
        o.type = QpType::Ud;
        for (size_t h = 0; h < rig.taps.size(); ++h) {
            peers.push_back(rig.open(h, o));
            EXPECT_EQ(rig.to_init(peers[h], o), 0);
            EXPECT_EQ(rig.to_rtr(peers[h], peers[h], h, o), 0);
            EXPECT_EQ(rig.to_rts(peers[h], o), 0);
            for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(rig.receive(peers[h], 200 + i, 4096 * (i + 1), 2000), 0);
        }
        for (size_t h = 0; h < members; ++h) join(h);
        for (size_t h = 0; h < peers.size(); ++h) {
            AhAttr ah = rig.address_of(h, h);
            ah.is_global = true;
            ah.dgid = gid;
            ah.dlid = 0xC001;
            ah.hop_limit = 64;
            peers[h].ah = peers[h].hca->create_ah(rig.by(peers[h]), peers[h].pd, ah).value;
        }
    }
    void join(size_t h) { EXPECT_EQ(peers[h].hca->attach_mcast(rig.by(peers[h]), peers[h].qpn, gid, 0xC001), 0); }
    void leave(size_t h) { EXPECT_EQ(peers[h].hca->detach_mcast(rig.by(peers[h]), peers[h].qpn, gid, 0xC001), 0); }
    void send(size_t h, uint64_t wr_id, uint32_t bytes = 8) {
        const Sge sge{peers[h].base, bytes, peers[h].mr.lkey};
        SendWr wr;
        wr.wr_id = wr_id;
        wr.opcode = WrOpcode::Send;
        wr.send_flags = kSignaled;
        wr.sges = &sge;
        wr.num_sge = 1;
        wr.ah = peers[h].ah;
        wr.remote_qpn = 0xFFFFFF;
        wr.remote_qkey = kQkey;
        EXPECT_EQ(peers[h].hca->post_send(peers[h].qpn, wr, rig.now()), 0);
    }
    /// Completions of all hosts: "1:SUCCESS||200:SUCCESS".
    std::string completions() {
        rig.settle();
        std::string all;
        for (size_t h = 0; h < peers.size(); ++h) all += (h == 0 ? "" : "|") + rig.completions(peers[h]);
        return all;
    }
    size_t packets(size_t h, link::Direction direction) const {
        return static_cast<size_t>(
            std::ranges::count_if(rig.taps[h]->seen, [&](const WireTap::Seen& s) { return s.direction == direction; }));
    }

    const Gid gid = wire::parse_gid("ff0e::1234")->bytes;
    Rig rig;
    std::vector<Peer> peers;
};

RigOptions leaf_and_spine(LinkLayer layer) {
    RigOptions o;
    o.layer = layer;
    o.hosts = 6;
    o.spines = 3;
    return o;
}

class Multicast : public testing::TestWithParam<LinkLayer> {};

TEST_P(Multicast, SwitchesCopyEachDatagramToEachMemberOnce_WhoeverSends) {
    Group group(leaf_and_spine(GetParam()), 5);
    for (size_t sender = 0; sender < 6; ++sender) {
        SCOPED_TRACE("host " + std::to_string(sender) + " sends");
        group.send(sender, 1);
        std::string expected;
        for (size_t h = 0; h < 6; ++h) {
            // A sender does not hear itself: it lags by one receive from then on.
            const std::string id = std::to_string(200 + sender - (h < sender ? 1 : 0)) + ":SUCCESS";
            expected += (h == 0 ? "" : "|") + std::string(h == sender ? "1:SUCCESS" : h < 5 ? id : "");
        }
        EXPECT_EQ(group.completions(), expected);
        EXPECT_EQ(group.packets(sender, link::Direction::Out), 1U) << "one copy on the sender's link";
    }
    for (size_t h = 0; h < 5; ++h) EXPECT_EQ(group.packets(h, link::Direction::In), 5U) << h;
    EXPECT_EQ(group.packets(5, link::Direction::In), 0U) << "nobody there has joined";
    uint64_t sent = 0;
    for (size_t s = 0; s < 5; ++s)
        for (fabric::PortIndex p = 0; p < group.rig.fabric().fabric_switch(s).config().ports; ++p)
            sent += group.rig.fabric().fabric_switch(s).counters(p).tx_packets;
    // Six datagrams; each crosses two links between switches. Five have four other members, one has five.
    EXPECT_EQ(sent, 6U * 2 + 5 * 4 + 5);
    EXPECT_EQ(group.rig.fabric().pool().in_use(), 0U);
}

TEST_P(Multicast, WhoLeavesHearsNothingMore_AndAGroupWithoutMembersNobody) {
    Group group(leaf_and_spine(GetParam()), 3);
    group.send(0, 1);
    EXPECT_EQ(group.completions(), "1:SUCCESS|200:SUCCESS|200:SUCCESS|||");
    group.leave(1);
    group.send(0, 2);
    EXPECT_EQ(group.completions(), "2:SUCCESS||201:SUCCESS|||");
    group.leave(0);
    group.leave(2);
    group.send(0, 3);
    EXPECT_EQ(group.completions(), "3:SUCCESS|||||");
    group.join(5);
    group.send(0, 4);
    EXPECT_EQ(group.completions(), "4:SUCCESS|||||200:SUCCESS");
    EXPECT_EQ(group.rig.fabric().pool().in_use(), 0U);
}

TEST_P(Multicast, ReplicatedBytesArriveEverywhere_InOrder) {
    Group group(leaf_and_spine(GetParam()), 6);
    for (uint64_t i = 0; i < 1500; ++i) group.peers[0].bytes[i] = static_cast<uint8_t>(i * 7);
    for (uint64_t i = 0; i < 5; ++i) group.send(0, i, 1000);
    group.rig.settle();
    group.rig.show_memory();
    for (size_t h = 1; h < 6; ++h) {
        EXPECT_EQ(group.rig.completions(group.peers[h]), "200:SUCCESS 201:SUCCESS 202:SUCCESS 203:SUCCESS 204:SUCCESS");
        const uint8_t* got = group.peers[h].bytes + 4096 + 40;
        EXPECT_TRUE(std::equal(got, got + 1000, group.peers[0].bytes)) << h;
    }
}

INSTANTIATE_TEST_SUITE_P(Layers, Multicast, testing::Values(LinkLayer::Ethernet, LinkLayer::InfiniBand),
                         [](const auto& layer) {
                             return std::string(layer.param == LinkLayer::Ethernet ? "Ethernet" : "InfiniBand");
                         });

}  // namespace
}  // namespace simverbs::test
