#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

/// Two programs, receives posted on both sides; work behind the bad request is flushed.
struct RcError : testing::Test {
    void start(const QpOptions& oa = {}, const QpOptions& ob = {}) {
        a = rig.open(0, oa);
        b = rig.open(1, ob);
        ASSERT_EQ(rig.to_init(a, oa) + rig.to_init(b, ob), 0);
        ASSERT_EQ(rig.to_rtr(a, b, 1, oa) + rig.to_rtr(b, a, 0, ob), 0);
        ASSERT_EQ(rig.to_rts(a, oa) + rig.to_rts(b, ob), 0);
        ASSERT_EQ(rig.receive(a, 100, 0, 4096), 0);
    }
    void receives() {
        ASSERT_EQ(rig.receive(b, 200, 0, 4096), 0);
        ASSERT_EQ(rig.receive(b, 201, 4096, 4096), 0);
    }
    void follow_up() { ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 2, 0, 8, b.base, b.mr.rkey), 0); }
    MrKeys other_mr(Peer& p, uint32_t access, PdHandle pd = 0) {
        return p.hca->reg_mr(rig.by(p), {pd == 0 ? p.pd : pd, p.space, p.base, 65536, p.base, access}).value;
    }
    [[nodiscard]] EventType only_event(const Peer& p) const {
        EXPECT_EQ(p.sink->events.size(), 1U);
        return p.sink->events.empty() ? EventType::CommEst : p.sink->events[0].type;
    }
    Rig rig;
    Peer a, b;
};

TEST_F(RcError, AnUnknownRkeyIsARemoteAccessError_BothEndInErr) {
    start();
    receives();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 3000, b.base, b.mr.rkey ^ 1), 0);
    follow_up();
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_ACCESS_ERR 2:WR_FLUSH_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.completions(b), "200:WR_FLUSH_ERR 201:WR_FLUSH_ERR");
    EXPECT_EQ(rig.state(a), QpState::Err);
    EXPECT_EQ(rig.state(b), QpState::Err);
    EXPECT_EQ(only_event(b), EventType::QpAccessErr);
    ASSERT_EQ(b.sink->incidents.size(), 1U);
    EXPECT_EQ(b.sink->incidents[0].check, Check::RemoteKey);
    EXPECT_TRUE(b.sink->incidents[0].is_responder);
    ASSERT_EQ(a.sink->incidents.size(), 1U);
    EXPECT_EQ(a.sink->incidents[0].check, Check::NakReceived);
}

TEST_F(RcError, AnLkeyIsNeverAnRkey) {
    start();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.lkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_ACCESS_ERR 100:WR_FLUSH_ERR");
}

TEST_F(RcError, ReadPastTheEndOfTheMr) {
    start();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, 1, 0, 200, b.base + Rig::kMemory - 100, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_ACCESS_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(b.sink->incidents.at(0).check, Check::RemoteBounds);
}

TEST_F(RcError, ZeroLengthSkipsTheRkey) {
    start();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 0, 0x1234, 0xdeadbeef), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, 2, 0, 0, 0x1234, 0xdeadbeef), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS");
}

TEST_F(RcError, ARightMissingOnTheMrIsAnAccessError_OnTheQpAnInvalidRequest) {
    QpOptions closed;
    closed.access = kLocalWrite;
    start({}, closed);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_INV_REQ_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(only_event(b), EventType::QpReqErr);
    EXPECT_EQ(b.sink->incidents.at(0).check, Check::QpAccess);

    Rig second;
    auto [c, d] = second.connect();
    const MrKeys read_only =
        d.hca->reg_mr(second.by(d), {d.pd, d.space, d.base, 4096, d.base, kLocalWrite | kRemoteRead}).value;
    ASSERT_EQ(second.send(c, WrOpcode::RdmaWrite, 1, 0, 8, d.base, read_only.rkey), 0);
    second.settle();
    EXPECT_EQ(second.completions(c), "1:REM_ACCESS_ERR");
    EXPECT_EQ(d.sink->incidents.at(0).check, Check::RemoteAccess);
}

TEST_F(RcError, ABadLkeyIsALocalProtectionError_ThePeerNotices_Nothing) {
    start();
    a.mr.lkey ^= 0x100;
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 8, b.base, b.mr.rkey), 0);
    follow_up();
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:LOC_PROT_ERR 2:WR_FLUSH_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.state(b), QpState::Rts);
    EXPECT_TRUE(rig.taps[0]->seen.empty());
}

TEST_F(RcError, ABadLkeyBehindGoodRequestsLetsThemFinishFirst) {
    start();
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 50000, b.base, b.mr.rkey), 0);
    a.mr.lkey ^= 0x100;
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 2, 0, 8, b.base, b.mr.rkey, 0), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:LOC_PROT_ERR 100:WR_FLUSH_ERR") << "unsignaled, and told all the same";
}

TEST_F(RcError, AnMrOfAnotherPdIsALocalProtectionError) {
    start();
    const PdHandle pd = a.hca->alloc_pd(rig.by(a)).value;
    a.mr = other_mr(a, kLocalWrite, pd);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:LOC_PROT_ERR 100:WR_FLUSH_ERR");
}

TEST_F(RcError, AReceiveTooSmallIsALocalLengthErrorThereAndAnInvalidRequestHere) {
    start();
    ASSERT_EQ(rig.receive(b, 200, 0, 1500), 0);
    ASSERT_EQ(rig.receive(b, 201, 4096, 4096), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 3000), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_INV_REQ_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.completions(b), "200:LOC_LEN_ERR 201:WR_FLUSH_ERR");
    EXPECT_EQ(rig.counter(1, "resp_local_length_error"), 1U);
}

TEST_F(RcError, AReceiveIntoReadOnlyMemoryIsARemoteOperationError) {
    start();
    b.mr = other_mr(b, 0);
    ASSERT_EQ(rig.receive(b, 200, 0, 4096), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_OP_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.completions(b), "200:LOC_PROT_ERR");
}

TEST_F(RcError, AReceiveWhoseMrIsGone) {
    start();
    const MrKeys good = b.mr;
    b.mr = other_mr(b, kLocalWrite);
    ASSERT_EQ(rig.receive(b, 200, 0, 4096), 0);
    ASSERT_EQ(b.hca->dereg_mr(rig.by(b), b.mr.handle), 0);
    b.mr = good;
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_OP_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.completions(b), "200:LOC_PROT_ERR");
}

TEST_F(RcError, NoReceiveWqe_RnrRetriesRunOut) {
    QpOptions q;
    q.rnr_retry = 2;
    start(q);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:RNR_RETRY_EXC_ERR 2:WR_FLUSH_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.taps[0]->count_in(0x11, 0x20), 3U);
    EXPECT_EQ(rig.state(b), QpState::Rts);
}

TEST_F(RcError, AnAtomicOffItsAlignmentIsAnInvalidRequest) {
    start();
    ASSERT_EQ(rig.send(a, WrOpcode::AtomicFetchAndAdd, 1, 0, 8, b.base + 4, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_INV_REQ_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(b.sink->incidents.at(0).check, Check::AtomicAlignment);
}

TEST_F(RcError, MoreReadsThanTheResponderHasResourcesFor) {
    QpOptions qa, qb;
    qa.rd_atomic = 8;
    qb.rd_atomic = 1;
    start(qa, qb);
    for (uint64_t i = 1; i <= 4; ++i) ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, i, 0, 1000000, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:REM_INV_REQ_ERR 3:WR_FLUSH_ERR 4:WR_FLUSH_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(b.sink->incidents.at(0).check, Check::ReadResources);
}

TEST_F(RcError, ReadsWithoutResourcesAtTheRequester) {
    QpOptions q;
    q.rd_atomic = 0;
    start(q);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, 1, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:LOC_QP_OP_ERR 100:WR_FLUSH_ERR");
}

TEST_F(RcError, ModifyToErrFlushesSendsThenReceives) {
    start();
    ASSERT_EQ(rig.receive(a, 101, 0, 8), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 2, 0, 8), 0);
    rig.engine().run_until(rig.now() + SimTime::us(5));
    ASSERT_EQ(rig.to_state(a, QpState::Err), 0);
    EXPECT_EQ(rig.completions(a), "1:WR_FLUSH_ERR 2:WR_FLUSH_ERR 100:WR_FLUSH_ERR 101:WR_FLUSH_ERR");
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 3, 0, 8), 0) << "posting in ERR is legal";
    ASSERT_EQ(rig.receive(a, 102, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "3:WR_FLUSH_ERR 102:WR_FLUSH_ERR");
}

TEST_F(RcError, ModifyToResetForgetsEverything) {
    start();
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
    rig.engine().run_until(rig.now() + SimTime::us(3));
    ASSERT_EQ(rig.to_state(a, QpState::Reset), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "");
    EXPECT_EQ(rig.state(a), QpState::Reset);
    ASSERT_EQ(rig.to_state(b, QpState::Reset), 0);
    ASSERT_EQ(rig.to_init(a) + rig.to_init(b) + rig.to_rtr(a, b, 1) + rig.to_rtr(b, a, 0), 0);
    ASSERT_EQ(rig.to_rts(a) + rig.to_rts(b), 0);
    receives();
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 7, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "7:SUCCESS");
    EXPECT_EQ(rig.completions(b), "200:SUCCESS");
}

TEST_F(RcError, ACqThatIsFullRaisesItsEventAndTheQpFails) {
    QpOptions q;
    q.cqe = 1;
    start(q);
    for (uint64_t i = 1; i <= 4; ++i) ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, i, 0, 8, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.state(a), QpState::Err);
    ASSERT_FALSE(a.sink->events.empty());
    EXPECT_EQ(a.sink->events[0].type, EventType::CqErr);
}

TEST_F(RcError, PostsThatFailAtOnce) {
    QpOptions q;
    q.send_wr = 2;
    q.recv_wr = 2;
    a = rig.open(0, q);
    EXPECT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), EINVAL) << "RESET";
    EXPECT_EQ(rig.receive(a, 1, 0, 8), EINVAL) << "RESET";
    ASSERT_EQ(rig.to_init(a, q), 0);
    EXPECT_EQ(rig.receive(a, 1, 0, 8), 0);
    EXPECT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), EINVAL) << "INIT";
    auto [c, d] = rig.connect(q);
    const uint32_t most = c.hca->query_qp(rig.by(c), c.qpn).value.attr.cap.max_inline_data;
    EXPECT_EQ(rig.send(c, WrOpcode::Send, 1, 0, most + 1, 0, 0, kInline), EINVAL) << "inline too large";
    EXPECT_EQ(rig.receive(c, 1, 0, 8) + rig.receive(c, 2, 0, 8), 0);
    EXPECT_EQ(rig.receive(c, 3, 0, 8), ENOMEM);
    EXPECT_EQ(rig.send(c, WrOpcode::Send, 1, 0, 8) + rig.send(c, WrOpcode::Send, 2, 0, 8), 0);
    EXPECT_EQ(rig.send(c, WrOpcode::Send, 3, 0, 8), ENOMEM);
}

TEST_F(RcError, AnOperationThatTheQpTypeLacksIsPostedAndCompletesInError) {
    start({});
    EXPECT_EQ(rig.send(a, WrOpcode::Tso, 1, 0, 8) + rig.send(a, WrOpcode::Send, 2, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:LOC_QP_OP_ERR 2:WR_FLUSH_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.state(a), QpState::Err);
}

TEST_F(RcError, AWriteWithImmediateThatIsRefusedTakesItsReceiveAlong) {
    start({});
    ASSERT_EQ(rig.receive(b, 200, 0, 64) + rig.receive(b, 201, 0, 64), 0);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWriteWithImm, 1, 0, 8, b.base, b.mr.rkey + 1), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_ACCESS_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.completions(b), "200:LOC_ACCESS_ERR 201:WR_FLUSH_ERR");
}

// The bad request is met while the one before it is still being repeated: both complete, in order.
TEST_F(RcError, ABadRequestBehindOneThatIsRepeatedHoldsNothingUp) {
    start();
    ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 64), 0);
    SendWr bind;
    bind.wr_id = 2;
    bind.opcode = WrOpcode::BindMw;
    bind.send_flags = kSignaled;
    bind.mw = 12345;
    ASSERT_EQ(a.hca->post_send(a.qpn, bind, rig.now()), 0);
    rig.run_until([&] { return rig.counter(1, "out_of_buffer") > 0; });
    ASSERT_EQ(rig.receive(b, 200, 0, 64), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:MW_BIND_ERR 100:WR_FLUSH_ERR");
    EXPECT_EQ(rig.completions(b), "200:SUCCESS");
}

}  // namespace
}  // namespace simverbs::test
