#include "verbs_shim/client/verbs/cq_consume.hpp"

#include <sched.h>

#include <cstdio>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/net/readiness.hpp"
#include "verbs_shim/client/turn/turn.hpp"
#include "verbs_shim/client/verbs/doorbell.hpp"
#include "verbs_shim/client/verbs/forgotten.hpp"

namespace simverbs::client::verbs {

using protocol::CqSlot;

namespace {

/// Grants so far at which this process had something new to see. Not atomic: counted by whoever has the turn.
uint64_t g_visible = 0;

/// With the wall clock, empty polls between two looks whether the server is still alive.
constexpr uint32_t kPollsPerLook = 4096;

void note_visible() {
    auto* const slot = turn::slot();
    if (slot == nullptr || slot->woken_visible == 0) return;
    slot->woken_visible = 0;
    ++g_visible;
}

Qp* qp_of(Cq& cq, uint32_t qp_num) noexcept {
    if (cq.last_qp == nullptr || cq.last_qp->table_key != qp_num) {
        cq.last_qp = to_context(cq.ibv.context)->qps.find(qp_num);
    }
    return cq.last_qp;
}

/// Moves a queue's count of retired WQEs forward to `tail`, never back and never beyond what was posted.
void retire(std::atomic<uint32_t>& retired, const Ring& ring, uint32_t tail) noexcept {
    if (ring.header == nullptr) return;
    const uint32_t posted = ring.header->produced.load(std::memory_order_acquire);
    const uint32_t before = retired.load(std::memory_order_relaxed);
    if (tail - before > posted - before) return;
    retired.store(tail, std::memory_order_release);
    ring.header->consumed.store(tail, std::memory_order_relaxed);
}

void wait_for_something(Cq& cq) {
    if (cq.wait_name[0] == '\0') std::snprintf(cq.wait_name, sizeof cq.wait_name, "poll_cq of CQ %u", cq.ibv.handle);
    turn::WaitSet set(cq.wait_name);
    set.add_flags(protocol::kWaitVisible);
    // Another thread of the program may tell this one to stop polling.
    const uint64_t sync = protocol::object_key(protocol::ObjectKind::ProcessSync, turn::process_index());
    set.add_object(sync, turn::object_value(sync), 0);
    net::add_empty_looks(set);  // it may look at sockets in between
    switch (turn::wait(set)) {
        case turn::Woken::ServerGone:
            connection::note_server_gone();
            break;
        case turn::Woken::Visible:
            ++g_visible;
            break;
        case turn::Woken::Item:
        case turn::Woken::Deadline:
        case turn::Woken::Interrupted:
            break;
    }
}

/// Tells the server where this process waits (a hint).
void note_core() {
    thread_local int32_t tid = 0;
    const uint32_t slot = connection::hello_reply().slot;
    if (slot >= protocol::kMaxThreads || connection::lab() == nullptr) return;
    protocol::ThreadSlot& s = connection::lab()->slots[slot];
    if (tid == 0) tid = static_cast<int32_t>(raw_syscall(SYS_gettid));
    s.tid = tid;
    s.core.store(static_cast<uint32_t>(sched_getcpu() + 1), std::memory_order_relaxed);
}

bool on_empty_wall(Cq& cq) {
    note_core();
    const uint32_t streak = cq.empty_streak.fetch_add(1, std::memory_order_relaxed) + 1;
    if (streak % kPollsPerLook == 0) connection::check_server();
    raw_syscall(SYS_sched_yield);
    return !connection::server_gone();
}

}  // namespace

const CqSlot* peek_completion(Cq& cq) noexcept {
    const uint32_t produced = cq.ring.header->produced.load(std::memory_order_acquire);
    while (cq.consumed != produced) {
        const auto* const slot = reinterpret_cast<const CqSlot*>(cq.ring.slot(cq.consumed));
        if (slot->pad != kForgotten) return slot;
        ++cq.consumed;
    }
    return nullptr;
}

void take_completion(Cq& cq, const CqSlot& slot) noexcept {
    ++cq.consumed;
    if (slot.is_send == 0 && slot.srq != 0) {
        if (Srq* const srq = to_context(cq.ibv.context)->srqs.find(slot.srq)) {
            srq->completed.fetch_add(1, std::memory_order_release);
        }
        return;
    }
    Qp* const qp = qp_of(cq, slot.qp_num);
    if (qp == nullptr) return;
    if (slot.is_send != 0) {
        retire(qp->sq_retired, qp->sq, slot.queue_tail);
    } else {
        retire(qp->rq_retired, qp->rq, slot.queue_tail);
    }
}

void return_places(Cq& cq) noexcept {
    cq.ring.header->consumed.store(cq.consumed, std::memory_order_release);
}

void before_poll(Cq&) {
    if (!turn::active()) return;
    turn::checkpoint();
    note_visible();
}

bool on_empty_poll(Cq& cq) {
    turn::charge(to_context(cq.ibv.context)->info->poll_empty_ps);
    if (connection::server_gone()) return false;
    if (!turn::active()) return on_empty_wall(cq);
    const uint64_t sleeps = turn::deadlines_met();
    if (cq.posts_seen != doorbells_rung() || cq.visible_seen != g_visible || cq.sleeps_seen != sleeps)
        cq.empty_polls = 0;
    if (++cq.empty_polls >= 2) wait_for_something(cq);
    cq.posts_seen = doorbells_rung();
    cq.visible_seen = g_visible;
    cq.sleeps_seen = sleeps;
    return !connection::server_gone();
}

}  // namespace simverbs::client::verbs
