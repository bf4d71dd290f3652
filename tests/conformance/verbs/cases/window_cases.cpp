// Memory windows: B binds, A writes (cases 33). Only a window of type 2 can be invalidated.
#include "tests/conformance/verbs/cases/rig.hpp"

namespace verbs_cases {

namespace {

constexpr uint64_t kWindowBytes = 1024;

struct WindowCase {
    const char* name;
    int mr_access = kAllAccess | IBV_ACCESS_MW_BIND;
    unsigned window_access = IBV_ACCESS_REMOTE_WRITE;
    bool invalidate = false;
    uint64_t at = 0;
};

Case window(const WindowCase& w) {
    Options o;
    o.mr_access = w.mr_access;
    o.timeout = 8;
    o.retry = 1;
    return made(w.name, o, [w](Rig& r) {
        ibv_mw* const mw = ibv_alloc_mw(r.b.pd, w.invalidate ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
        const uint32_t next_key = ibv_inc_rkey(mw->rkey);
        r.receives(r.b, 200, 3);
        const int error = w.invalidate ? r.bind_type_2(r.b, mw, 1, next_key, 0, kWindowBytes)
                                       : r.bind(r.b, mw, 1, 0, kWindowBytes, w.window_access);
        const uint32_t rkey = w.invalidate ? next_key : mw->rkey;
        r.note("post_bind_mw wr_id=1,rc_name=" + errno_name(error));
        r.drain(5);
        if (w.invalidate) {
            r.send(r.a, {.id = 5, .opcode = IBV_WR_SEND_WITH_INV, .rkey = rkey});
            r.drain(5);
        }
        r.send(r.a, {.id = 6, .opcode = IBV_WR_RDMA_WRITE, .remote = w.at, .rkey = rkey});
        r.drain();
        const int freed = ibv_dealloc_mw(mw);
        if (freed != 0) r.note("dealloc_mw rc_name=" + errno_name(freed));
    });
}

}  // namespace

std::vector<Case> window_cases() {
    return {
        window({.name = "33b", .mr_access = kAllAccess}),
        window({.name = "33c", .window_access = IBV_ACCESS_REMOTE_READ}),
        window({.name = "33e", .invalidate = true}),
        window({.name = "33f", .at = kWindowBytes - 8}),
        window({.name = "33h", .mr_access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND}),
    };
}

}  // namespace verbs_cases
