#include <cerrno>
#include <cstring>

#include "tests/unit/verbs_shim/verbs/fixture.hpp"

namespace simverbs::test {
namespace {

using protocol::Doorbell;
using protocol::DoorbellKind;
using protocol::RecvSlot;
using protocol::SendSlot;
using protocol::WireSge;

const Doorbell& last_doorbell() {
    auto& ring = server().arena();
    return ring.doorbells[(ring.produced.load() - 1) % protocol::kDoorbells];
}

TEST_F(VerbsTest, APostedSendLiesInTheRingAndRingsOneDoorbell) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    ibv_sge sge{0x1000, 64, 7};
    ibv_send_wr second{}, wr{}, *bad = nullptr;
    wr.wr_id = 42;
    wr.next = &second;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = 0x2000;
    wr.wr.rdma.rkey = 9;
    second.opcode = IBV_WR_SEND_WITH_IMM;
    second.imm_data = 0x11223344;
    const uint64_t bells = server().arena().produced.load();
    ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);

    const ServerRing sq = server().sq(qp->qp_num);
    EXPECT_EQ(sq.header->produced.load(), 2U);
    const auto& slot = sq.slot<SendSlot>(0);
    EXPECT_EQ(slot.wr_id, 42U);
    EXPECT_EQ(slot.opcode, static_cast<uint32_t>(IBV_WR_RDMA_WRITE));
    EXPECT_EQ(slot.remote_addr, 0x2000U);
    EXPECT_EQ(slot.rkey, 9U);
    EXPECT_EQ(slot.num_sge, 1U);
    const auto& wire = reinterpret_cast<const WireSge*>(&slot + 1)[0];
    EXPECT_EQ(wire.addr, 0x1000U);
    EXPECT_EQ(wire.length, 64U);
    EXPECT_EQ(wire.lkey, 7U);
    EXPECT_EQ(sq.slot<SendSlot>(1).imm_or_rkey, 0x11223344U);
    EXPECT_EQ(server().arena().produced.load(), bells + 1);
    EXPECT_EQ(last_doorbell().object, qp->qp_num);
    EXPECT_EQ(last_doorbell().kind, DoorbellKind::Send);
    EXPECT_EQ(last_doorbell().count, 2);
}

TEST_F(VerbsTest, InlineDataIsCopiedAndTooMuchOfItIsRefusedWithEnomemAsMlx5Does) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    char text[100] = "hello";
    ibv_sge sge{reinterpret_cast<uint64_t>(text), 6, 0};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_INLINE;
    ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);
    std::strcpy(text, "bye");
    const auto& slot = server().sq(qp->qp_num).slot<SendSlot>(0);
    EXPECT_EQ(slot.inline_bytes, 6U);
    EXPECT_STREQ(reinterpret_cast<const char*>(&slot + 1), "hello");

    sge.length = 65;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
    EXPECT_EQ(bad, &wr);
    EXPECT_TRUE(explained("max_inline_data 64"));
}

TEST_F(VerbsTest, AFullSendQueueTakesWorkAgainOnlyWhenACompletionWasPolled) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    ibv_send_wr wrs[5] = {}, *bad = nullptr;
    for (int i = 0; i < 5; ++i) {
        wrs[i].opcode = IBV_WR_SEND;
        wrs[i].next = i < 4 ? &wrs[i + 1] : nullptr;
    }
    EXPECT_EQ(ibv_post_send(qp, wrs, &bad), ENOMEM);
    EXPECT_EQ(bad, &wrs[4]);
    EXPECT_EQ(server().sq(qp->qp_num).header->produced.load(), 4U) << "what fits is posted";
    EXPECT_TRUE(explained("max_send_wr 4"));

    EXPECT_EQ(ibv_post_send(qp, &wrs[4], &bad), ENOMEM);
    complete_send(qp, 0, 3);  // one signalled completion retires three
    EXPECT_EQ(ibv_post_send(qp, &wrs[4], &bad), ENOMEM) << "it has not been polled yet";
    ibv_wc wc;
    ASSERT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ibv_post_send(qp, &wrs[4], &bad), 0);
    EXPECT_EQ(ibv_post_send(qp, &wrs[4], &bad), ENOMEM);
}

TEST_F(VerbsTest, ARetiredCountBeyondWhatWasPostedIsIgnored) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    complete_send(qp, 0, 1000);
    ibv_wc wc;
    ASSERT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(ibv_post_send(qp, &wr, &bad), 0);
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
}

TEST_F(VerbsTest, SendsNeedRtsAndReceivesNeedMoreThanReset) {
    ibv_send_wr wr{}, *bad = nullptr;
    ibv_recv_wr rr{}, *bad_rr = nullptr;
    wr.opcode = IBV_WR_SEND;
    const struct {
        ibv_qp_state state;
        int send, recv;
    } rows[] = {{IBV_QPS_RESET, EINVAL, EINVAL},
                {IBV_QPS_INIT, EINVAL, 0},
                {IBV_QPS_RTR, EINVAL, 0},
                {IBV_QPS_RTS, 0, 0},
                {IBV_QPS_SQD, 0, 0},
                {IBV_QPS_SQE, 0, 0},
                {IBV_QPS_ERR, 0, 0}};
    for (const auto& row : rows) {
        ibv_qp* const qp = make_qp(row.state);
        EXPECT_EQ(ibv_post_send(qp, &wr, &bad), row.send) << "state " << row.state;
        EXPECT_EQ(bad, row.send != 0 ? &wr : nullptr);
        EXPECT_EQ(ibv_post_recv(qp, &rr, &bad_rr), row.recv) << "state " << row.state;
        ibv_destroy_qp(qp);
    }
}

TEST_F(VerbsTest, AnOpcodeThatTheQpTypeDoesNotHaveGoesToTheAdapterAnUnknownOneIsRefused) {
    ibv_qp* const uc = make_qp(IBV_QPS_RTS, IBV_QPT_UC);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_RDMA_READ;
    EXPECT_EQ(ibv_post_send(uc, &wr, &bad), 0);
    EXPECT_TRUE(explained("IBV_WR_RDMA_READ is not allowed on a UC QP"));
    const int unknown = 99;  // by its bytes, as a C program would: C++ knows no such opcode
    std::memcpy(&wr.opcode, &unknown, sizeof wr.opcode);
    EXPECT_EQ(ibv_post_send(uc, &wr, &bad), EINVAL);
    EXPECT_TRUE(explained("wr.opcode 99 is not a work request"));
}

TEST_F(VerbsTest, TooManySgesAreRefused) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    ibv_sge sges[3] = {};
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    wr.sg_list = sges;
    wr.num_sge = 3;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
    EXPECT_TRUE(explained("max_send_sge 2"));
    ibv_recv_wr rr{}, *bad_rr = nullptr;
    rr.sg_list = sges;
    rr.num_sge = 3;
    EXPECT_EQ(ibv_post_recv(qp, &rr, &bad_rr), EINVAL);
    EXPECT_EQ(bad_rr, &rr);
}

TEST_F(VerbsTest, ReceivesFillTheirRingAndASharedQueueCountsCompletions) {
    ibv_srq_init_attr sa{};
    sa.attr = {2, 1, 0};
    ibv_srq* const srq = ibv_create_srq(pd, &sa);
    ASSERT_NE(srq, nullptr);
    ibv_sge sge{0x3000, 128, 5};
    ibv_recv_wr rr{}, *bad = nullptr;
    rr.wr_id = 3;
    rr.sg_list = &sge;
    rr.num_sge = 1;
    EXPECT_EQ(ibv_post_srq_recv(srq, &rr, &bad), 0);
    EXPECT_EQ(ibv_post_srq_recv(srq, &rr, &bad), 0);
    EXPECT_EQ(ibv_post_srq_recv(srq, &rr, &bad), ENOMEM);
    EXPECT_EQ(server().srq(srq->handle).slot<RecvSlot>(1).wr_id, 3U);
    protocol::CqSlot slot;
    slot.srq = srq->handle;
    slot.qp_num = 0x999;
    server().complete(cq->handle, slot);
    ibv_wc wc;
    ASSERT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
    EXPECT_EQ(ibv_post_srq_recv(srq, &rr, &bad), 0);
    EXPECT_EQ(last_doorbell().kind, DoorbellKind::SrqRecv);
    uint32_t number = 0;
    EXPECT_EQ(ibv_get_srq_num(srq, &number), 0);
    EXPECT_EQ(number, 77U);
    EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(VerbsTest, ABatchBecomesVisibleAtCompleteAndNotAtAllAfterAnErrorOrAbort) {
    ibv_qp_init_attr_ex a{};
    const ibv_qp_init_attr base = qp_attr();
    std::memcpy(&a, &base, sizeof base);
    a.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    a.pd = pd;
    a.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND;
    ibv_qp* const qp = ibv_create_qp_ex(context, &a);
    ASSERT_NE(qp, nullptr);
    set_state(qp, IBV_QPS_RTS);
    ibv_qp_ex* const ex = ibv_qp_to_qp_ex(qp);
    ASSERT_NE(ex, nullptr);
    const ServerRing sq = server().sq(qp->qp_num);

    ibv_wr_start(ex);
    ex->wr_id = 1;
    ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(ex, 5, 0x7000);
    ibv_wr_set_sge(ex, 6, 0x8000, 32);
    ex->wr_id = 2;
    ibv_wr_send(ex);
    char bytes[8] = "inline";
    ibv_wr_set_inline_data(ex, bytes, 7);
    EXPECT_EQ(sq.header->produced.load(), 0U);
    EXPECT_EQ(ibv_wr_complete(ex), 0);
    EXPECT_EQ(sq.header->produced.load(), 2U);
    EXPECT_EQ(sq.slot<SendSlot>(0).rkey, 5U);
    EXPECT_EQ(sq.slot<SendSlot>(1).wr_id, 2U);
    EXPECT_STREQ(reinterpret_cast<const char*>(&sq.slot<SendSlot>(1) + 1), "inline");
    EXPECT_EQ(last_doorbell().count, 2);

    ibv_wr_start(ex);
    ibv_wr_send(ex);
    ibv_wr_rdma_read(ex, 1, 2);  // not asked for in send_ops_flags
    EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
    EXPECT_TRUE(explained("send_ops_flags"));
    EXPECT_EQ(sq.header->produced.load(), 2U);

    ibv_wr_start(ex);
    ibv_wr_send(ex);
    ibv_wr_abort(ex);
    EXPECT_EQ(sq.header->produced.load(), 2U);

    ibv_wr_start(ex);
    for (int i = 0; i < 3; ++i) ibv_wr_send(ex);  // two places are left
    EXPECT_EQ(ibv_wr_complete(ex), ENOMEM);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), 0) << "the queue is not locked";
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

TEST_F(VerbsTest, AQpWithoutSendOpsFlagsHasNoExtendedInterface) {
    ibv_qp* const qp = make_qp(IBV_QPS_RESET);
    EXPECT_EQ(ibv_qp_to_qp_ex(qp), nullptr);
}

}  // namespace
}  // namespace simverbs::test
