// Requests that go wrong: no receive, keys, bounds, rights, lengths, peers that do not answer (cases 01 to 07).
#include "tests/conformance/verbs/cases/rig.hpp"

namespace verbs_cases {

namespace {

constexpr uint64_t kEnd = kRegistered;

/// A bad request, wr 1, then two good sends; A has two receives, B three.
Case bad_request(const char* name, const Send& bad, Options options = {}) {
    return made(name, options, [bad](Rig& r) {
        r.receives(r.a, 100, 2);
        r.receives(r.b, 200, 3);
        r.send(r.a, bad);
        r.sends(r.a, 2, 2);
        r.drain();
    });
}
/// The same with a key that the rig must exist for: `change` gets the right one.
template <class Change>
Case bad_key(const char* name, const Send& bad, bool local, Change change, Options options = {}) {
    return made(name, options, [bad, local, change](Rig& r) {
        Send one = bad;
        if (local)
            one.lkey = change(r);
        else
            one.rkey = change(r);
        r.receives(r.a, 100, 2);
        r.receives(r.b, 200, 3);
        r.send(r.a, one);
        r.sends(r.a, 2, 2);
        r.drain();
    });
}

Options rights(int mr, int qp) {
    Options o;
    o.mr_access = mr;
    o.qp_access = qp;
    return o;
}
Options patience(int timeout, int retry, int rnr_retry = 7) {
    Options o;
    o.timeout = timeout;
    o.retry = retry;
    o.rnr_retry = rnr_retry;
    return o;
}
/// SENDs that find no receive.
Case no_receive(const char* name, int rnr_retry) {
    return made(name, patience(14, 7, rnr_retry), [](Rig& r) {
        r.receives(r.a, 100, 2);
        r.sends(r.a, 1, 2);
        r.drain();
    });
}

void receive_comes_late(Rig& r) {
    r.sends(r.a, 1, 2);
    r.drain(300);
    r.receives(r.b, 200, 2);
    r.drain(50);
}

/// B's QP is gone before A sends.
Case peer_gone(const char* name, int retry, int timeout, int milliseconds) {
    return made(name, patience(timeout, retry), [milliseconds](Rig& r) {
        r.receives(r.a, 100, 1);
        r.destroy_qp(r.b);
        r.sends(r.a, 1, 2);
        r.drain(milliseconds);
    });
}

void peer_in_error(Rig& r) {
    r.receives(r.a, 100, 1);
    r.receives(r.b, 200, 1);
    r.note_modify(r.b, IBV_QPS_ERR);
    r.sends(r.a, 1, 2);
    r.drain();
}

void receive_into_read_only(Rig& r) {
    ibv_mr* const read_only = ibv_reg_mr(r.b.pd, r.b.bytes, 4096, 0);
    r.receives(r.a, 100, 1);
    r.receive(r.b, {.id = 200, .lkey = read_only->lkey});
    r.receive(r.b, {.id = 201});
    r.sends(r.a, 1, 2);
    r.drain();
    ibv_dereg_mr(read_only);
}

void another_domain(Rig& r) {
    ibv_pd* const pd = ibv_alloc_pd(r.a.context);
    ibv_mr* const foreign = ibv_reg_mr(pd, r.a.bytes, 4096, kAllAccess);
    r.receives(r.a, 100, 2);
    r.receives(r.b, 200, 3);
    r.send(r.a, {.id = 1, .lkey = foreign->lkey});
    r.sends(r.a, 2, 2);
    r.drain();
    ibv_dereg_mr(foreign);
    ibv_dealloc_pd(pd);
}

void small_unreliable(Rig& r) {
    r.receives(r.b, 200, 2, 100);
    r.send(r.a, {.id = 1});
    r.send(r.a, {.id = 2, .length = 50});
    r.drain();
}

void small_in_the_middle(Rig& r) {
    r.receives(r.b, 200, 2, 1500);
    r.send(r.a, {.id = 1, .length = 3000});
    r.drain();
    r.note("recv buffer bytes 0,1024,1500 b0=" + std::to_string(r.b.bytes[0]) +
           ",b1024=" + std::to_string(r.b.bytes[1024]) + ",b1500=" + std::to_string(r.b.bytes[1500]));
}

uint32_t wrong_rkey(Rig& r) {
    return r.b.mr->rkey ^ 1U;
}
uint32_t wrong_lkey(Rig& r) {
    return r.a.mr->lkey ^ 0x5A5A00U;
}
uint32_t dead_beef(Rig&) {
    return 0xDEADBEEF;
}

}  // namespace

std::vector<Case> request_cases() {
    constexpr int kNoRead = kAllAccess & ~IBV_ACCESS_REMOTE_READ,
                  kNoWrite = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
    constexpr int kNoAtomic = kAllAccess & ~IBV_ACCESS_REMOTE_ATOMIC;
    const Send write{.opcode = IBV_WR_RDMA_WRITE}, read{.opcode = IBV_WR_RDMA_READ};
    const Send add{.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 8};
    Options small = of_type(IBV_QPT_UC);
    std::vector<Case> cases = {
        no_receive("01a", 0),
        no_receive("01c", 6),
        with("01d", patience(14, 7, 7), receive_comes_late),
        bad_key("02a", write, false, wrong_rkey),
        bad_key("02b", {.opcode = IBV_WR_RDMA_WRITE, .length = 4096}, false, dead_beef),
        bad_key("02d", add, false, wrong_rkey),
        bad_key("02e", {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM}, false, wrong_rkey),
        bad_key("02g", {.opcode = IBV_WR_RDMA_READ, .length = 0}, false, wrong_rkey),
        bad_key("02h", write, false, wrong_rkey, of_type(IBV_QPT_UC)),
        made("03b", Options{},
             [](Rig& r) {
                 r.receives(r.a, 100, 2);
                 r.receives(r.b, 200, 3);
                 r.send(r.a, {.opcode = IBV_WR_RDMA_WRITE, .remote = ~uint64_t{0}});
                 r.sends(r.a, 2, 2);
                 r.drain();
             }),
        bad_request("03c", {.opcode = IBV_WR_RDMA_READ, .remote = kEnd - 8}),
        bad_request("03e", {.opcode = IBV_WR_RDMA_WRITE, .length = 0, .remote = kEnd}),
        bad_request("04a", read, rights(kNoRead, kAllAccess)),
        bad_request("04c", write, rights(kNoWrite, kAllAccess)),
        bad_request("04d", write, rights(kAllAccess, kNoWrite)),
        bad_request("04f", add, rights(kAllAccess, kNoAtomic)),
        bad_request("04g", write, rights(kAllAccess, 0)),
        bad_key("05b", write, true, wrong_lkey),
        bad_key("05c", read, true, wrong_lkey),
        with("05e", receive_into_read_only),
        bad_request("05f", {.local = kEnd - 8}),
        with("05h", another_domain),
        bad_key("05i", {.flags = 0}, true, wrong_lkey),
        with("06b", small, small_unreliable),
        with("06m", small_in_the_middle),
        peer_gone("07b", 1, 8, 20),
        with("07c", patience(8, 1), peer_in_error),
        peer_gone("07e", 1, 12, 100),
        peer_gone("07f", 1, 14, 400),
        peer_gone("07h", 7, 14, 8000),
        peer_gone("07i", 3, 16, 4000),
        peer_gone("07k", 1, 1, 20),
    };
    return cases;
}

}  // namespace verbs_cases
