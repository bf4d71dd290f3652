// What posts do in which state, and what a change of state does to what is posted (cases 08, 09, 21).
#include "tests/conformance/verbs/cases/rig.hpp"

namespace verbs_cases {

namespace {

/// A from RTS to the state that the case is about.
void bring_to(Rig& r, ibv_qp_state to) {
    if (to == IBV_QPS_INIT || to == IBV_QPS_RTR) {
        r.modify(r.a, IBV_QPS_RESET);
        r.ramp(r.a, to);
        r.note(std::string("modify side=A,to=") + state_name(to) + ",rc_name=0");
    } else {
        r.note_modify(r.a, to, to == IBV_QPS_SQD ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0);
    }
    r.note(std::string("A before: ") + state_name(r.state_of(r.a)));
}

/// Request 1 in that state; what the state refuses is followed by request 2 in RTS.
Case send_in(const char* name, ibv_qp_type type, ibv_qp_state state) {
    return made(name, of_type(type), [state](Rig& r) {
        r.receives(r.b, 200, 2);
        bring_to(r, state);
        r.send(r.a, {.id = 1});
        r.drain();
        r.note(std::string("A after: ") + state_name(r.state_of(r.a)));
        if (state == IBV_QPS_RESET || state == IBV_QPS_RTR) {
            r.ramp(r.a, IBV_QPS_RTS);
            r.note("now ramped to RTS");
            r.send(r.a, {.id = 2});
        } else if (state == IBV_QPS_SQD) {
            r.note_modify(r.a, IBV_QPS_RTS, 0, "SQD");
            r.send(r.a, {.id = 2});
            r.note("second post after RTS");
        }
        r.drain();
    });
}

/// A receive in that state; a QP in ERR gets a send behind it.
Case receive_in(const char* name, ibv_qp_type type, ibv_qp_state state) {
    return made(name, of_type(type), [state](Rig& r) {
        bring_to(r, state);
        r.receives(r.a, 100, 1);
        r.drain();
        r.note(std::string("A after: ") + state_name(r.state_of(r.a)));
        if (state == IBV_QPS_ERR) {
            r.send(r.a, {.id = 3});
            r.note("post_send as a kick");
        } else if (state == IBV_QPS_SQD) {
            r.note_modify(r.a, IBV_QPS_RTS, 0, "SQD");
        } else {
            r.ramp(r.a, IBV_QPS_RTS);
            r.note("now ramped to RTS");
        }
        r.drain();
    });
}

/// A local error on a QP without acknowledges; then a post, then back to RTS.
void local_error(Rig& r) {
    r.receives(r.a, 100, 1);
    r.send(r.a, {.id = 1, .lkey = r.a.mr->lkey ^ 0x5A5A00U});
    r.drain();
    r.note(std::string("A after local error: ") + state_name(r.state_of(r.a)));
    r.send(r.a, {.id = 2});
    r.drain();
    r.note_modify(r.a, IBV_QPS_RTS);
}

/// B has no receives: A's requests wait.
void outstanding(Rig& r) {
    r.receives(r.a, 100, 3);
    r.sends(r.a, 1, 3);
    r.drain(5);
}

void unpolled_entries(Rig& r) {
    r.receives(r.b, 200, 2);
    r.sends(r.a, 1, 2);
    Rig::wait(20);
    r.note_modify(r.a, IBV_QPS_RESET);
    r.destroy_qp(r.b);
    r.drain();
}

}  // namespace

std::vector<Case> state_cases() {
    return {
        send_in("08a", IBV_QPT_RC, IBV_QPS_RESET),
        send_in("08c", IBV_QPT_RC, IBV_QPS_RTR),
        send_in("08d", IBV_QPT_RC, IBV_QPS_RTS),
        send_in("08f", IBV_QPT_RC, IBV_QPS_ERR),
        send_in("08g", IBV_QPT_UD, IBV_QPS_RESET),
        send_in("08i", IBV_QPT_UD, IBV_QPS_RTR),
        send_in("08j", IBV_QPT_UD, IBV_QPS_SQD),
        with("08s", of_type(IBV_QPT_UD), local_error),
        with("08t", of_type(IBV_QPT_UC), local_error),
        receive_in("09b", IBV_QPT_RC, IBV_QPS_INIT),
        receive_in("09c", IBV_QPT_RC, IBV_QPS_RTR),
        receive_in("09e", IBV_QPT_RC, IBV_QPS_SQD),
        receive_in("09f", IBV_QPT_RC, IBV_QPS_ERR),
        receive_in("09h", IBV_QPT_UD, IBV_QPS_INIT),
        receive_in("09i", IBV_QPT_UD, IBV_QPS_RTR),
        receive_in("09k", IBV_QPT_UD, IBV_QPS_ERR),
        with("21a",
             [](Rig& r) {
                 outstanding(r);
                 r.note_modify(r.a, IBV_QPS_ERR);
                 r.drain();
             }),
        with("21b",
             [](Rig& r) {
                 outstanding(r);
                 r.note_modify(r.a, IBV_QPS_RESET);
                 r.drain();
             }),
        with("21d", unpolled_entries),
        with("21e",
             [](Rig& r) {
                 outstanding(r);
                 r.destroy_qp(r.a);
                 r.note("destroy what=qp with sends and recvs outstanding,rc_name=0");
                 r.drain();
             }),
    };
}

}  // namespace verbs_cases
