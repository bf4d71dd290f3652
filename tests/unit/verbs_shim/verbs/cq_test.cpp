#include <fcntl.h>

#include <cerrno>
#include <thread>

#include "tests/unit/verbs_shim/verbs/fixture.hpp"

namespace simverbs::test {
namespace {

using client::fake::g_turn;
using protocol::CqSlot;

TEST_F(VerbsTest, PollTakesCompletionsInOrderWithAllTheirFields) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    CqSlot slot;
    slot.wr_id = 5;
    slot.status = IBV_WC_RETRY_EXC_ERR;
    slot.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    slot.vendor_err = 129;
    slot.byte_len = 100;
    slot.imm_or_rkey = 0xAABBCCDD;
    slot.qp_num = qp->qp_num;
    slot.src_qp = 17;
    slot.wc_flags = IBV_WC_WITH_IMM | IBV_WC_GRH;
    slot.sl = 3;
    server().complete(cq->handle, slot);
    slot.wr_id = 6;
    server().complete(cq->handle, slot);
    ibv_wc wc[4];
    ASSERT_EQ(ibv_poll_cq(cq, 4, wc), 2);
    EXPECT_EQ(wc[0].wr_id, 5U);
    EXPECT_EQ(wc[1].wr_id, 6U);
    EXPECT_EQ(wc[0].status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_EQ(wc[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(wc[0].vendor_err, 129U);
    EXPECT_EQ(wc[0].byte_len, 100U);
    EXPECT_EQ(wc[0].imm_data, 0xAABBCCDD);
    EXPECT_EQ(wc[0].src_qp, 17U);
    EXPECT_EQ(wc[0].wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM | IBV_WC_GRH));
    EXPECT_EQ(wc[0].sl, 3);
    EXPECT_EQ(ibv_poll_cq(cq, 4, wc), 0);
    EXPECT_EQ(server().cq(cq->handle).header->consumed.load(), 2U);
}

TEST_F(VerbsTest, TheRingMayWrapAroundManyTimes) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    ibv_wc wc;
    for (uint64_t i = 0; i < 100; ++i) {
        complete_send(qp, i, 0);
        ASSERT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
        ASSERT_EQ(wc.wr_id, i);
    }
}

TEST_F(VerbsTest, DestroyingAQpTakesItsUnpolledCompletionsAway) {
    ibv_qp* const one = make_qp(IBV_QPS_RTS);
    ibv_qp* const two = make_qp(IBV_QPS_RTS);
    complete_send(one, 1, 0);
    complete_send(two, 2, 0);
    complete_send(one, 3, 0);
    ASSERT_EQ(ibv_destroy_qp(one), 0);
    ibv_wc wc[4];
    ASSERT_EQ(ibv_poll_cq(cq, 4, wc), 1);
    EXPECT_EQ(wc[0].wr_id, 2U);
    EXPECT_EQ(server().cq(cq->handle).header->consumed.load(), 3U);
}

TEST_F(VerbsTest, TheExtendedInterfaceReadsTimestampsInPlace) {
    ibv_cq_init_attr_ex a{};
    a.cqe = 8;
    a.wc_flags = IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    ibv_cq_ex* const ex = ibv_create_cq_ex(context, &a);
    ASSERT_NE(ex, nullptr);
    ibv_poll_cq_attr attr{};
    EXPECT_EQ(ibv_start_poll(ex, &attr), ENOENT);
    CqSlot slot;
    slot.wr_id = 1;
    slot.timestamp = 5000;
    slot.qp_num = 12;
    server().complete(ex->handle, slot);
    slot.wr_id = 2;
    slot.timestamp = 6000;
    server().complete(ex->handle, slot);
    ASSERT_EQ(ibv_start_poll(ex, &attr), 0);
    EXPECT_EQ(ex->wr_id, 1U);
    EXPECT_EQ(ibv_wc_read_completion_ts(ex), 5000U);
    EXPECT_EQ(ibv_wc_read_qp_num(ex), 12U);
    EXPECT_EQ(ibv_wc_read_completion_wallclock_ns(ex), 1'700'000'000'000'005'000U);
    ASSERT_EQ(ibv_next_poll(ex), 0);
    EXPECT_EQ(ex->wr_id, 2U);
    EXPECT_EQ(ibv_wc_read_completion_ts(ex), 6000U);
    EXPECT_EQ(ibv_next_poll(ex), ENOENT);
    ibv_end_poll(ex);
    EXPECT_EQ(server().cq(ex->handle).header->consumed.load(), 2U);
    EXPECT_EQ(ibv_start_poll(ex, &attr), ENOENT);
    EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
}

TEST_F(VerbsTest, OnlyTheSecondEmptyPollWithoutAPostBetweenWaits) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_SEND;
    ibv_wc wc;
    g_turn.active = true;
    g_turn.slot.woken_visible = 0;
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
    EXPECT_EQ(g_turn.waits, 0);
    ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
    EXPECT_EQ(g_turn.waits, 0) << "post - poll - post must not be serialised";
    g_turn.on_wait = [&] { complete_send(qp, 9, 1); };
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 1) << "what the wait ended with is taken at once";
    EXPECT_EQ(wc.wr_id, 9U);
    EXPECT_EQ(g_turn.waits, 1);
    EXPECT_NE(g_turn.last_wait.flags & protocol::kWaitVisible, 0U);
    EXPECT_NE(std::string(g_turn.last_wait.what).find("poll_cq"), std::string::npos);
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
    EXPECT_EQ(g_turn.waits, 1) << "a completion was progress: the count starts anew";
}

TEST_F(VerbsTest, AnEmptyPollAfterSomethingElseBecameVisibleDoesNotWait) {
    ibv_wc wc;
    g_turn.active = true;
    g_turn.slot.woken_visible = 0;
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
    g_turn.slot.woken_visible = 1;  // e.g. a remote write that the program looks for next
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
    EXPECT_EQ(g_turn.waits, 0);
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
    EXPECT_EQ(g_turn.waits, 1);
}

TEST_F(VerbsTest, DestroyWaitsUntilEventsAreAcknowledged) {
    ibv_comp_channel* const channel = ibv_create_comp_channel(context);
    ASSERT_NE(channel, nullptr);
    EXPECT_EQ(client::fake::g_channel_fd, channel->fd) << "poll and epoll must know what the descriptor waits for";
    ibv_cq* const with_events = ibv_create_cq(context, 4, channel, channel, 0);
    ASSERT_NE(with_events, nullptr);
    EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
    ASSERT_EQ(ibv_req_notify_cq(with_events, 0), 0);
    const auto& ring = server().arena();
    EXPECT_EQ(ring.doorbells[(ring.produced.load() - 1) % protocol::kDoorbells].kind, protocol::DoorbellKind::ArmCq);

    server().write_event_of(channel->fd, {0, 999});  // of a CQ that is long gone: skipped
    server().write_event_of(channel->fd, {0, with_events->handle});
    ibv_cq* got = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel, &got, &user), 0);
    EXPECT_EQ(got, with_events);
    EXPECT_EQ(user, channel);
    fcntl(channel->fd, F_SETFL, O_NONBLOCK);
    EXPECT_EQ(ibv_get_cq_event(channel, &got, &user), -1);
    EXPECT_EQ(errno, EAGAIN);

    std::atomic<bool> destroyed{false};
    std::thread destroyer([&] {
        EXPECT_EQ(ibv_destroy_cq(with_events), 0);
        destroyed = true;
    });
    while (server().requests(protocol::Op::DestroyCq) == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(destroyed);
    ibv_ack_cq_events(with_events, 1);
    destroyer.join();
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
    EXPECT_EQ(client::fake::g_channel_fd, -1);
}

TEST_F(VerbsTest, AsyncEventsNameTheirObject) {
    ibv_qp* const qp = make_qp(IBV_QPS_RTS);
    server().write_event_of(context->async_fd, {1U + IBV_EVENT_QP_FATAL, qp->qp_num});
    server().write_event_of(context->async_fd, {1U + IBV_EVENT_PORT_ERR, 1});
    ibv_async_event event;
    ASSERT_EQ(ibv_get_async_event(context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_FATAL);
    EXPECT_EQ(event.element.qp, qp);
    ibv_ack_async_event(&event);
    ASSERT_EQ(ibv_get_async_event(context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
    EXPECT_EQ(event.element.port_num, 1);
    ibv_ack_async_event(&event);
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

TEST_F(VerbsTest, CompVectorAndSizeOfACqAreChecked) {
    EXPECT_EQ(ibv_create_cq(context, 4, nullptr, nullptr, context->num_comp_vectors), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_TRUE(explained("num_comp_vectors"));
    EXPECT_EQ(ibv_create_cq(context, 0, nullptr, nullptr, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace simverbs::test
