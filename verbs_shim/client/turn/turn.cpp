#include "verbs_shim/client/turn/turn.hpp"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/process/children.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"

namespace simverbs::client::turn {

using protocol::Yield;

thread_local ThreadState t_state __attribute__((tls_model("initial-exec")));
ProcessState g_process;

namespace {

/// A wait with more items than fit looks again after this long, doubled up to the maximum.
constexpr int64_t kOverflowStepPs = 5'000'000;
constexpr uint32_t kMaxOverflowDoublings = 8;
/// From pthread_cancel to the other thread's waking up.
constexpr int64_t kCancelPs = 3'000'000;

int64_t saturating_add(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

void copy_wait(protocol::Wait& to, const protocol::Wait& from, int64_t deadline_ps) {
    to.flags = from.flags;
    to.num_items = from.num_items;
    to.deadline_ps = deadline_ps;
    memcpy(to.items, from.items, sizeof(protocol::WaitItem) * from.num_items);
    memcpy(to.what, from.what, sizeof to.what);
}

/// Two spinners of one process must not wake each other for ever: after this many waits in a row that nothing but
/// another thread's turn ended, a thread is taken to have changed nothing.
constexpr uint32_t kMaxIdleWakes = 3;

/// Who polls may do so a counted number of times and then go on: its clock goes on in steps for a while, before it is
/// taken to wait for nothing but what it polls.
constexpr uint32_t kMaxIdleSteps = 1024;

/// This thread has run: spinners of its process look again. Its own wait does not end by that.
void tell_other_threads(ThreadState& t, protocol::Wait& w) {
    if (g_process.threads.load(std::memory_order_relaxed) <= 1) return;
    const bool spins = (w.flags & protocol::kWaitVisible) != 0;
    // Its clock goes on in steps: what it waits for may be in plain memory.
    if (spins) w.flags |= protocol::kWaitReadsClock;
    if (spins && t.idle_wakes >= kMaxIdleWakes) return;
    const uint64_t key = yield_key();
    object_bump(key);
    for (uint32_t i = 0; i < w.num_items; ++i)
        if (w.items[i].key == key) w.items[i].value = object_value(key);
}

/// `item` ended a wait: was it only that another thread has run?
void note_woken_by(ThreadState& t, const protocol::WaitItem& item) {
    if (item.key == yield_key())
        ++t.idle_wakes;
    else
        note_progress();
}

/// Does a spinner's clock go on in steps, whatever else happens?
bool polls_on(const ThreadState& t, uint32_t flags) {
    if ((flags & protocol::kWaitVisible) == 0) return false;
    return t.read_clock || ((flags & protocol::kWaitMemory) == 0 && t.idle_steps < kMaxIdleSteps);
}

/// Does pthread_cancel end this wait?
bool can_be_cancelled(const ThreadState& t, const WaitSet& set) {
    if (t.cancel_key == 0 || t.cancelled || !set.cancellation_point || (set.w.flags & protocol::kWaitVisible) != 0)
        return false;
    int state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcancelstate(state, nullptr);
    return state == PTHREAD_CANCEL_ENABLE;
}

}  // namespace

bool cancelled() {
    return t_state.cancelled;
}

bool active() {
    return t_state.slot != nullptr && g_process.virtual_clock.load(std::memory_order_relaxed);
}
bool in_lab() {
    return g_process.lab != nullptr;
}
protocol::LabShared* lab() {
    return g_process.lab;
}
uint32_t process_index() {
    return g_process.process;
}
uint32_t host_index() {
    return g_process.host;
}
protocol::ThreadSlot* slot() {
    return t_state.slot;
}
bool server_gone() {
    return g_process.gone.load(std::memory_order_relaxed);
}

int64_t now_ps() {
    const ProcessState& p = g_process;
    if (p.lab == nullptr) return 0;
    if (p.gone.load(std::memory_order_relaxed))
        return saturating_add(p.gone_clock_ps, (real_monotonic_ns() - p.gone_real_ns) * 1000);
    if (p.lab->clock_mode == protocol::ClockMode::Wall) return p.lab->wall_time_ps.load(std::memory_order_relaxed);
    if (t_state.slot != nullptr) return t_state.slot->clock_ps;
    // A thread made behind our back: it sees the latest clock of its process.
    int64_t latest = 0;
    const uint32_t slots = p.lab->num_slots.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < slots && i < protocol::kMaxThreads; ++i)
        if (p.lab->slots[i].process == p.process && p.lab->slots[i].clock_ps > latest)
            latest = p.lab->slots[i].clock_ps;
    return latest;
}

void charge(int64_t ps) {
    if (active()) t_state.slot->clock_ps = saturating_add(t_state.slot->clock_ps, ps);
}

void checkpoint() {
    if (!active()) return;
    rejoin_if_lost();
    const protocol::ThreadSlot& s = *t_state.slot;
    if (s.clock_ps >= s.horizon_ps || s.clock_ps >= t_state.post_limit_ps) hand_off(Yield::Horizon);
}

void note_post(int64_t latency_ps) {
    if (!active()) return;
    protocol::ThreadSlot& s = *t_state.slot;
    if (s.oldest_post_ps == INT64_MAX) s.oldest_post_ps = s.clock_ps;
    const int64_t limit = saturating_add(s.clock_ps, latency_ps);
    if (limit < t_state.post_limit_ps) t_state.post_limit_ps = limit;
    note_progress();
}

uint64_t deadlines_met() {
    return t_state.deadlines_met;
}

void note_progress() {
    t_state.read_clock = false;
    t_state.overflow_steps = 0;
    t_state.idle_wakes = 0;
    t_state.idle_steps = 0;
}

WaitSet::WaitSet(const char* what) {
    w.deadline_ps = INT64_MAX;
    strncpy(w.what, what, sizeof w.what - 1);
}

void WaitSet::add_object(uint64_t key, uint64_t value_seen, int64_t latency_ps) {
    if (w.num_items == protocol::kMaxWaitItems) {
        overflow = true;
        return;
    }
    w.items[w.num_items++] = {protocol::WaitKind::Object, 0, key, value_seen, latency_ps};
}

void WaitSet::add_external(int fd, uint32_t poll_events) {
    if (w.num_items == protocol::kMaxWaitItems) {
        overflow = true;
        return;
    }
    w.items[w.num_items++] = {protocol::WaitKind::External, 0, static_cast<uint64_t>(fd), poll_events, 0};
}

void WaitSet::add_deadline(int64_t at_ps) {
    if (at_ps < w.deadline_ps) w.deadline_ps = at_ps;
}

void WaitSet::add_flags(uint32_t wait_flags) {
    w.flags |= wait_flags;
}

Woken wait(WaitSet& set, uint32_t* item) {
    if (item != nullptr) *item = protocol::kNoItem;
    if (!active()) return Woken::ServerGone;
    ThreadState& t = t_state;
    protocol::ThreadSlot& s = *t.slot;
    for (;;) {
        if (t.num_pending != 0) return Woken::Interrupted;
        int64_t deadline = set.w.deadline_ps;
        if (set.overflow) {
            const int64_t step = kOverflowStepPs << t.overflow_steps;
            deadline = deadline < s.clock_ps + step ? deadline : s.clock_ps + step;
            if (t.overflow_steps < kMaxOverflowDoublings) ++t.overflow_steps;
        }
        const int64_t timer = g_process.next_timer_ps.load(std::memory_order_relaxed);
        copy_wait(s.wait, set.w, timer < deadline ? timer : deadline);
        process::watch_children(s.wait);
        uint32_t cancel_item = protocol::kNoItem;
        if (s.wait.num_items < protocol::kMaxWaitItems && can_be_cancelled(t, set)) {
            cancel_item = s.wait.num_items++;
            s.wait.items[cancel_item] = {protocol::WaitKind::Object, 0, t.cancel_key, t.cancel_seen, kCancelPs};
        }
        tell_other_threads(t, s.wait);
        if (polls_on(t, set.w.flags)) s.wait.flags |= protocol::kWaitReadsClock;
        s.woken_by = protocol::kNoItem;
        s.woken_visible = 0;
        if (!hand_off(Yield::Wait)) return Woken::ServerGone;

        if (s.woken_by < set.w.num_items) {
            note_woken_by(t, set.w.items[s.woken_by]);
            if (item != nullptr) *item = s.woken_by;
            return Woken::Item;
        }
        if (s.woken_by != protocol::kNoItem && s.woken_by == cancel_item) {
            t.cancelled = true;
            return Woken::Interrupted;
        }
        if (s.woken_by != protocol::kNoItem) {  // a child has ended: its signal is due
            if (process::notify_ended_children()) return Woken::Interrupted;
            continue;
        }
        if (s.woken_visible != 0) {
            note_progress();
            return Woken::Visible;
        }
        if (t.num_pending != 0) return Woken::Interrupted;
        if (s.clock_ps >= set.w.deadline_ps) {
            ++t.deadlines_met;
            return Woken::Deadline;
        }
        if (set.overflow) return Woken::Item;
        if (timer != INT64_MAX && s.clock_ps >= timer) {
            clock::fire_due_timers();  // handlers are kept until the call is left
            continue;
        }
        // A step of the clock for a spinner that reads it (rule 5).
        if ((s.wait.flags & protocol::kWaitReadsClock) != 0) {
            ++t.idle_steps;
            return Woken::Visible;
        }
    }
}

}  // namespace simverbs::client::turn
