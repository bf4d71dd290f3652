#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

void fill(Peer& p, uint64_t at, uint32_t n, uint8_t seed) {
    for (uint32_t i = 0; i < n; ++i) p.bytes[at + i] = static_cast<uint8_t>(seed + i * 7);
}
bool same(const Peer& a, uint64_t at_a, const Peer& b, uint64_t at_b, uint32_t n) {
    return std::equal(a.bytes + at_a, a.bytes + at_a + n, b.bytes + at_b);
}

struct RcFlow : testing::TestWithParam<LinkLayer> {};

TEST_P(RcFlow, EveryOperationMovesTheRightBytesAndCompletesInOrder) {
    RigOptions o;
    o.layer = GetParam();
    Rig rig(o);
    auto [a, b] = rig.connect();
    fill(a, 0, 9000, 3);
    fill(b, 100000, 9000, 99);
    uint64_t counter = 41;
    std::memcpy(b.bytes + 200000, &counter, 8);
    for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(rig.receive(b, 200 + i, 300000 + i * 10000, 10000), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 256), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 2, 0, 256, b.base, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWriteWithImm, 3, 0, 5000, b.base + 20000, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, 4, 50000, 9000, b.base + 100000, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::AtomicFetchAndAdd, 5, 70000, 8, b.base + 200000, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::AtomicCmpAndSwp, 6, 70008, 8, b.base + 200000, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::SendWithImm, 7, 0, 0), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 8, 0, 9000), 0);
    rig.settle();
    rig.show_memory();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS 5:SUCCESS 6:SUCCESS 7:SUCCESS 8:SUCCESS");
    EXPECT_EQ(rig.completions(b), "200:SUCCESS 201:SUCCESS 202:SUCCESS 203:SUCCESS");
    EXPECT_TRUE(same(a, 0, b, 300000, 256));
    EXPECT_TRUE(same(a, 0, b, 0, 256));
    EXPECT_TRUE(same(a, 0, b, 20000, 5000));
    EXPECT_TRUE(same(a, 50000, b, 100000, 9000));
    EXPECT_TRUE(same(a, 0, b, 330000, 9000));
    uint64_t old = 0;
    std::memcpy(&old, a.bytes + 70000, 8);
    EXPECT_EQ(old, 41U);
    std::memcpy(&counter, b.bytes + 200000, 8);
    EXPECT_EQ(counter, 41U) << "add 0, then a compare with 0 that fails";
    EXPECT_EQ(b.sink->cqes[1].cqe.opcode, WcOpcode::RecvRdmaWithImm);
    EXPECT_EQ(b.sink->cqes[1].cqe.byte_len, 5000U);
    EXPECT_EQ(rig.fabric().pool().in_use(), 0U);
    EXPECT_EQ(rig.fabric().mover()->open_streams(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Layers, RcFlow, testing::Values(LinkLayer::Ethernet, LinkLayer::InfiniBand));

TEST(RcFlowOnce, InlineDataIsTakenAtThePost) {
    Rig rig;
    auto [a, b] = rig.connect();
    fill(a, 0, 64, 1);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 64, b.base, b.mr.rkey, kSignaled | kInline), 0);
    std::fill_n(a.bytes, 64, uint8_t{0});
    rig.settle();
    rig.show_memory();
    EXPECT_EQ(b.bytes[0], 1);
    EXPECT_EQ(b.bytes[63], static_cast<uint8_t>(1 + 63 * 7));
}

TEST(RcFlowOnce, LoopbackInsideAHostNeedsNoWire) {
    Rig rig;
    auto [a, b] = rig.connect({}, 0, 0);
    fill(a, 0, 5000, 9);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 5000, b.base, b.mr.rkey), 0);
    rig.settle();
    rig.show_memory();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    EXPECT_TRUE(same(a, 0, b, 0, 5000));
    EXPECT_TRUE(rig.taps[0]->seen.empty());
}

TEST(RcFlowOnce, AcknowledgesAreAskedForAtTheEndOfAMessageAndEvery32Packets) {
    Rig rig;
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 100 * 1024, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    EXPECT_EQ(rig.taps[0]->request_psns().size(), 100U);
    EXPECT_EQ(rig.taps[0]->count_in(0x11), 4U) << "after 32, 64, 96 and the last";
}

TEST(RcFlowOnce, ReadsBeyondMaxRdAtomicWait) {
    Rig rig;
    QpOptions o;
    o.rd_atomic = 2;
    auto [a, b] = rig.connect(o);
    for (uint64_t i = 0; i < 8; ++i)
        ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, i, i * 4096, 4096, b.base + i * 4096, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "0:SUCCESS 1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS 5:SUCCESS 6:SUCCESS 7:SUCCESS");
}

TEST(RcFlowOnce, AFencedSendWaitsForTheReadBeforeIt) {
    Rig rig;
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.receive(b, 200, 0, 4096), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, 1, 0, 4096, b.base + 8192, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 16, 0, 0, kSignaled | kFence), 0);
    rig.settle();
    const auto& seen = rig.taps[0]->seen;
    const auto last_response = std::ranges::find_if(seen, [](const auto& s) { return s.opcode == 0x0F; });
    const auto send = std::ranges::find_if(seen, [](const auto& s) { return s.opcode == 0x04; });
    ASSERT_NE(last_response, seen.end());
    ASSERT_NE(send, seen.end());
    EXPECT_LT(last_response->at, send->at);
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS");
}

TEST(RcFlowOnce, UnsignaledRequestsCompleteSilentlyAndTheNextCompletionRetiresThem) {
    Rig rig;
    auto [a, b] = rig.connect();
    for (uint64_t i = 0; i < 3; ++i)
        ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, i, 0, 8, b.base, b.mr.rkey, i == 2 ? uint32_t{kSignaled} : 0U), 0);
    rig.settle();
    ASSERT_EQ(a.sink->cqes.size(), 1U);
    EXPECT_EQ(a.sink->cqes[0].cqe.queue_tail, 3U);
}

TEST(RcFlowOnce, TheSameSeedGivesTheSameKeysAndAnotherSeedOthers) {
    const auto keys = [](uint64_t seed) {
        RigOptions o;
        o.seed = seed;
        Rig rig(o);
        const Peer p = rig.open(0);
        return std::tuple(p.mr.lkey, p.mr.rkey, p.qpn);
    };
    EXPECT_EQ(keys(1), keys(1));
    EXPECT_NE(keys(1), keys(2));
    const auto [lkey, rkey, qpn] = keys(1);
    EXPECT_NE(lkey, rkey);
}

TEST(RcFlowOnce, SqdDrainsAndRtsGoesOn) {
    Rig rig;
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 100000, b.base, b.mr.rkey), 0);
    rig.engine().run_until(rig.now() + SimTime::us(2));
    QpAttr attr;
    attr.qp_state = QpState::Sqd;
    attr.en_sqd_async_notify = 1;
    ASSERT_EQ(a.hca->modify_qp(rig.by(a), a.qpn, attr, kState | kEnSqdAsyncNotify), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 2, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    ASSERT_EQ(a.sink->events.size(), 1U);
    EXPECT_EQ(a.sink->events[0].type, EventType::SqDrained);
    ASSERT_EQ(rig.to_state(a, QpState::Rts), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "2:SUCCESS");
}

}  // namespace
}  // namespace simverbs::test
