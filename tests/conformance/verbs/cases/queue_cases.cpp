// Queues and their limits, datagrams, READs and atomics, events of CQs (cases 11 to 22, 30, 32).
#include <array>
#include <cstring>

#include "tests/conformance/verbs/cases/rig.hpp"

namespace verbs_cases {

namespace {

Case overrun(const char* name, int send_cqe, int recv_cqe) {
    Options o;
    o.send_cqe = send_cqe;
    o.recv_cqe = recv_cqe;
    o.timeout = 8;
    o.retry = 3;
    o.rnr_retry = 1;
    return made(name, o, [](Rig& r) {
        r.note("cq sizes asked/got A_send=" + std::to_string(r.a.send_cq->cqe) +
               ",B_recv=" + std::to_string(r.b.recv_cq->cqe));
        r.receives(r.b, 200, 8);
        r.sends(r.a, 1, 8);
        Rig::wait(100);
        r.drain();
        r.note(std::string("A after poll: ") + state_name(r.state_of(r.a)));
        r.send(r.a, {.id = 90});
        r.drain(100);
    });
}

void inline_too_large(Rig& r) {
    const uint32_t room = r.a.cap.max_inline_data;
    const unsigned flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
    r.note("inline room " + std::to_string(room));
    r.receives(r.b, 200, 1);
    r.send(r.a, {.id = 1, .length = 64, .flags = flags});
    r.send(r.a, {.id = 2, .length = room + 1, .flags = flags});
    r.send(r.a, {.id = 3, .length = room, .sges = 2, .flags = flags});
    r.send(r.a, {.id = 4, .opcode = IBV_WR_RDMA_READ, .length = 16, .flags = flags});
    r.drain();
}

void queues_full(Rig& r) {
    const auto sends = r.a.cap.max_send_wr, receives = r.a.cap.max_recv_wr;
    for (uint32_t i = 1; i <= sends + 1; ++i)
        if (r.send(r.a, {.id = i, .length = 16}) != 0) r.note("post_send failed at index i=" + std::to_string(i));
    for (uint32_t i = 0; i <= receives; ++i)
        if (r.receive(r.a, {.id = 100 + i, .length = 16}) != 0)
            r.note("post_recv failed at index i=" + std::to_string(i + 1));
}

/// One list of three requests; the second has an opcode that does not exist.
void list_with_a_bad_one(Rig& r) {
    r.receives(r.b, 200, 3);
    ibv_sge sge = {reinterpret_cast<uint64_t>(r.a.bytes), 8, r.a.mr->lkey};
    std::array<ibv_send_wr, 3> list{};
    for (size_t i = 0; i < list.size(); ++i) {
        list[i].wr_id = i + 1;
        list[i].sg_list = &sge;
        list[i].num_sge = 1;
        list[i].opcode = IBV_WR_SEND;
        list[i].send_flags = IBV_SEND_SIGNALED;
        list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    }
    list[1].num_sge = 1000;
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(r.a.qp, list.data(), &bad);
    r.note("post_send_list rc_name=" + errno_name(error) + ",bad_index=" + std::to_string(bad - list.data()));
    r.drain();
}

/// An atomic, then two sends.
Case atomic(const char* name, const Send& what, bool note_remote = false) {
    return made(name, Options{}, [what, note_remote](Rig& r) {
        uint64_t five = 5;
        std::memcpy(r.b.bytes, &five, sizeof five);
        r.receives(r.a, 100, 2);
        for (const uint64_t id : {200, 201}) r.receive(r.b, {.id = id, .at = 8192});
        r.send(r.a, what);
        r.sends(r.a, 2, 2);
        r.drain();
        if (!note_remote) return;
        uint64_t now = 0;
        std::memcpy(&now, r.b.bytes, sizeof now);
        r.note("remote=" + std::to_string(now));
    });
}

/// One datagram of the case, then a good one of 64 bytes.
Case datagram(const char* name, const Send& what, bool second = true, int receives = 1, uint32_t room = 4096) {
    return made(name, of_type(IBV_QPT_UD), [=](Rig& r) {
        r.receives(r.b, 200, receives, room);
        r.send(r.a, what);
        r.drain(5);
        if (second) r.send(r.a, {.id = 2, .length = 64});
        r.drain();
    });
}

void region_of_a_receive_goes(Rig& r) {
    r.receives(r.b, 200, 1);
    r.note("dereg_mr side=B,posted_recv=1,rc_name=" + errno_name(ibv_dereg_mr(r.b.mr)));
    r.b.mr = nullptr;
    r.send(r.a, {.id = 1});
    r.drain();
}
void region_of_a_send_goes(Rig& r) {
    r.send(r.a, {.id = 1});
    r.drain(5);
    r.note("dereg_mr side=A,posted_send_in_rnr=1,rc_name=" + errno_name(ibv_dereg_mr(r.a.mr)));
    r.a.mr = nullptr;
    r.drain();
}

Case reads(const char* name, int count, int requester, int responder, int receives) {
    Options o;
    o.rd_atomic = requester;
    o.dest_rd_atomic = responder;
    return made(name, o, [count, receives](Rig& r) {
        r.receives(r.a, 100, receives);
        for (int i = 0; i < count; ++i)
            r.send(r.a, {.id = static_cast<uint64_t>(i + 1), .opcode = IBV_WR_RDMA_READ, .length = 2048});
        r.drain();
    });
}

/// An operation that the QP type does not have.
Case impossible(const char* name, ibv_qp_type type, const Send& what) {
    return made(name, of_type(type), [what](Rig& r) {
        r.send(r.a, what);
        r.drain();
        r.note(std::string("A after: ") + state_name(r.state_of(r.a)));
    });
}

void shared_queue_empty(Rig& r) {
    r.send(r.a, {.id = 1});
    r.drain();
    ibv_sge sge = {reinterpret_cast<uint64_t>(r.b.bytes), 64, r.b.mr->lkey};
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    const int error = ibv_post_recv(r.b.qp, &wr, &bad);
    r.note("post_recv on a qp with srq rc_name=" + errno_name(error));
}

void good_flows(Rig& r) {
    r.receives(r.b, 200, 4);
    r.send(r.a, {.id = 1});
    r.send(r.a, {.id = 2, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM});
    r.send(r.a, {.id = 3, .opcode = IBV_WR_RDMA_WRITE, .length = 5000});
    r.send(r.a, {.id = 4, .opcode = IBV_WR_RDMA_READ, .length = 5000});
    r.send(r.a, {.id = 5, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 8});
    r.send(r.a, {.id = 6, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .length = 8});
    r.send(r.a, {.id = 7, .length = 0});
    r.send(r.a, {.id = 8, .flags = 0});
    r.drain();
    r.receives(r.b, 210, 1);
    r.send(r.a, {.id = 9});
    r.drain();
}

void note_events(Rig& r, const char* when) {
    Rig::wait(2);
    r.note(std::string("cq_events when=") + when + ",n=" + std::to_string(r.cq_events(r.b)));
}
void arm(Rig& r, int solicited_only) {
    ibv_req_notify_cq(r.b.recv_cq, solicited_only);
    r.note("req_notify solicited_only=" + std::to_string(solicited_only));
}

void arming(Rig& r) {
    r.receives(r.b, 200, 3);
    r.send(r.a, {.id = 1});
    note_events(r, "send, never armed");
    arm(r, 0);
    note_events(r, "armed with 1 CQE already in the CQ");
    r.send(r.a, {.id = 2});
    note_events(r, "next send");
    r.send(r.a, {.id = 3});
    note_events(r, "another send, not re-armed");
    r.drain();
}
void flushes_are_solicited(Rig& r) {
    r.receives(r.b, 200, 8);
    arm(r, 1);
    r.note_modify(r.b, IBV_QPS_ERR);
    note_events(r, "armed solicited, flush errors");
    r.drain();
}
void solicited(Rig& r) {
    const Send write{.id = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM};
    r.receives(r.b, 200, 4);
    arm(r, 1);
    r.send(r.a, write);
    note_events(r, "armed solicited, plain write_with_imm");
    Send marked = write;
    marked.id = 2;
    marked.flags |= IBV_SEND_SOLICITED;
    r.send(r.a, marked);
    note_events(r, "solicited write_with_imm");
    arm(r, 0);
    arm(r, 0);
    r.sends(r.a, 3, 2);
    note_events(r, "armed twice, two sends");
    r.drain();
}

}  // namespace

std::vector<Case> queue_cases() {
    const Send add{.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 8};
    const Send compare{.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .length = 8, .remote = 4};
    Send off_by_one = add, sixteen = add, elsewhere = add;
    off_by_one.remote = 1;
    sixteen.length = 16;
    elsewhere.remote = 0;
    Options inline_64, small_queues, srq;
    inline_64.cap.max_inline_data = 64;
    small_queues.cap = {7, 7, 4, 4, 64};
    srq.srq = true;
    srq.rnr_retry = 1;
    const Send read{.opcode = IBV_WR_RDMA_READ}, write{.opcode = IBV_WR_RDMA_WRITE};
    return {
        overrun("11a", 1, 127),
        overrun("11c", 127, 3),
        with("12a", inline_64, inline_too_large),
        with("14a", small_queues, queues_full),
        with("14b", list_with_a_bad_one),
        atomic("16a", off_by_one),
        atomic("16b", compare),
        atomic("16d", sixteen),
        atomic("16e", elsewhere, true),
        datagram("17b", {.length = 1025}),
        datagram("17c", {.length = 4097}),
        datagram("17e", {.length = 64, .qpn = 0xABCDE}),
        datagram("17f", {.length = 64}, true, 2, 64),
        datagram("17h", {.length = 64, .qkey = 0x80000000}),
        datagram("17i", {.length = 64}, false, 0),
        with("18b", region_of_a_receive_goes),
        with("18c", region_of_a_send_goes),
        reads("19b", 6, 4, 4, 0),
        reads("19c", 8, 8, 1, 0),
        reads("19e", 2, 4, 0, 1),
        impossible("20a", IBV_QPT_UC, read),
        impossible("20c", IBV_QPT_UD, write),
        impossible("20d", IBV_QPT_UD, read),
        impossible("20f", IBV_QPT_RC, {.opcode = IBV_WR_TSO}),
        impossible("20g", IBV_QPT_RC, {.opcode = IBV_WR_LOCAL_INV, .length = 0, .rkey = 0}),
        with("22b", srq, shared_queue_empty),
        with("30a", good_flows),
        with("32a", arming),
        with("32c", flushes_are_solicited),
        with("32d", solicited),
    };
}

}  // namespace verbs_cases
