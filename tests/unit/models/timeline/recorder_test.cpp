#include "models/timeline/recorder.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

using timeline::Event;
using timeline::EventKind;
using timeline::Fate;
using timeline::Recorder;
using timeline::Timeline;

link::LinkFault nth(uint64_t n, link::FaultKind kind = link::FaultKind::Drop) {
    link::LinkFault f;
    f.kind = kind;
    f.nth = n;
    f.by = SimTime::us(2);
    f.path = "faults[0]";
    return f;
}

/// A rig whose first two hosts, first link and switch are recorded.
class Recorded {
  public:
    explicit Recorded(const RigOptions& o = {}, size_t most = 1000) : recorder(most), rig(o) {
        for (size_t i = 0; i < 2; ++i) recorder.attach(rig.fabric().adapters(), i, "h" + std::to_string(i), "mlx5_0");
        recorder.attach(rig.fabric().fabric_link(0), "the cable");
        for (size_t i = 0; i < rig.fabric().switch_count(); ++i) recorder.attach(rig.fabric().fabric_switch(i));
    }
    Timeline take() { return recorder.take(rig.now()); }

    Recorder recorder;  // outlives what it is attached to
    Rig rig;
};

/// "SEND 3 lost", by time of sending; "again" and "copy" where they are.
std::vector<std::string> told(const Timeline& t) {
    std::vector<std::string> out;
    for (const timeline::Packet& p : t.packets) {
        std::string text = p.name + " " + std::to_string(p.psn);
        if (p.is_retransmission) text += " again";
        if (p.treatment.duplicate) text += " copy";
        if (p.treatment.delayed) text += " delayed";
        if (p.fate == Fate::Lost) text += " lost";
        if (p.fate == Fate::Corrupt) text += " corrupt";
        if (p.fate == Fate::Discarded) text += " discarded";
        if (p.fate == Fate::UnderWay) text += " under way";
        out.push_back(std::move(text));
    }
    return out;
}
using Texts = std::vector<std::string>;

std::vector<std::string> events_of(const Timeline& t, EventKind kind) {
    std::vector<std::string> out;
    for (const Event& e : t.events)
        if (e.kind == kind) out.push_back(e.text);
    return out;
}

TEST(Recorder, ALostRequestItsNakAndItsRetransmissionAreThere) {
    RigOptions o;
    o.faults_out = {nth(2)};
    Recorded r(o);
    auto [a, b] = r.rig.connect();
    for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, i, 0, 8, b.base, b.mr.rkey), 0);
    r.rig.settle();
    const Timeline t = r.take();
    EXPECT_EQ(told(t), (Texts{"RC_RDMA_WRITE_ONLY 0", "RC_RDMA_WRITE_ONLY 1 lost", "RC_RDMA_WRITE_ONLY 2",
                              "RC_ACKNOWLEDGE 0", "RC_ACKNOWLEDGE 1", "RC_RDMA_WRITE_ONLY 1 again",
                              "RC_RDMA_WRITE_ONLY 2 again", "RC_ACKNOWLEDGE 1", "RC_ACKNOWLEDGE 2"}));
    EXPECT_EQ(t.packets[1].what_happened, "dropped on the cable (fault 'faults[0]')");
    EXPECT_EQ(events_of(t, EventKind::Fault),
              Texts{"RC_RDMA_WRITE_ONLY, PSN 1: dropped on the cable (fault 'faults[0]')"});
    EXPECT_EQ(events_of(t, EventKind::Nak), Texts{"NAK, PSN sequence error, PSN 1"});
    EXPECT_EQ(events_of(t, EventKind::Retransmission),
              (Texts{"RC_RDMA_WRITE_ONLY, PSN 1: sent again", "RC_RDMA_WRITE_ONLY, PSN 2: sent again"}));
    EXPECT_EQ(t.packets_sent, t.packets.size());
    EXPECT_FALSE(t.cut.has_value());
}

TEST(Recorder, ADatagramToAGroupIsOnePacketForEachMember_EachWithItsPort) {
    RigOptions o;
    o.hosts = 3;
    Recorded r(o);
    r.recorder.attach(r.rig.fabric().adapters(), 2, "h2", "mlx5_0");
    QpOptions q;
    q.type = QpType::Ud;
    std::vector<Peer> peers;
    const Gid group = wire::parse_gid("ff0e::1234")->bytes;
    for (size_t h = 0; h < 3; ++h) {
        peers.push_back(r.rig.open(h, q));
        ASSERT_EQ(r.rig.to_init(peers[h], q), 0);
        ASSERT_EQ(r.rig.to_rtr(peers[h], peers[h], h, q), 0);
        ASSERT_EQ(r.rig.to_rts(peers[h], q), 0);
        if (h == 0) continue;
        ASSERT_EQ(peers[h].hca->attach_mcast(r.rig.by(peers[h]), peers[h].qpn, group, 0), 0);
    }
    AhAttr ah = r.rig.address_of(1, 0);
    ah.dgid = group;
    const Sge sge{peers[0].base, 8, peers[0].mr.lkey};
    SendWr wr;
    wr.opcode = WrOpcode::Send;
    wr.sges = &sge;
    wr.num_sge = 1;
    wr.ah = peers[0].hca->create_ah(r.rig.by(peers[0]), peers[0].pd, ah).value;
    wr.remote_qpn = 0xFFFFFF;
    ASSERT_EQ(peers[0].hca->post_send(peers[0].qpn, wr, r.rig.now()), 0);
    r.rig.settle();
    const Timeline t = r.take();
    ASSERT_EQ(t.packets.size(), 2U);
    for (const timeline::Packet& p : t.packets) {
        EXPECT_EQ(p.fate, Fate::Received);
        EXPECT_FALSE(p.treatment.duplicate);
        EXPECT_EQ(t.ports[p.from].host, "h0");
    }
    EXPECT_EQ((std::set{t.ports[t.packets[0].to].host, t.ports[t.packets[1].to].host}),
              (std::set<std::string>{"h1", "h2"}));
}

TEST(Recorder, PacketsKnowTheirPortsAndQueuePairs_TimesAreThoseOfTheFirstAndTheLastBit) {
    Recorded r;
    auto [a, b] = r.rig.connect();
    ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, 5, 0, 1000, b.base, b.mr.rkey), 0);
    r.rig.settle();
    const Timeline t = r.take();
    ASSERT_EQ(t.packets.size(), 2U);
    const timeline::Packet& request = t.packets[0];
    EXPECT_EQ(t.ports[request.from].host, "h0");
    EXPECT_EQ(t.ports[request.to].host, "h1");
    EXPECT_EQ(t.queue_pairs[request.source].qpn, a.qpn);
    EXPECT_EQ(t.queue_pairs[request.dest].qpn, b.qpn);
    EXPECT_EQ(t.queue_pairs[request.source].peer, request.dest);
    EXPECT_EQ(request.payload_bytes, 1000U);
    EXPECT_TRUE(request.ack_req);
    ASSERT_EQ(request.headers.size(), 1U);
    EXPECT_NE(request.headers[0].find("DMA length 1000"), std::string::npos);
    const timeline::Packet& ack = t.packets[1];
    EXPECT_EQ(ack.source, request.dest);
    EXPECT_GE(ack.sent, request.received) << "an ACK leaves when the last bit is there";
    EXPECT_GT(request.received - request.sent, SimTime::ps(8 * 1000 * 10)) << "1000 bytes take 80 ns at 100 Gb/s";
}

TEST(Recorder, StatesFollowTheProgramAndTheAdapter) {
    RigOptions o;
    link::LinkFault all;
    all.every = 1;
    o.faults_out = {all};
    Recorded r(o);
    QpOptions q;
    q.timeout = 1;
    q.retry_cnt = 1;
    auto [a, b] = r.rig.connect(q);
    ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, 5, 0, 8, b.base, b.mr.rkey), 0);
    r.rig.settle();
    const Timeline t = r.take();
    std::string states;
    for (const timeline::StateChange& s : t.states)
        if (t.queue_pairs[s.qp].qpn == a.qpn && t.queue_pairs[s.qp].port == 0)
            states += std::string(hca::name_of(s.to)) + (s.by_program ? " " : "! ");
    EXPECT_EQ(states, "RESET INIT RTR RTS ERR! ");
    EXPECT_EQ(
        events_of(t, EventKind::AckTimeout),
        (Texts{"local ACK timeout: goes back to PSN 0, 0 of its retries left", "local ACK timeout: no retry is left"}));
    EXPECT_EQ(events_of(t, EventKind::ErrorState).size(), 1U);
    EXPECT_EQ(events_of(t, EventKind::ErrorCompletion), Texts{"send wr_id 0x5: RETRY_EXC_ERR"});
    ASSERT_EQ(t.work.size(), 1U);
    EXPECT_EQ(t.work[0].status, WcStatus::RetryExcErr);
}

TEST(Recorder, WorkRequestsGoFromTheirPostToTheirCqe) {
    Recorded r;
    auto [a, b] = r.rig.connect();
    ASSERT_EQ(r.rig.receive(b, 20, 0, 4096), 0);
    ASSERT_EQ(r.rig.receive(b, 21, 0, 4096), 0);
    ASSERT_EQ(r.rig.send(a, WrOpcode::Send, 10, 0, 2000), 0);
    r.rig.settle();
    const size_t unsignaled = 0;
    ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, 11, 0, 8, b.base, b.mr.rkey, unsignaled), 0);
    r.rig.settle();
    const Timeline t = r.take();
    ASSERT_EQ(t.work.size(), 4U);
    const auto find = [&](uint64_t id) { return *std::ranges::find(t.work, id, &timeline::WorkRequest::wr_id); };
    EXPECT_TRUE(find(10).has_cqe);
    EXPECT_EQ(find(10).length, 2000U);
    EXPECT_EQ(*find(10).completed, a.sink->cqes[0].at);
    EXPECT_EQ(find(20).length, 2000U) << "of a receive: what came";
    EXPECT_EQ(*find(20).completed, b.sink->cqes[0].at);
    EXPECT_FALSE(find(21).completed.has_value());
    EXPECT_EQ(find(21).open_until, t.end);
    EXPECT_TRUE(find(11).completed.has_value());
    EXPECT_FALSE(find(11).has_cqe);
}

TEST(Recorder, ReceivesOfASharedQueueBelongToTheQpThatTookThem) {
    Recorded r;
    QpOptions q;
    q.with_srq = true;
    auto [a, b] = r.rig.connect(q);
    ASSERT_EQ(r.rig.receive(b, 20, 0, 4096), 0);
    ASSERT_EQ(r.rig.send(a, WrOpcode::Send, 10, 0, 64), 0);
    r.rig.settle();
    const Timeline t = r.take();
    const auto receive = *std::ranges::find(t.work, uint64_t{20}, &timeline::WorkRequest::wr_id);
    EXPECT_TRUE(receive.from_srq);
    ASSERT_NE(receive.qp, timeline::kNone);
    EXPECT_EQ(t.queue_pairs[receive.qp].qpn, b.qpn);
}

TEST(Recorder, WhatFaultsDoToPacketsIsMarked) {
    RigOptions o;
    o.faults_out = {nth(1, link::FaultKind::Delay), nth(2, link::FaultKind::Duplicate),
                    nth(3, link::FaultKind::Corrupt)};
    Recorded r(o);
    auto [a, b] = r.rig.connect();
    for (uint64_t i = 0; i < 3; ++i) {
        ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, i, 0, 8, b.base, b.mr.rkey), 0);
        r.rig.settle();
    }
    const Timeline t = r.take();
    Texts requests;
    for (const std::string& text : told(t))
        if (text.starts_with("RC_RDMA")) requests.push_back(text);
    EXPECT_EQ(requests, (Texts{"RC_RDMA_WRITE_ONLY 0 delayed", "RC_RDMA_WRITE_ONLY 1", "RC_RDMA_WRITE_ONLY 1 copy",
                               "RC_RDMA_WRITE_ONLY 2 corrupt", "RC_RDMA_WRITE_ONLY 2 again"}));
    EXPECT_EQ(events_of(t, EventKind::Fault).size(), 3U) << "the copy is no fault of its own";
    EXPECT_EQ(t.packets_sent + 1, t.packets.size());
}

TEST(Recorder, AReceiverThatIsNotReadyIsAnRnrNak) {
    Recorded r;
    auto [a, b] = r.rig.connect();
    ASSERT_EQ(r.rig.send(a, WrOpcode::Send, 10, 0, 64), 0);
    r.rig.settle(SimTime::us(5));
    ASSERT_EQ(r.rig.receive(b, 20, 0, 4096), 0);
    r.rig.settle();
    const Timeline t = r.take();
    EXPECT_EQ(events_of(t, EventKind::RnrNak), Texts{"RNR NAK, wait 0.01 ms, PSN 0"});
    EXPECT_EQ(events_of(t, EventKind::Retransmission), Texts{"RC_SEND_ONLY, PSN 0: sent again"});
}

TEST(Recorder, OnlyTheFirstPacketsAreKept_TheRestIsCounted) {
    RigOptions o;
    o.faults_out = {nth(1), nth(9)};
    Recorded r(o, 4);
    auto [a, b] = r.rig.connect();
    for (uint64_t i = 0; i < 8; ++i) {
        ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, i, 0, 8, b.base, b.mr.rkey), 0);
        r.rig.settle();
    }
    const Timeline t = r.take();
    EXPECT_LE(t.packets.size(), 4U);
    EXPECT_GE(t.packets.size(), 3U);
    EXPECT_EQ(t.packets_sent, 18U) << "8 requests, 2 of them again, and 8 ACKs";
    ASSERT_TRUE(t.cut.has_value());
    EXPECT_LT(t.packets.back().sent, *t.cut);
    EXPECT_EQ(t.faults_left_out, 1U);
    EXPECT_EQ(t.retransmissions_left_out, 1U);
    EXPECT_EQ(t.work.size() + t.work_left_out, 8U);
    for (const timeline::WorkRequest& w : t.work) EXPECT_LT(w.posted, *t.cut);
}

TEST(Recorder, ASwitchThatDiscardsIsNamed) {
    RigOptions o;
    o.through_switch = true;
    o.hosts = 3;
    o.switch_queue_bytes = 0;
    Recorded r(o);
    auto [a, b] = r.rig.connect({}, 0, 1);
    auto [c, d] = r.rig.connect({}, 2, 1);
    // Two hosts send to one, and nothing may wait.
    for (uint64_t i = 0; i < 20; ++i) {
        ASSERT_EQ(r.rig.send(c, WrOpcode::RdmaWrite, i, 0, 1024, d.base, d.mr.rkey), 0);
        ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, i, 0, 1024, b.base, b.mr.rkey), 0);
    }
    r.rig.settle();
    const Timeline t = r.take();
    const auto discarded = std::ranges::find(t.packets, Fate::Discarded, &timeline::Packet::fate);
    ASSERT_NE(discarded, t.packets.end());
    EXPECT_EQ(discarded->what_happened, "discarded by switch sw0: no room in the buffer or the queue");
    EXPECT_EQ(events_of(t, EventKind::Discard).size(),
              static_cast<size_t>(std::ranges::count(t.packets, Fate::Discarded, &timeline::Packet::fate)));
}

TEST(Recorder, ACaptureOfTheSamePortSeesThePacketsToo) {
    Recorded r;
    const std::string path = testing::TempDir() + "recorded.pcap";
    ASSERT_EQ(r.rig.fabric().adapters().capture(0, 1, path), "");
    auto [a, b] = r.rig.connect();
    ASSERT_EQ(r.rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.rkey), 0);
    r.rig.settle();
    EXPECT_EQ(r.rig.fabric().adapters().close_captures(), "");
    EXPECT_EQ(r.take().packets.size(), 2U);
    EXPECT_EQ(r.rig.taps[0]->seen.size(), 2U);
    std::FILE* file = std::fopen(path.c_str(), "rb");
    ASSERT_NE(file, nullptr);
    std::fseek(file, 0, SEEK_END);
    EXPECT_GT(std::ftell(file), 24 + 2 * 16) << "a file header and two records";
    std::fclose(file);
    std::remove(path.c_str());
}

}  // namespace
}  // namespace simverbs::test
