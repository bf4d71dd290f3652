#include "verbs_shim/client/clock/clock.hpp"

#include <algorithm>

#include "verbs_shim/client/clock/clock_read.hpp"
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

using turn::t_state;

namespace {

/// A process without connected QPs reads clocks without yielding (perftest calibrates with millions of reads), but not
/// for ever: another thread or program may be what it waits for.
constexpr int64_t kUnexposedSlackPs = 1'000'000'000;

/// A program that does nothing but read clocks waits for a time to come, and gets there in growing steps: a read costs
/// this share of the time spent at one place of the program, but never more than the longest step, so that what it
/// waits for is overshot by little. Its turns grow by the same share of all its clock reading: what it looks at
/// meanwhile (memory that a peer writes) is seen late by no more than that.
constexpr int64_t kShareOfSpin = 64;
constexpr int64_t kLongestStepPs = 2'000'000;

int64_t add(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/// What a read at `place` costs.
int64_t cost_of(turn::ThreadState& t, int64_t cost_ps, const void* place) {
    const int64_t now = t.slot->clock_ps;
    if (t.reads_in_a_row == 0) t.reading_since_ps = now;
    if (t.reads_in_a_row == 0 || t.reading_at != place) {
        t.reading_at = place;
        t.reading_there_since_ps = now;
    }
    const int64_t step = std::min((now - t.reading_there_since_ps) / kShareOfSpin, kLongestStepPs);
    return std::max(cost_ps, step);
}

bool must_yield(const turn::ThreadState& t) {
    const protocol::ThreadSlot& s = *t.slot;
    if (s.clock_ps >= t.post_limit_ps) return true;
    if (s.clock_ps < s.horizon_ps) return false;
    const auto& process = turn::lab()->processes[turn::process_index() % protocol::kMaxProcesses];
    const bool exposed = process.exposed.load(std::memory_order_relaxed) != 0;
    const int64_t share = std::min((s.clock_ps - t.reading_since_ps) / kShareOfSpin, kUnexposedSlackPs);
    return s.clock_ps >= add(s.horizon_ps, exposed ? share : kUnexposedSlackPs);
}

int64_t to_ps(const timespec& t) {
    int64_t ns = 0, ps = 0;
    if (__builtin_mul_overflow(int64_t{t.tv_sec}, int64_t{1'000'000'000}, &ns) ||
        __builtin_add_overflow(ns, int64_t{t.tv_nsec}, &ns) || __builtin_mul_overflow(ns, int64_t{1000}, &ps))
        return t.tv_sec < 0 ? INT64_MIN / 2 : kNever;
    return ps;
}

/// Nanoseconds at simulated time 0 of the clock.
int64_t zero_ns(clockid_t clock_id) {
    const protocol::LabShared* const lab = turn::lab();
    if (lab == nullptr) return 0;
    switch (clock_id) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_TAI:
            return lab->realtime_at_zero_ns;
        case CLOCK_PROCESS_CPUTIME_ID:
        case CLOCK_THREAD_CPUTIME_ID:
            return 0;
        default:
            return lab->monotonic_at_zero_ns;
    }
}

}  // namespace

bool is_simulated() {
    return turn::in_lab() && turn::lab()->clock_mode == protocol::ClockMode::Virtual;
}

int64_t read_clock(int64_t cost_ps, protocol::Stat counter, const void* place) {
    turn::ThreadState& t = t_state;
    if (!turn::active() || t.depth != 0) return turn::now_ps();
    const uint32_t reads = t.reads_in_a_row;
    turn::InShim guard;
    t.reads_in_a_row = reads;
    protocol::ThreadSlot& s = *t.slot;
    s.clock_ps = add(s.clock_ps, cost_of(t, cost_ps, place));
    t.reads_in_a_row = reads + 1;
    t.read_clock = true;
    connection::count(counter);
    if (reads >= 1 && must_yield(t)) turn::hand_off(protocol::Yield::Horizon);
    return s.clock_ps;
}

int64_t thread_time_ps() {
    return turn::now_ps() - t_state.began_ps;
}

int64_t process_time_ps() {
    return turn::now_ps() - turn::g_process.began_ps;
}

int64_t realtime_ns() {
    return zero_ns(CLOCK_REALTIME) + turn::now_ps() / 1000;
}

int64_t monotonic_ns() {
    return zero_ns(CLOCK_MONOTONIC) + turn::now_ps() / 1000;
}

int64_t deadline_in(const timespec* t) {
    if (t == nullptr) return kNever;
    const int64_t ps = to_ps(*t);
    return ps == kNever ? kNever : add(turn::now_ps(), ps < 0 ? 0 : ps);
}

int64_t deadline_in_ms(int64_t milliseconds) {
    if (milliseconds < 0) return kNever;
    constexpr int64_t kPsPerMs = 1'000'000'000;
    int64_t ps = 0;
    return __builtin_mul_overflow(milliseconds, kPsPerMs, &ps) ? kNever : add(turn::now_ps(), ps);
}

int64_t deadline_at(clockid_t clock_id, const timespec* t) {
    if (t == nullptr) return kNever;
    int64_t ns = 0;
    if (__builtin_mul_overflow(int64_t{t->tv_sec}, int64_t{1'000'000'000}, &ns) ||
        __builtin_add_overflow(ns, int64_t{t->tv_nsec}, &ns))
        return t->tv_sec < 0 ? 0 : kNever;
    int64_t ps = 0;
    if (__builtin_mul_overflow(ns - zero_ns(clock_id), int64_t{1000}, &ps)) return kNever;
    if (clock_id == CLOCK_THREAD_CPUTIME_ID) ps = add(ps, t_state.began_ps);
    if (clock_id == CLOCK_PROCESS_CPUTIME_ID) ps = add(ps, turn::g_process.began_ps);
    return ps < 0 ? 0 : ps;
}

}  // namespace simverbs::client::clock
