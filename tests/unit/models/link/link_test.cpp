// Links: timing, bytes, faults, taps; and the slabs of packet extras.
#include "models/link/link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/wire/opcode.hpp"
#include "sim/activity.hpp"
#include "sim/check.hpp"
#include "sim/engine.hpp"
#include "tests/support/traffic_node.hpp"

namespace simverbs::link {
namespace {

using sim::SimTime;

struct Got {
    int64_t ps;
    uint32_t psn;
    uint32_t flags;
    bool operator==(const Got&) const = default;
};

class Tap final : public PacketObserver {
  public:
    void on_packet(SimTime time, const wire::Packet& packet, Direction direction) override {
        (direction == Direction::Out ? out : in).push_back({time.in_ps(), packet.psn, packet.flags});
    }
    std::vector<Got> in;
    std::vector<Got> out;
};

/// Two nodes and a cable of 10 m at 100 Gb/s: 80 ps a byte, 50 ns.
class LinkTest : public ::testing::Test {
  protected:
    void build(std::vector<LinkFault> faults, uint64_t packets, uint64_t seed = 1, unsigned threads = 1) {
        cable.reset();  // belongs to the engine of the build before
        engine.emplace(sim::EngineConfig{.threads = threads, .seed = seed});
        a = std::make_unique<test::TrafficNode>(
            test::TrafficConfig{.self = 1, .dest = 2, .packets = packets, .first = SimTime::ns(7)});
        b = std::make_unique<test::TrafficNode>(test::TrafficConfig{.self = 2});
        engine->add_node(*a, 0);
        engine->add_node(*b, 1);
        params.propagation = kPropagationPerMetre * 10;
        cable =
            std::make_unique<Link>(*engine, params, LinkEnd{a->id(), "a/1", {}}, LinkEnd{b->id(), "b/1", {}}, &pool);
        if (!faults.empty()) cable->set_faults_a_to_b(std::move(faults));
        a->attach_port(cable->wiring_a());
        b->attach_port(cable->wiring_b());
        a->port().egress.observer = &tap_a;
        b->port().ingress.observer = &tap_b;
    }
    std::vector<uint32_t> arrived_psns() const {
        std::vector<uint32_t> out;
        for (const Got& g : tap_b.in) out.push_back(g.psn);
        return out;
    }

    LinkParams params;
    wire::PacketPool pool{2};
    std::optional<sim::Engine> engine;
    std::unique_ptr<Link> cable;
    std::unique_ptr<test::TrafficNode> a;
    std::unique_ptr<test::TrafficNode> b;
    Tap tap_a;
    Tap tap_b;
};

TEST_F(LinkTest, AHeaderArrivesAfterTheLatencyAndPacketsFollowAtTheLineRate) {
    build({}, 3);
    engine->run();
    // 1000 bytes in a RoCEv2 frame over IPv4 take 1000 + 82 byte times.
    const int64_t packet_ps = 1082 * 80;
    EXPECT_EQ(tap_a.out, (std::vector<Got>{{7'000, 0, 0}, {7'000 + packet_ps, 1, 0}, {7'000 + 2 * packet_ps, 2, 0}}));
    EXPECT_EQ(tap_b.in, (std::vector<Got>{{57'000, 0, 0}, {57'000 + packet_ps, 1, 0}, {57'000 + 2 * packet_ps, 2, 0}}));
    wire::Packet p;
    p.arrival = SimTime::ns(57);
    p.opcode = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::WriteMiddle);
    p.payload_bytes = 1000;
    EXPECT_EQ(b->port().ingress.tail_time(p), SimTime::ps(57'000 + packet_ps));
}

TEST_F(LinkTest, SendingOnABusyPortIsABug) {
    const sim::ThrowingChecks throwing;
    build({}, 1);
    engine->run();
    wire::Packet p;
    EXPECT_THROW(a->port().egress.transmit(p, 100, a->port().egress.busy_until - SimTime::ps(1)), sim::CheckError);
}

TEST_F(LinkTest, EveryThirdPacketIsDroppedAndCounted) {
    build({{.kind = FaultKind::Drop, .every = 3, .path = "faults[0]"}}, 10);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 3, 4, 6, 7, 9}));
    const auto reports = cable->fault_reports();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].fired, 3U);
    EXPECT_EQ(reports[0].path, "faults[0]");
}

TEST_F(LinkTest, TheNthPacketAloneIsDropped) {
    build({{.kind = FaultKind::Drop, .nth = 2}}, 4);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 2, 3}));
}

TEST_F(LinkTest, RandomLossHasItsProbabilityAndDependsOnTheSeedAlone) {
    std::vector<std::vector<uint32_t>> runs;
    for (const uint64_t seed : {1, 1, 2}) {
        tap_b = {};
        build({{.kind = FaultKind::Drop, .probability = 0.1}}, 20'000, seed);
        engine->run();
        runs.push_back(arrived_psns());
        EXPECT_NEAR(static_cast<double>(runs.back().size()), 18'000, 200);
    }
    EXPECT_EQ(runs[0], runs[1]);
    EXPECT_NE(runs[0], runs[2]);
}

TEST_F(LinkTest, CorruptAndMarkedPacketsArriveWithTheirFlag) {
    build({{.kind = FaultKind::Corrupt, .nth = 1}, {.kind = FaultKind::EcnMark, .nth = 2}}, 3);
    engine->run();
    ASSERT_EQ(tap_b.in.size(), 3U);
    EXPECT_EQ(tap_b.in[0].flags, wire::kCorrupt);
    EXPECT_EQ(tap_b.in[1].flags, wire::kFecn);
    EXPECT_EQ(tap_b.in[2].flags, 0U);
    EXPECT_EQ(b->corrupt(), 1U);
}

TEST_F(LinkTest, ADuplicateComesRightBehindItsOriginal) {
    build({{.kind = FaultKind::Duplicate, .nth = 2}}, 3);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 1, 2}));
}

TEST_F(LinkTest, ADelayedPacketIsOvertaken) {
    build({{.kind = FaultKind::Delay, .nth = 1, .by = SimTime::ns(100)}}, 3);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{1, 0, 2}));
    EXPECT_EQ(tap_b.in[1].ps, 57'000 + 100'000);
}

TEST_F(LinkTest, ADelayedPacketArrivesLongAfterTheLastOne) {
    build({{.kind = FaultKind::Delay, .nth = 3, .by = SimTime::ms(5)}}, 3);
    EXPECT_EQ(engine->run().end, sim::RunEnd::Idle);
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 2}));
    EXPECT_EQ(tap_b.in[2].ps, 57'000 + 2 * 1082 * 80 + 5'000'000'000);
}

TEST_F(LinkTest, AReorderedPacketComesOutBehindThoseThatFollow) {
    build({{.kind = FaultKind::Reorder, .nth = 2, .behind = 2}}, 5);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 2, 3, 1, 4}));
}

TEST_F(LinkTest, AReorderedPacketWithNothingBehindItStillArrives) {
    build({{.kind = FaultKind::Reorder, .nth = 3}}, 3);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 2}));
    EXPECT_EQ(tap_b.in[2].ps, 57'000 + 2 * 1082 * 80 + kReorderPatience.in_ps());
}

TEST_F(LinkTest, WhileTheLinkIsDownNothingArrives) {
    build({{.kind = FaultKind::Down, .from = SimTime::ns(100), .until = SimTime::ns(300)}}, 4);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 3}));
    EXPECT_EQ(cable->fault_reports()[0].fired, 2U);
}

TEST_F(LinkTest, APacketIsChosenByItsPsn) {
    build({{.kind = FaultKind::Drop, .match = HeaderMatch{.psn = 2}}}, 5);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 3, 4}));
    EXPECT_EQ(cable->fault_reports()[0].fired, 1U);
}

TEST_F(LinkTest, EveryMemberOfAMatchMustFit) {
    const uint32_t opcode = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::WriteMiddle);
    const uint32_t other = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::SendOnly);
    build({{.kind = FaultKind::Drop, .match = HeaderMatch{.psn = 1, .opcode = other}, .path = "no such opcode"},
           {.kind = FaultKind::Drop, .match = HeaderMatch{.dest_qp = 77}, .path = "no such QP"},
           {.kind = FaultKind::Drop, .match = HeaderMatch{.psn = 3, .opcode = opcode}, .path = "fits"}},
          0);
    for (uint32_t psn = 0; psn < 5; ++psn) {
        wire::Packet p;
        p.arrival = SimTime::ns(100 + 100 * psn);
        p.dest_qp = 5;
        p.psn = psn;
        p.opcode = opcode;
        a->port().egress.channel->push(p);
    }
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 2, 4}));
    for (const FaultReport& report : cable->fault_reports())
        EXPECT_EQ(report.fired, report.path == "fits" ? 1U : 0U) << report.path;
}

TEST_F(LinkTest, TheNthMatchIsCountedAmongMatchesAlone) {
    build({{.kind = FaultKind::Drop, .match = HeaderMatch{.dest_qp = 5, .nth = 2}}}, 0);
    for (const auto& [qp, psn] : {std::pair{4U, 0U}, {5U, 1U}, {4U, 2U}, {5U, 3U}, {5U, 4U}}) {
        wire::Packet p;
        p.arrival = SimTime::ns(100 + 100 * psn);
        p.dest_qp = qp;
        p.psn = psn;
        a->port().egress.channel->push(p);
    }
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 2, 4}));
}

TEST_F(LinkTest, MatchesBeforeTheFaultsTimeDoNotCount) {
    // The packets' headers arrive at 57 ns and then every 86.56 ns.
    build({{.kind = FaultKind::Drop, .match = HeaderMatch{.nth = 2}, .from = SimTime::ns(100)}}, 5);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 1, 3, 4}));
}

TEST_F(LinkTest, AFaultActsOnNoMorePacketsThanItMay) {
    build({{.kind = FaultKind::Drop, .every = 2, .most = 2}}, 10);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 2, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(cable->fault_reports()[0].fired, 2U);
}

TEST_F(LinkTest, AFlappingLinkIsDownOnceAPeriod) {
    // Arrivals: 57, 143.56, 230.12, 316.68, 403.24, 489.8, 576.36, 662.92 ns; down in [100, 200), [400, 500), not
    // later.
    build({{.kind = FaultKind::Down,
            .from = SimTime::ns(100),
            .until = SimTime::ns(600),
            .period = SimTime::ns(300),
            .down_time = SimTime::ns(100)}},
          8);
    engine->run();
    EXPECT_EQ(arrived_psns(), (std::vector<uint32_t>{0, 2, 3, 6, 7}));
    EXPECT_EQ(cable->fault_reports()[0].fired, 3U);
}

TEST_F(LinkTest, FaultsActAlikeInOneThreadAndInTwo) {
    std::vector<uint64_t> hashes;
    for (const unsigned threads : {1U, 2U}) {
        tap_b = {};
        build({{.kind = FaultKind::Drop, .probability = 0.05},
               {.kind = FaultKind::Reorder, .every = 7, .behind = 3},
               {.kind = FaultKind::Duplicate, .every = 11},
               {.kind = FaultKind::Delay, .probability = 0.1, .by = SimTime::ns(333)}},
              2000, 5, threads);
        engine->run();
        hashes.push_back(b->hash());
        EXPECT_GT(b->out_of_order(), 100U);
    }
    EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(PacketBytes, FollowFromLayerFramingAndOpcode) {
    wire::Packet p;
    p.opcode = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::WriteMiddle);
    p.payload_bytes = 4096;
    EXPECT_EQ(packet_bytes(LinkLayer::Ethernet, p), 4096U + 82);
    EXPECT_EQ(packet_bytes(LinkLayer::Ethernet, p, true), 4096U + 86);
    EXPECT_EQ(packet_bytes(LinkLayer::InfiniBand, p), 4096U + 26);
    p.framing = wire::kFramingIpv6;
    EXPECT_EQ(packet_bytes(LinkLayer::Ethernet, p), 4096U + 102);
    EXPECT_EQ(packet_bytes(LinkLayer::InfiniBand, p), 4096U + 66);
    p.framing = wire::kFramingRoceV1;
    EXPECT_EQ(packet_bytes(LinkLayer::Ethernet, p), 4096U + 94);
    // Pad, and the shortest Ethernet frame.
    p.framing = wire::kFramingBasic;
    p.payload_bytes = 1001;
    EXPECT_EQ(packet_bytes(LinkLayer::Ethernet, p), 1004U + 82);
    p.payload_bytes = 0;
    p.opcode = wire::kAckOpcode;
    EXPECT_EQ(packet_bytes(LinkLayer::Ethernet, p), 86U);
    EXPECT_EQ(packet_bytes(LinkLayer::InfiniBand, p), 30U);
}

TEST(PacketBytes, OfARawFrameAreItsOwnAndWhatSeparatesFrames) {
    for (uint32_t bytes = 14; bytes <= 1514; ++bytes) {
        wire::Packet p;
        p.framing = wire::kFramingRaw;
        p.payload_bytes = static_cast<uint16_t>(bytes);
        p.opcode = wire::raw_opcode(bytes);
        EXPECT_EQ(packet_bytes(LinkLayer::Ethernet, p), std::max(bytes, 60U) + 4 + 8 + 12) << bytes;
    }
}

TEST(PacketBytes, AgreeWithTheFrameBuilderForEveryOpcodeAndLength) {
    for (const LinkLayer layer : {LinkLayer::Ethernet, LinkLayer::InfiniBand})
        for (uint32_t framing = 0; framing < 3; ++framing)
            for (uint32_t opcode = 0; opcode < 256; ++opcode)
                for (const uint16_t payload : {0, 1, 8, 63, 4096}) {
                    wire::Packet p;
                    p.framing = framing;
                    p.opcode = opcode;
                    p.payload_bytes = payload;
                    const auto type = link_type(layer, framing);
                    ASSERT_EQ(packet_bytes(layer, p),
                              wire::frame_overhead(type, static_cast<uint8_t>(opcode), payload).wire_bytes());
                }
}

class CountingStreams final : public wire::PayloadStreams {
  public:
    void retain(wire::StreamId) override { ++holders; }
    void release(wire::StreamId) override { --holders; }
    int holders = 0;
};

TEST(PacketPool, CountsHoldersOfAPayloadOverDuplicateAndRelease) {
    CountingStreams streams;
    wire::PacketPool pool(1, &streams);
    wire::Packet p;
    p.extra = pool.allocate(0);
    pool[p.extra].vaddr = 0x1234;
    pool[p.extra].payload = {.stream = 9, .length = 100, .offset = 4096};
    streams.retain(9);
    wire::Packet copy = pool.duplicate(0, p);
    EXPECT_NE(copy.extra, p.extra);
    EXPECT_EQ(pool[copy.extra].vaddr, 0x1234U);
    EXPECT_EQ(streams.holders, 2);
    EXPECT_EQ(pool.in_use(), 2U);
    pool.release(0, p);
    EXPECT_EQ(p.extra, wire::kNoExtra);
    pool.release(0, p);
    pool.release(0, copy);
    EXPECT_EQ(streams.holders, 0);
    EXPECT_EQ(pool.in_use(), 0U);
    // A reused record starts afresh.
    const wire::ExtraIndex again = pool.allocate(0);
    EXPECT_EQ(pool[again].vaddr, 0U);
    EXPECT_EQ(pool[again].payload.stream, wire::kNoStream);
}

TEST(PacketPool, RecordsTakenByOneShardAndGivenByAnotherDoNotPileUp) {
    wire::PacketPool pool(2);
    wire::ExtraIndex highest = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<wire::ExtraIndex> taken;
        taken.reserve(1000);
        for (int i = 0; i < 1000; ++i) taken.push_back(pool.allocate(0));
        for (const auto e : taken) {
            highest = std::max(highest, e);
            pool.release(1, e);
        }
    }
    EXPECT_LT(highest, 16'384U);
}

TEST_F(LinkTest, ADropReleasesTheExtraRecord) {
    build({{.kind = FaultKind::Drop, .nth = 1}, {.kind = FaultKind::Duplicate, .nth = 2}}, 0);
    wire::Packet p;
    for (int i = 0; i < 2; ++i) {
        p.extra = pool.allocate(0);
        p.arrival = SimTime::ns(100 + i);
        a->port().egress.channel->push(p);
    }
    EXPECT_EQ(pool.in_use(), 2U);
    engine->run();
    EXPECT_EQ(b->received(), 2U);
    EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace simverbs::link
