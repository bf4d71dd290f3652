#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

using link::FaultKind;

link::LinkFault drop_nth(uint64_t n) {
    link::LinkFault f;
    f.nth = n;
    return f;
}
link::LinkFault with_probability(FaultKind kind, double p) {
    link::LinkFault f;
    f.kind = kind;
    f.probability = p;
    f.by = SimTime::us(3);
    return f;
}
using Psns = std::vector<uint32_t>;

TEST(RcLoss, OneLostRequest_OneNak_RequesterRewindsToTheNakPsn) {
    RigOptions o;
    o.faults_out = {drop_nth(3)};
    Rig rig(o);
    auto [a, b] = rig.connect();
    for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, i, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.taps[0]->request_psns(), (Psns{0, 1, 2, 3, 4, 2, 3, 4}));
    EXPECT_EQ(rig.taps[0]->count_in(0x11, 0x60), 1U);
    EXPECT_EQ(rig.completions(a), "0:SUCCESS 1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS");
    EXPECT_EQ(rig.counter(0, "packet_seq_err"), 1U);
    EXPECT_EQ(rig.counter(1, "out_of_sequence"), 2U);
}

TEST(RcLoss, TheLastPacketLost_TheTimeoutSendsItAgain) {
    RigOptions o;
    o.faults_out = {drop_nth(2)};
    Rig rig(o);
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 2, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.taps[0]->request_psns(), (Psns{0, 1, 1}));
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS");
    EXPECT_EQ(rig.counter(0, "local_ack_timeout_err"), 1U);
}

TEST(RcLoss, ALostAcknowledgeIsSentAgainForADuplicate) {
    RigOptions o;
    o.faults_in = {drop_nth(1)};
    Rig rig(o);
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.receive(b, 200, 0, 64), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.taps[0]->request_psns(), (Psns{0, 0}));
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    EXPECT_EQ(rig.completions(b), "200:SUCCESS") << "the duplicate takes no second receive";
    EXPECT_EQ(rig.counter(1, "duplicate_request"), 1U);
}

TEST(RcLoss, ALostReadResponseIsAskedForFromTheFirstMissingPacketOn) {
    RigOptions o;
    o.faults_in = {drop_nth(3)};
    Rig rig(o);
    auto [a, b] = rig.connect();
    for (uint32_t i = 0; i < 8192; ++i) b.bytes[i] = static_cast<uint8_t>(i * 31 >> 3);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, 1, 0, 8192, b.base, b.mr.rkey), 0);
    rig.settle();
    rig.show_memory();
    EXPECT_EQ(rig.taps[0]->request_psns(), (Psns{0, 2}));
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    EXPECT_TRUE(std::equal(a.bytes, a.bytes + 8192, b.bytes));
    EXPECT_EQ(rig.counter(0, "implied_nak_seq_err"), 1U);
}

TEST(RcLoss, ALostAtomicAcknowledgeIsReplayed_TheAtomicIsNotExecutedTwice) {
    RigOptions o;
    o.faults_in = {drop_nth(1)};
    Rig rig(o);
    auto [a, b] = rig.connect();
    const Sge sge{a.base, 8, a.mr.lkey};
    SendWr wr;
    wr.opcode = WrOpcode::AtomicFetchAndAdd;
    wr.send_flags = kSignaled;
    wr.sges = &sge;
    wr.num_sge = 1;
    wr.remote_addr = b.base;
    wr.rkey = b.mr.rkey;
    wr.compare_add = 5;
    ASSERT_EQ(a.hca->post_send(a.qpn, wr, rig.now()), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "0:SUCCESS");
    EXPECT_EQ(b.bytes[0], 5);
    EXPECT_EQ(rig.taps[0]->request_psns(), (Psns{0, 0}));
}

TEST(RcLoss, NoReceiveWqe_TheRnrNakIsHonouredAndTheRestFollows) {
    Rig rig;
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 8), 0);
    rig.engine().run_until(rig.now() + SimTime::us(8));
    ASSERT_EQ(rig.receive(b, 200, 0, 64), 0);
    ASSERT_EQ(rig.receive(b, 201, 64, 64), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS");
    EXPECT_EQ(rig.completions(b), "200:SUCCESS 201:SUCCESS");
    EXPECT_EQ(rig.taps[0]->count_in(0x11, 0x20), 1U);
    EXPECT_EQ(rig.counter(1, "out_of_buffer"), 1U);
}

TEST(RcLoss, ADeadPeer_RetryExceededAfterRetryCntPlusOneTimeouts) {
    link::LinkFault down;
    down.kind = FaultKind::Down;
    RigOptions o;
    o.faults_out = {down};
    Rig rig(o);
    QpOptions q;
    q.timeout = 8;
    q.retry_cnt = 3;
    auto [a, b] = rig.connect(q);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.rkey), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 2, 0, 8, b.base, b.mr.rkey), 0);
    ASSERT_EQ(rig.receive(a, 100, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:RETRY_EXC_ERR 2:WR_FLUSH_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.state(a), QpState::Err);
    const SimTime timeout = SimTime::ns(4096) * 256;
    EXPECT_NEAR(a.sink->cqes[0].at.in_us(), (timeout * 4).in_us(), 5.0);
    ASSERT_EQ(a.sink->incidents.size(), 1U);
    EXPECT_EQ(a.sink->incidents[0].check, Check::AckTimeout);
    EXPECT_NE(to_sentence(a.sink->incidents[0]).find("did not answer"), std::string::npos);
}

TEST(RcLoss, APeerThatIsDestroyedAfterItsLastCompletionStillAcknowledges) {
    RigOptions o;
    o.faults_in = {drop_nth(1)};
    Rig rig(o);
    auto [a, b] = rig.connect();
    ASSERT_EQ(rig.receive(b, 200, 0, 64), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    ASSERT_TRUE(rig.run_until([&b = b] { return !b.sink->cqes.empty(); }));
    ASSERT_EQ(b.hca->destroy_qp(rig.by(b), b.qpn), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:RETRY_EXC_ERR");
}

struct Losses : testing::TestWithParam<std::tuple<double, uint64_t>> {};

/// Mixed traffic in both directions over a link that drops, corrupts, duplicates and delays: everything ends, and ends
/// right unless a retry counter ran out.
TEST_P(Losses, EndRightOrInTheRightError) {
    const auto [p, seed] = GetParam();
    RigOptions o;
    o.seed = seed;
    o.faults_out = {with_probability(FaultKind::Drop, p), with_probability(FaultKind::Corrupt, p / 2),
                    with_probability(FaultKind::Duplicate, p / 2), with_probability(FaultKind::Delay, p / 2)};
    o.faults_in = o.faults_out;
    Rig rig(o);
    QpOptions q;
    q.retry_cnt = 7;
    q.rnr_retry = 7;
    q.timeout = 4;
    auto [a, b] = rig.connect(q);
    constexpr uint32_t kMessages = 60;
    constexpr uint32_t kStep = 12000;
    for (uint32_t i = 0; i < kMessages; ++i) rig.receive(b, 1000 + i, 2000000 + i * kStep, kStep);
    for (uint32_t i = 0; i < kMessages; ++i) {
        for (uint32_t k = 0; k < kStep; ++k) {
            a.bytes[i * kStep + k] = static_cast<uint8_t>(i + k * 13);
            b.bytes[i * kStep + k] = static_cast<uint8_t>(200 + i + k * 11);
        }
    }
    constexpr uint64_t kTarget = 1000000;
    for (uint32_t i = 0; i < kMessages; ++i) {
        const uint32_t length = 1 + (i * 2654435761U) % (kStep - 1);
        const uint64_t at = uint64_t{i} * kStep;
        switch (i % 3) {
            case 0:
                ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, i, at, length, b.base + kTarget + at, b.mr.rkey), 0);
                break;
            case 1:
                ASSERT_EQ(rig.send(a, WrOpcode::Send, i, at, length), 0);
                break;
            default:
                ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, i, kTarget + at, length, b.base + at, b.mr.rkey), 0);
        }
    }
    rig.settle();
    rig.show_memory();
    ASSERT_EQ(std::ranges::count_if(a.sink->cqes, [](const SeenCqe& c) { return c.cqe.is_send; }), kMessages);
    bool failed = false;
    uint32_t received = 0;
    for (const SeenCqe& c : a.sink->cqes) {
        const auto i = static_cast<uint32_t>(c.cqe.wr_id);
        if (c.cqe.status != WcStatus::Success) {
            EXPECT_EQ(c.cqe.status, failed ? WcStatus::WrFlushErr : WcStatus::RetryExcErr);
            failed = true;
            continue;
        }
        EXPECT_FALSE(failed) << "a success behind an error";
        const uint32_t length = 1 + (i * 2654435761U) % (kStep - 1);
        const uint64_t at = uint64_t{i} * kStep;
        bool right = false;
        if (i % 3 == 0) right = std::equal(a.bytes + at, a.bytes + at + length, b.bytes + kTarget + at);
        if (i % 3 == 1) right = std::equal(a.bytes + at, a.bytes + at + length, b.bytes + 2000000 + received++ * kStep);
        if (i % 3 == 2) right = std::equal(b.bytes + at, b.bytes + at + length, a.bytes + kTarget + at);
        EXPECT_TRUE(right) << i;
    }
    EXPECT_EQ(rig.fabric().pool().in_use(), 0U);
    EXPECT_EQ(rig.fabric().mover()->open_streams(), 0U);
    if (p <= 0.01) {
        EXPECT_FALSE(failed);
    }
}
INSTANTIATE_TEST_SUITE_P(Rates, Losses,
                         testing::Combine(testing::Values(0.0, 0.001, 0.01, 0.03, 0.1), testing::Values(1, 2, 3, 4)));

}  // namespace
}  // namespace simverbs::test
