// What a program names belongs to it: numbers of another program's objects mean nothing, and neither do giant ones.
#include <gtest/gtest.h>
#include <rdma/rdma_user_cm.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/fuzz/detached_lab.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/control.hpp"

namespace simverbs::server {
namespace {

using protocol::Op;

constexpr uint32_t kGiant = std::numeric_limits<uint32_t>::max();
alignas(4096) std::array<uint8_t, 65536> g_registered;

/// A program that speaks the control protocol by hand.
class Speaker {
  public:
    explicit Speaker(uint32_t host) : client_(lab().add_detached_client(host)) {}
    ~Speaker() { lab().process_died(client_.process, 0); }
    Speaker(const Speaker&) = delete;
    Speaker& operator=(const Speaker&) = delete;

    template <class Reply = protocol::ReplyHeader, class Request>
    Reply ask(Op op, Request request) {
        request.h.op = op;
        request.h.bytes = sizeof request;
        std::vector<uint8_t> message(sizeof request);
        std::memcpy(message.data(), static_cast<const void*>(&request), sizeof request);
        const ControlReply answer = handle_request(lab(), client_, message, lab().engine().frontier());
        hung_up = hung_up || answer.hang_up;
        Reply reply{};
        EXPECT_GE(answer.bytes.size(), sizeof(protocol::ReplyHeader));
        std::memcpy(static_cast<void*>(&reply), answer.bytes.data(), std::min(answer.bytes.size(), sizeof reply));
        return reply;
    }
    [[nodiscard]] protocol::ObjectRequest object(uint32_t handle) const {
        protocol::ObjectRequest request;
        request.context = context;
        request.handle = handle;
        return request;
    }
    /// 0 or an errno.
    int error_of(Op op, uint32_t handle) { return ask(op, object(handle)).error; }

    /// One of everything.
    void make_objects() {
        context = ask<protocol::OpenDeviceReply>(Op::OpenDevice, protocol::DeviceRequest{}).context;
        pd = ask<protocol::HandleReply>(Op::AllocPd, object(0)).handle;
        protocol::CreateCqRequest cq_request;
        cq_request.context = context;
        cq_request.cqe = 16;
        cq = ask<protocol::CreateCqReply>(Op::CreateCq, cq_request).handle;
        mr = ask<protocol::RegMrReply>(Op::RegMr, region(context, pd)).handle;
        protocol::CreateQpRequest qp_request;
        qp_request.context = context;
        qp_request.pd = pd;
        qp_request.send_cq = qp_request.recv_cq = cq;
        qp_request.qp_type = IBV_QPT_RC;
        qp_request.cap = {4, 4, 1, 1, 0};
        qp = ask<protocol::CreateQpReply>(Op::CreateQp, qp_request).handle;
        protocol::CreateSrqRequest srq_request;
        srq_request.context = context;
        srq_request.pd = pd;
        srq_request.attr = {4, 1, 0};
        srq = ask<protocol::CreateSrqReply>(Op::CreateSrq, srq_request).handle;
        mw = ask<protocol::HandleReply>(Op::AllocMw, window(context, pd)).handle;
        cm_file = ask<protocol::CmOpenReply>(Op::OpenCm, object(0)).file;
    }
    static protocol::RegMrRequest region(uint32_t context, uint32_t pd) {
        protocol::RegMrRequest request;
        request.context = context;
        request.pd = pd;
        request.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
        request.addr = request.iova = reinterpret_cast<uint64_t>(g_registered.data());
        request.length = g_registered.size();
        return request;
    }
    static protocol::ObjectRequest window(uint32_t context, uint32_t pd) {
        protocol::ObjectRequest request;
        request.context = context;
        request.handle = pd;
        request.arg = IBV_MW_TYPE_2;
        return request;
    }
    protocol::CmCommandReply command(uint32_t file, uint32_t number, const void* in, uint32_t bytes) {
        protocol::CmCommandRequest request;
        request.file = file;
        request.command = number;
        request.in_bytes = bytes;
        request.out_bytes = 256;
        if (in != nullptr) std::memcpy(request.in, in, bytes);
        return ask<protocol::CmCommandReply>(Op::CommandCm, request);
    }
    uint32_t make_id(uint32_t file) {
        rdma_ucm_create_id create{};
        create.uid = 7;
        create.ps = RDMA_PS_TCP;
        const auto reply = command(file, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof create);
        uint32_t id = 0;
        std::memcpy(&id, reply.out, sizeof id);
        return reply.h.error == 0 ? id : kGiant;
    }

    static Lab& lab() { return fuzz::DetachedLab::instance().lab(); }
    uint32_t context = 0, pd = 0, cq = 0, mr = 0, qp = 0, srq = 0, mw = 0, cm_file = 0;
    bool hung_up = false;

  private:
    Client& client_;
};

class ForeignHandles : public testing::TestWithParam<uint32_t> {
  protected:
    void SetUp() override {
        owner_.make_objects();
        ASSERT_NE(owner_.qp, 0U);
        ASSERT_NE(owner_.mw, 0U);
    }
    /// All that the owner has is there, and is its own to destroy.
    void TearDown() override {
        for (const auto& [op, handle] : {std::pair{Op::DeallocMw, owner_.mw},
                                         {Op::DestroyQp, owner_.qp},
                                         {Op::DestroySrq, owner_.srq},
                                         {Op::DeregMr, owner_.mr},
                                         {Op::DestroyCq, owner_.cq},
                                         {Op::DeallocPd, owner_.pd}})
            EXPECT_EQ(owner_.error_of(op, handle), 0) << static_cast<int>(op);
    }
    Speaker owner_{0};
    Speaker thief_{GetParam()};
};

TEST_P(ForeignHandles, AProgramWithoutObjectsCannotUseThoseOfAnother) {
    thief_.context = owner_.context;
    for (const auto& [op, handle] : {std::pair{Op::DeallocMw, owner_.mw},
                                     {Op::QueryQp, owner_.qp},
                                     {Op::DestroyQp, owner_.qp},
                                     {Op::QuerySrq, owner_.srq},
                                     {Op::DestroySrq, owner_.srq},
                                     {Op::DeregMr, owner_.mr},
                                     {Op::DestroyCq, owner_.cq},
                                     {Op::DeallocPd, owner_.pd},
                                     {Op::CloseDevice, 0U},
                                     {Op::AllocPd, 0U}})
        EXPECT_NE(thief_.error_of(op, handle), 0) << static_cast<int>(op);
    EXPECT_NE(thief_.ask(Op::RegMr, Speaker::region(owner_.context, owner_.pd)).error, 0);
    EXPECT_FALSE(thief_.hung_up) << "wrong handles are a mistake, not a breach of the protocol";
}

TEST_P(ForeignHandles, AProgramWithObjectsOfItsOwnReachesNoOthers) {
    thief_.make_objects();
    protocol::ModifyQpRequest to_error;
    to_error.context = thief_.context;
    to_error.handle = owner_.qp + 1000;
    to_error.mask = IBV_QP_STATE;
    to_error.attr.qp_state = IBV_QPS_ERR;
    EXPECT_NE(thief_.ask(Op::ModifyQp, to_error).error, 0);
    EXPECT_NE(thief_.ask(Op::RegMr, Speaker::region(thief_.context, thief_.pd + 1000)).error, 0);
    EXPECT_NE(thief_.ask(Op::AllocMw, Speaker::window(thief_.context + 1000, thief_.pd)).error, 0);
    const auto state = owner_.ask<protocol::QueryQpReply>(Op::QueryQp, owner_.object(owner_.qp));
    EXPECT_EQ(state.attr.qp_state, IBV_QPS_RESET);
}

TEST_P(ForeignHandles, IdsOfRdmaCmAreTheirOwnersAlone) {
    const uint32_t id = owner_.make_id(owner_.cm_file);
    ASSERT_NE(id, kGiant);
    rdma_ucm_destroy_id destroy{};
    destroy.id = id;
    // Through the owner's file, and through one of its own.
    EXPECT_NE(thief_.command(owner_.cm_file, RDMA_USER_CM_CMD_DESTROY_ID, &destroy, sizeof destroy).h.error, 0);
    const uint32_t file = thief_.ask<protocol::CmOpenReply>(Op::OpenCm, thief_.object(0)).file;
    EXPECT_NE(thief_.command(file, RDMA_USER_CM_CMD_DESTROY_ID, &destroy, sizeof destroy).h.error, 0);
    protocol::CmCommandRequest migrate;
    migrate.file = file;
    migrate.command = RDMA_USER_CM_CMD_MIGRATE_ID;
    migrate.in_bytes = sizeof(rdma_ucm_migrate_id);
    migrate.out_bytes = 64;
    migrate.extra = owner_.cm_file;
    rdma_ucm_migrate_id claim{};
    claim.id = id;
    std::memcpy(migrate.in, &claim, sizeof claim);
    EXPECT_NE(thief_.ask(Op::CommandCm, migrate).error, 0);
    EXPECT_EQ(owner_.command(owner_.cm_file, RDMA_USER_CM_CMD_DESTROY_ID, &destroy, sizeof destroy).h.error, 0);
}

TEST_P(ForeignHandles, GiantCountsAreRefusedAndTheServerGoesOn) {
    thief_.make_objects();
    protocol::CreateCqRequest cq;
    cq.context = thief_.context;
    cq.cqe = kGiant;
    EXPECT_NE(thief_.ask(Op::CreateCq, cq).error, 0);
    cq.handle = thief_.cq;
    EXPECT_NE(thief_.ask(Op::ResizeCq, cq).error, 0);
    protocol::CreateQpRequest qp;
    qp.context = thief_.context;
    qp.pd = thief_.pd;
    qp.send_cq = qp.recv_cq = thief_.cq;
    qp.qp_type = IBV_QPT_RC;
    for (int field = 0; field < 5; ++field) {
        uint32_t caps[5] = {1, 1, 1, 1, 0};
        caps[field] = kGiant;
        qp.cap = {caps[0], caps[1], caps[2], caps[3], caps[4]};
        EXPECT_NE(thief_.ask(Op::CreateQp, qp).error, 0) << "field " << field;
    }
    protocol::CreateSrqRequest srq;
    srq.context = thief_.context;
    srq.pd = thief_.pd;
    srq.attr = {kGiant, kGiant, 0};
    EXPECT_NE(thief_.ask(Op::CreateSrq, srq).error, 0);
    auto region = Speaker::region(thief_.context, thief_.pd);
    region.length = std::numeric_limits<uint64_t>::max();
    EXPECT_NE(thief_.ask(Op::RegMr, region).error, 0);
    protocol::AllocDmRequest dm;
    dm.context = thief_.context;
    dm.addr = reinterpret_cast<uint64_t>(g_registered.data());
    dm.length = std::numeric_limits<uint64_t>::max();
    dm.log_align_req = kGiant;
    EXPECT_NE(thief_.ask(Op::AllocDm, dm).error, 0);
    protocol::AdviseMrRequest advise;
    advise.context = thief_.context;
    advise.pd = thief_.pd;
    advise.num_sge = kGiant;
    EXPECT_NE(thief_.ask(Op::AdviseMr, advise).error, 0);
    protocol::CmCommandRequest command;
    command.file = thief_.cm_file;
    command.command = RDMA_USER_CM_CMD_CREATE_ID;
    command.in_bytes = command.out_bytes = kGiant;
    EXPECT_NE(thief_.ask(Op::CommandCm, command).error, 0);
    EXPECT_EQ(owner_.error_of(Op::QueryQp, owner_.qp), 0);
}

INSTANTIATE_TEST_SUITE_P(OfTheSameHostAndOfAnother, ForeignHandles, testing::Values(0U, 1U));

}  // namespace
}  // namespace simverbs::server
