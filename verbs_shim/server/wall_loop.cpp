#include "verbs_shim/server/wall_loop.hpp"

#include <sched.h>

#include <algorithm>

#include "verbs_shim/server/doorbells.hpp"
#include "verbs_shim/server/futex.hpp"
#include "verbs_shim/server/real_time.hpp"

namespace simverbs::server {

using sim::SimTime;

namespace {

constexpr uint32_t kBusyRounds = 200;               ///< rounds without anything to do before the loop sleeps
constexpr int64_t kSleepNs = 500'000;               ///< sockets are looked at at least this often
constexpr SimTime kBetweenLooks = SimTime::us(10);  ///< at the sockets, five system calls, until the loop sleeps

}  // namespace

WallLoop::WallLoop(Lab& lab, LabOwner& owner) : lab_(&lab), owner_(&owner), started_ns_(real_ns()), placement_(lab) {}

SimTime WallLoop::now() const {
    return SimTime::ns(real_ns() - started_ns_);
}

LabEnd WallLoop::run() {
    SimTime next_look;
    for (;;) {
        if (owner_->stop_requested()) return LabEnd::Interrupted;
        const uint32_t word = lab_->shared().server_word.load();
        bool busy = false;
        if (idle_rounds_ > kBusyRounds || lab_->engine().frontier() >= next_look) {
            next_look = now() + kBetweenLooks;
            busy = lab_->poller().poll(0) > 0;
            busy = owner_->drain_output() || busy;
            for (const uint32_t process : lab_->dead_processes())
                lab_->process_died(process, lab_->latest_clock(process));
            if (owner_->finished()) return LabEnd::Done;
        }
        const SimTime t = std::max(now(), lab_->engine().frontier());
        busy = drain_all(t) || busy;
        if (lab_->engine().next_event_time() < t) busy = true;
        lab_->run_engine_until(t);
        lab_->mover().set_safe_time(t);
        busy = show_due(t) || busy;
        // After that: whoever reads this time sees every completion up to it. See the arming of CQs in doorbells.cpp.
        lab_->shared().wall_time_ps.store(t.in_ps(), std::memory_order_release);
        idle_rounds_ = busy ? 0 : idle_rounds_ + 1;
        if (idle_rounds_ > kBusyRounds) {
            sleep_a_little(t, word);
        } else if (!busy && !placement_.is_alone()) {
            ::sched_yield();
        }
    }
}

bool WallLoop::drain_all(SimTime t) {
    uint64_t taken = 0;
    for (auto& [process, client] : lab_->clients()) taken += drain_doorbells(*lab_, *client, t, t);
    return taken > 0;
}

bool WallLoop::show_due(SimTime t) {
    uint64_t shown = 0;
    for (auto& [process, client] : lab_->clients()) {
        if (lab_->next_visible(*client) <= t || client->deliveries.next() <= t) {
            lab_->before_turn(*client, t);
            shown += lab_->apply_deliveries(*client, t);
        }
    }
    return shown > 0;
}

/// Until the next event, a doorbell (which bumps the word), or the next look at the sockets.
void WallLoop::sleep_a_little(SimTime t, uint32_t server_word) {
    SimTime next = lab_->engine().next_event_time();
    for (auto& [process, client] : lab_->clients()) next = std::min(next, client->deliveries.next());
    const int64_t ns = next == SimTime::max() ? kSleepNs : std::clamp<int64_t>((next - t).in_ps() / 1000, 0, kSleepNs);
    if (ns < 5'000) {  // shorter than a sleep takes
        ::sched_yield();
        return;
    }
    lab_->shared().server_sleeps.store(1);
    // A process that posted before it could see the line above wakes nobody: look once more.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    bool posted = false;
    for (auto& [process, client] : lab_->clients())
        posted = posted || client->arena->header().produced.load() != client->doorbells_taken;
    if (!posted && lab_->shared().server_word.load() == server_word)
        wait_word(lab_->shared().server_word, server_word, ns);
    lab_->shared().server_sleeps.store(0);
}

}  // namespace simverbs::server
