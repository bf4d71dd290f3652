// One fake server for the whole test program; every test opens the device anew.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstdlib>
#include <vector>

#include "tests/unit/verbs_shim/verbs/fake_server.hpp"
#include "tests/unit/verbs_shim/verbs/fake_turn.hpp"
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/verbs/objects.hpp"

namespace simverbs::test {

inline FakeServer& server() {
    static FakeServer* const one = [] {
        auto* const s = new FakeServer;
        setenv(protocol::kEnvSocket, s->path().c_str(), 1);
        setenv(protocol::kEnvHost, "h0", 1);
        client::connection::hello();
        return s;
    }();
    return *one;
}

class VerbsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        server();
        client::fake::g_turn.active = false;
        client::fake::g_turn.waits = 0;
        client::fake::g_turn.on_wait = nullptr;
        ibv_device** const list = ibv_get_device_list(nullptr);
        ASSERT_NE(list, nullptr);
        ASSERT_NE(list[0], nullptr);
        context = ibv_open_device(list[0]);
        ibv_free_device_list(list);
        ASSERT_NE(context, nullptr);
        pd = ibv_alloc_pd(context);
        cq = ibv_create_cq(context, 16, this, nullptr, 0);
        ASSERT_NE(cq, nullptr);
    }
    void TearDown() override {
        client::fake::g_turn.active = false;
        // What a test left: without it the leak check of the sanitized build could not see the client's own leaks.
        for (const uint32_t qp_num : made_qps_) {
            client::verbs::Qp* const left = client::verbs::to_context(context)->qps.find(qp_num);
            if (left == nullptr) continue;
            EXPECT_EQ(ibv_destroy_qp(left->qp()), 0);
        }
        EXPECT_EQ(ibv_destroy_cq(cq), 0);
        EXPECT_EQ(ibv_dealloc_pd(pd), 0);
        EXPECT_EQ(ibv_close_device(context), 0);
    }

    ibv_qp_init_attr qp_attr(ibv_qp_type type = IBV_QPT_RC) const {
        ibv_qp_init_attr a{};
        a.send_cq = a.recv_cq = cq;
        a.cap = {4, 4, 2, 2, 64};
        a.qp_type = type;
        return a;
    }
    ibv_qp* make_qp(ibv_qp_state state, ibv_qp_type type = IBV_QPT_RC) {
        ibv_qp_init_attr a = qp_attr(type);
        ibv_qp* const qp = ibv_create_qp(pd, &a);
        made_qps_.push_back(qp->qp_num);
        set_state(qp, state);
        return qp;
    }
    static void set_state(ibv_qp* qp, ibv_qp_state state) {
        ibv_qp_attr a{};
        a.qp_state = state;
        if (state == IBV_QPS_RESET) return;
        EXPECT_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
    }
    /// The send WQEs up to and including number `tail` are done.
    void complete_send(ibv_qp* qp, uint64_t wr_id, uint32_t tail) const {
        protocol::CqSlot slot;
        slot.wr_id = wr_id;
        slot.qp_num = qp->qp_num;
        slot.is_send = 1;
        slot.queue_tail = tail;
        server().complete(cq->handle, slot);
    }
    /// The last explanation contains `part`.
    static ::testing::AssertionResult explained(const std::string& part) {
        const auto all = server().explanations();
        if (!all.empty() && all.back().find(part) != std::string::npos) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << "last explanation: " << (all.empty() ? "none" : all.back());
    }

    ibv_context* context = nullptr;
    ibv_pd* pd = nullptr;
    ibv_cq* cq = nullptr;

  private:
    std::vector<uint32_t> made_qps_;
};

}  // namespace simverbs::test
