// Cases that were not measured: completion statuses that those do not show, events, draining, what refuses to go.
#include <array>
#include <cstring>

#include "tests/conformance/verbs/cases/rig.hpp"

namespace verbs_cases {

namespace {

/// The two ends disagree about the path MTU: the response has another length than the requester expects.
void bad_response(Rig& r) {
    r.send(r.a, {.id = 1, .opcode = IBV_WR_RDMA_READ, .length = 2048});
    r.drain();
}

/// Three sends behind a receive that is not there: SQD lets the one under way end, holds the others, tells, goes on.
void drained(Rig& r) {
    r.sends(r.a, 1, 1);
    Rig::wait(1);
    r.note_modify(r.a, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY);
    r.sends(r.a, 2, 2);
    r.drain(5);
    r.note_draining(r.a);
    r.receives(r.b, 200, 3);
    r.drain(5);
    r.note_draining(r.a);
    r.note_events();
    r.note_modify(r.a, IBV_QPS_RTS, 0, "SQD");
    r.drain();
}

/// Without being asked for, no event.
void drained_silently(Rig& r) {
    r.note_modify(r.a, IBV_QPS_SQD);
    r.drain(5);
}

/// After a local error the send queue flushes, the receive queue works on; back in RTS all does.
void send_queue_error(Rig& r) {
    r.receives(r.a, 100, 2);
    r.receives(r.b, 200, 2);
    r.send(r.a, {.id = 1, .lkey = r.a.mr->lkey ^ 0x5A5A00U});
    r.drain(5);
    r.note(std::string("A: ") + state_name(r.state_of(r.a)));
    r.send(r.b, {.id = 50});
    r.send(r.a, {.id = 2});
    r.drain(5);
    r.note_modify(r.a, IBV_QPS_RTS, 0, "SQE");
    r.send(r.a, {.id = 3});
    r.drain();
}

void last_wqe(Rig& r) {
    r.receives(r.b, 200, 2);
    r.note_modify(r.b, IBV_QPS_ERR);
    r.drain();
}

void srq_limit(Rig& r) {
    ibv_srq_attr attr{};
    attr.srq_limit = 2;
    r.receives(r.b, 200, 3);
    r.note("modify_srq limit=2 rc_name=" + errno_name(ibv_modify_srq(r.b.srq, &attr, IBV_SRQ_LIMIT)));
    r.sends(r.a, 1, 1);
    r.drain(5);
    r.note_events();
    r.sends(r.a, 2, 1);
    r.drain(5);
    r.note_events();
    ibv_srq_attr now{};
    ibv_query_srq(r.b.srq, &now);
    r.note("limit " + std::to_string(now.srq_limit));
    attr.srq_limit = now.max_wr + 1;
    r.note("modify_srq limit=max_wr+1 rc_name=" + errno_name(ibv_modify_srq(r.b.srq, &attr, IBV_SRQ_LIMIT)));
}

/// Lists whose second receive cannot be taken.
void partial_receives(Rig& r) {
    ibv_sge sge = {reinterpret_cast<uint64_t>(r.b.bytes), 4096, r.b.mr->lkey};
    std::array<ibv_recv_wr, 3> list{};
    for (size_t i = 0; i < list.size(); ++i)
        list[i] = {200 + i, i + 1 < list.size() ? &list[i + 1] : nullptr, &sge, i == 1 ? 1000 : 1};
    ibv_recv_wr* bad = nullptr;
    const int error = ibv_post_recv(r.b.qp, list.data(), &bad);
    r.note("post_recv rc_name=" + errno_name(error) + ",bad_index=" + std::to_string(bad - list.data()));
    list[1].num_sge = 1;
    r.note("the rest rc_name=" + errno_name(ibv_post_recv(r.b.qp, bad, &bad)));
    r.sends(r.a, 1, 3);
    r.drain();
}

void note_result(Rig& r, const char* what, int error) {
    r.note(std::string(what) + " " + errno_name(error));
}

/// Everything that something else still needs is EBUSY.
void busy(Rig& r) {
    Side& b = r.b;
    ibv_mw* const window = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
    r.bind(b, window, 1, 0, 1024, IBV_ACCESS_REMOTE_WRITE);
    r.drain(5);
    note_result(r, "dereg_mr under a window", ibv_dereg_mr(b.mr));
    note_result(r, "dealloc_mw", ibv_dealloc_mw(window));
    note_result(r, "dealloc_pd", ibv_dealloc_pd(b.pd));
    note_result(r, "destroy_cq", ibv_destroy_cq(b.recv_cq));
    note_result(r, "destroy_comp_channel", ibv_destroy_comp_channel(b.channel));
    note_result(r, "destroy_srq", ibv_destroy_srq(b.srq));
}

/// A group is left before its QP can go.
void busy_in_a_group(Rig& r) {
    ibv_gid group{};
    group.raw[0] = 0xFF;
    group.raw[1] = 0x0E;
    group.raw[15] = 1;
    note_result(r, "attach_mcast", ibv_attach_mcast(r.b.qp, &group, 0));
    note_result(r, "destroy_qp in a group", ibv_destroy_qp(r.b.qp));
    note_result(r, "detach_mcast", ibv_detach_mcast(r.b.qp, &group, 0));
    note_result(r, "detach_mcast again", ibv_detach_mcast(r.b.qp, &group, 0));
}

/// B's region has other addresses than its memory: [0, length), or wherever it likes.
Case moved_region(const char* name, bool zero_based, uint64_t iova) {
    return made(name, Options{}, [zero_based, iova](Rig& r) {
        constexpr int kAccess = kAllAccess;
        ibv_mr* const mr = zero_based ? ibv_reg_mr(r.b.pd, r.b.bytes + 4096, 4096, kAccess | IBV_ACCESS_ZERO_BASED)
                                      : ibv_reg_mr_iova(r.b.pd, r.b.bytes + 4096, 4096, iova, kAccess);
        r.receives(r.a, 100, 1);
        r.send(r.a, {.id = 1, .opcode = IBV_WR_RDMA_WRITE, .rkey = mr->rkey, .remote_address = iova + 4096 - 256});
        r.drain(5);
        r.note("last byte " + std::to_string(r.b.bytes[8191]) + ", the one behind " + std::to_string(r.b.bytes[8192]));
        r.send(r.a, {.id = 2, .opcode = IBV_WR_RDMA_WRITE, .rkey = mr->rkey, .remote_address = iova + 4096 - 255});
        r.drain();
        ibv_dereg_mr(mr);
    });
}

/// A region whose rights change: its keys stay, the new rights count.
void registered_again(Rig& r) {
    const uint32_t before = r.b.mr->rkey;
    r.receives(r.a, 100, 1);
    note_result(r, "rereg_mr without flags", ibv_rereg_mr(r.b.mr, 0, nullptr, nullptr, 0, 0));
    note_result(r, "rereg_mr unknown flags", ibv_rereg_mr(r.b.mr, 64, nullptr, nullptr, 0, 0));
    note_result(r, "rereg_mr",
                ibv_rereg_mr(r.b.mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE));
    r.note(before == r.b.mr->rkey ? "the same rkey" : "another rkey");
    r.send(r.a, {.id = 1, .opcode = IBV_WR_RDMA_WRITE});
    r.drain();
}

/// A type 2 window of B: bound, written through, invalidated here or there, refused.
Case invalidated(const char* name, bool by_the_peer) {
    return made(name, Options{}, [by_the_peer](Rig& r) {
        ibv_mw* const mw = ibv_alloc_mw(r.b.pd, IBV_MW_TYPE_2);
        const uint32_t rkey = ibv_inc_rkey(mw->rkey);
        r.receives(r.b, 200, 1);
        r.bind_type_2(r.b, mw, 1, rkey, 0, 1024);
        r.drain(5);
        r.send(r.a, {.id = 5, .opcode = IBV_WR_RDMA_WRITE, .rkey = rkey});
        r.drain(5);
        if (by_the_peer)
            r.send(r.a, {.id = 6, .opcode = IBV_WR_SEND_WITH_INV, .rkey = rkey});
        else
            r.send(r.b, {.id = 6, .opcode = IBV_WR_LOCAL_INV, .length = 0, .rkey = rkey});
        r.drain(5);
        r.send(r.a, {.id = 7, .opcode = IBV_WR_RDMA_WRITE, .rkey = rkey});
        r.drain();
        note_result(r, "dealloc_mw", ibv_dealloc_mw(mw));
    });
}

/// Arming between two completions: the event is of the second, however the program polls in between.
void armed_late(Rig& r) {
    r.receives(r.b, 200, 3);
    r.send(r.a, {.id = 1});
    r.drain(5);
    ibv_req_notify_cq(r.b.recv_cq, 0);
    r.note("after arming behind the first: " + std::to_string(r.cq_events(r.b)));
    r.send(r.a, {.id = 2});
    Rig::wait(5);
    r.note("after the second: " + std::to_string(r.cq_events(r.b)));
    // Armed while one lies unpolled: an event only for the next.
    ibv_req_notify_cq(r.b.recv_cq, 0);
    Rig::wait(5);
    r.note("armed over an unpolled one: " + std::to_string(r.cq_events(r.b)));
    r.send(r.a, {.id = 3});
    r.drain(5);
    r.note("after the third: " + std::to_string(r.cq_events(r.b)));
}

/// Attributes out of range, INIT to RTS; the state stays.
void ranges(Rig& r) {
    struct Row {
        const char* name;
        ibv_qp_state to;
        void (*change)(ibv_qp_attr&);
    };
    static constexpr Row kRows[] = {
        {"path_mtu 0", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.path_mtu = static_cast<ibv_mtu>(0); }},
        {"path_mtu above the port's", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.path_mtu = IBV_MTU_2048; }},
        {"min_rnr_timer 32", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.min_rnr_timer = 32; }},
        {"max_dest_rd_atomic 17", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.max_dest_rd_atomic = 17; }},
        {"sgid_index 99", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.ah_attr.grh.sgid_index = 99; }},
        {"av port 2", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.ah_attr.port_num = 2; }},
        {"no GRH", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.ah_attr.is_global = 0; }},
        {"static rate 99", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.ah_attr.static_rate = 99; }},
        {"rq_psn of 25 bits", IBV_QPS_RTR, [](ibv_qp_attr& x) { x.rq_psn |= 1U << 24; }},
        {"timeout 32", IBV_QPS_RTS, [](ibv_qp_attr& x) { x.timeout = 32; }},
        {"retry_cnt 8", IBV_QPS_RTS, [](ibv_qp_attr& x) { x.retry_cnt = 8; }},
        {"rnr_retry 8", IBV_QPS_RTS, [](ibv_qp_attr& x) { x.rnr_retry = 8; }},
        {"max_rd_atomic 17", IBV_QPS_RTS, [](ibv_qp_attr& x) { x.max_rd_atomic = 17; }},
        {"sq_psn of 25 bits", IBV_QPS_RTS, [](ibv_qp_attr& x) { x.sq_psn |= 1U << 24; }},
    };
    for (const Row& row : kRows) {
        r.modify(r.a, IBV_QPS_RESET);
        r.ramp(r.a, row.to == IBV_QPS_RTR ? IBV_QPS_INIT : IBV_QPS_RTR);
        note_result(r, row.name, r.modify(r.a, row.to, 0, row.change));
    }
    r.ramp(r.a, IBV_QPS_RTS);
}

/// Whether data arrive in the order of their addresses: an HCA may always say no, whatever is asked.
void data_in_order(Rig& r) {
    r.note("WRITE " + std::to_string(ibv_query_qp_data_in_order(r.a.qp, IBV_WR_RDMA_WRITE, 0)));
    r.note("READ " + std::to_string(ibv_query_qp_data_in_order(r.a.qp, IBV_WR_RDMA_READ, 0)));
}

}  // namespace

std::vector<Case> own_cases() {
    Options srq, patient, mtus;
    srq.srq = true;
    patient.rnr_retry = 7;
    mtus.mtu_of_a = IBV_MTU_512;
    return {
        with("bad_response", mtus, bad_response),
        with("drained", patient, drained),
        with("drained_silently", drained_silently),
        with("send_queue_error_uc", of_type(IBV_QPT_UC), send_queue_error),
        with("send_queue_error_ud", of_type(IBV_QPT_UD), send_queue_error),
        with("last_wqe", srq, last_wqe),
        with("srq_limit", srq, srq_limit),
        with("partial_receives", partial_receives),
        with("busy", srq, busy),
        with("busy_in_a_group", of_type(IBV_QPT_UD), busy_in_a_group),
        moved_region("zero_based", true, 0),
        moved_region("iova", false, 0x7000),
        with("registered_again", registered_again),
        invalidated("local_invalidate", false),
        invalidated("remote_invalidate", true),
        with("armed_late", armed_late),
        with("ranges", ranges),
        with("data_in_order", data_in_order),
    };
}

}  // namespace verbs_cases
