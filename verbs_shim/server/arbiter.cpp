#include "verbs_shim/server/arbiter.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "verbs_shim/server/doorbells.hpp"
#include "verbs_shim/server/futex.hpp"
#include "verbs_shim/server/real_time.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

using protocol::Turn;
using protocol::Yield;
using sim::SimTime;

namespace {

constexpr int64_t kTickNs = 5'000'000;
constexpr uint64_t kRoundsBetweenClockReads = 32;
/// A turn without any other bound: long enough to cost nothing, short enough that a missed wake-up is noticed.
constexpr SimTime kLongestTurn = SimTime::us(100);
constexpr SimTime kLeap = SimTime::ms(1);
constexpr uint32_t kLooksBeforeStall = 10;  ///< of 10 ms
constexpr int64_t kArrivalTimeoutNs = 20'000'000'000;
constexpr int64_t kAsleepAtEndNs = 1'000'000'000;  ///< real time
constexpr int64_t kRunsAtEndNs = 2'000'000;        ///< CPU time: more than looking whether the lab is still there

/// For protocol::wait_awhile.
struct RealSystem {
    static void yield() { ::sched_yield(); }
    static int64_t now_ns() { return real_ns(); }
};

}  // namespace

Arbiter::Arbiter(Lab& lab, LabOwner& owner)
    : lab_(&lab),
      owner_(&owner),
      shared_(&lab.shared()),
      states_(protocol::kMaxThreads),
      host_busy_(lab.hosts().size(), false),
      placement_(lab) {}

Turn Arbiter::turn_of(uint32_t slot) const {
    return static_cast<Turn>(shared_->slots[slot].turn.load(std::memory_order_acquire));
}

/// Nothing may act at a time that the models have passed: a thread's clock plus L is never before the frontier.
SimTime Arbiter::floor() const {
    const SimTime frontier = lab_->engine().frontier();
    return frontier > lab_->down_latency() ? frontier - lab_->down_latency() : SimTime::zero();
}

SimTime Arbiter::next_event() {
    if (!next_event_known_) next_event_ = lab_->engine().next_event_time();
    next_event_known_ = true;
    return next_event_;
}

LabEnd Arbiter::run() {
    note_empty_hosts();
    for (;;) {
        tick_if_due();
        if (owner_->stop_requested()) return LabEnd::Interrupted;
        // What programs leave running in the background does not keep the lab alive.
        if (members_seen_ != lab_->membership_epoch()) {
            members_seen_ = lab_->membership_epoch();
            if (owner_->finished()) return LabEnd::Done;
        }
        const Pick p = pick();
        const SimTime next = next_event();
        if (next != SimTime::max() && next <= p.at) {
            run_models(p);
            continue;
        }
        if (p.slot != Lab::kNone) {
            looks_at_stall_ = 0;
            // Before a long leap: whoever was killed meanwhile died now, not when it would have woken up.
            if (p.at.in_ps() - latest_granted_ps_ > kLeap.in_ps()) {
                const uint64_t members = lab_->membership_epoch();
                tick(0);
                if (members != lab_->membership_epoch()) continue;
            }
            give_turn(p.slot, p);
            continue;
        }
        tick(0);
        if (owner_->finished()) return LabEnd::Done;
        if (p.outside || !p.any || owner_->may_freeze()) {
            tick(p.any ? 1 : 5);  // time stands still; something real must happen first
            continue;
        }
        const Pick again = pick();  // a death that was just noticed may have changed everything
        if (again.slot != Lab::kNone || again.outside || !again.any) continue;
        // Somebody may have been killed, and the kernel is still at it.
        if (++looks_at_stall_ > kLooksBeforeStall) return LabEnd::Stalled;
        tick(10);
    }
}

Arbiter::Pick Arbiter::pick() {
    Pick p;
    const uint32_t slots = lab_->roster().num_slots;
    for (uint32_t i = 0; i < slots; ++i) {
        const Turn turn = turn_of(i);
        if (turn == Turn::Free || turn == Turn::Gone) continue;
        p.any = true;
        if (turn == Turn::Lost) {
            p.outside = true;
            continue;
        }
        const SimTime at = ready_time(i);
        if (states_[i].has_external) p.outside = true;
        if (at < p.at) {
            p.at = at;
            p.slot = i;
        }
    }
    return p;
}

/// One window after another, as long as no thread's moment comes. A thread that an event wakes may act L later at the
/// earliest, and so may every thread that is ready.
void Arbiter::run_models(const Pick& p) {
    const SimTime lookahead = lab_->down_latency();
    const uint64_t epoch = lab_->delivery_epoch();
    SimTime next = next_event();
    do {
        SimTime limit = next + lookahead;
        if (p.at != SimTime::max()) limit = std::min(limit, p.at + lookahead);
        lab_->mover().set_safe_time(next);
        lab_->run_engine_window(limit);
        next_event_known_ = false;
        tick_if_due();
        next = next_event();
    } while (epoch == lab_->delivery_epoch() && next != SimTime::max() && next <= p.at && !owner_->stop_requested());
}

void Arbiter::give_turn(uint32_t slot, const Pick& p) {
    const Turn turn = turn_of(slot);
    if (turn == Turn::Reserved) {
        next_event_known_ = false;
        return await_arrival(slot);
    }
    if (turn == Turn::Waiting) {
        switch (capture(slot).yield) {
            case Yield::Control:
                next_event_known_ = false;
                return serve_control(slot, p.at);
            case Yield::Exit:
                next_event_known_ = false;
                return finish_exit(slot, p.at);
            case Yield::Horizon:
            case Yield::Wait:
            case Yield::Arrived:
                break;
        }
        grant(slot, p);
    }
    next_event_known_ = false;
    await_holder(slot);
    end_turn(slot);
}

/// A request takes effect when it reaches the device; its caller goes on when it has its answer.
void Arbiter::serve_control(uint32_t slot, SimTime at) {
    SlotState& state = states_[slot];
    const SimTime acts = std::max(at + lab_->down_latency(), lab_->engine().frontier());
    lab_->run_engine_until(acts);
    state.yield = Yield::Horizon;
    state.clock_ps = std::max(state.clock_ps, at.in_ps());
    Client* client = lab_->client_of_process(process_of(slot));
    if (client == nullptr) return;
    lab_->before_turn(*client, at);
    const int64_t cost = lab_->serve_request(*client, acts, slot);
    if (cost > 0) state.clock_ps += cost;
}

/// A thread or a process has ended, at its own time and not when the kernel got round to it.
void Arbiter::finish_exit(uint32_t slot, SimTime at) {
    const bool process_ends = capture(slot).process_ends;
    lab_->run_engine_until(std::max(at + lab_->down_latency(), lab_->engine().frontier()));
    const uint32_t process = process_of(slot);
    if (!process_ends) {
        lab_->free_slot(slot);
        return;
    }
    if (await_death(slot)) lab_->process_died(process, at.in_ps());
}

/// The process has said its last word; what it still prints belongs here, not where the kernel happens to finish it.
bool Arbiter::await_death(uint32_t slot) {
    const uint32_t process = process_of(slot);
    const pid_t pid = entry_of(slot).pid;
    const int64_t began = real_ns();
    int64_t awake = began, ran = 0;
    while (lab_->roster().processes[process].used && !lab_->is_dead(process)) {
        if (owner_->stop_requested()) return false;
        lab_->poller().poll(1);
        owner_->drain_output();
        // Whoever is on its way out runs, or waits for a core; who sleeps has only said so.
        const int64_t now = real_ns();
        const ThreadReading reading = read_thread(pid, pid);
        if (reading.state != 'S' || reading.run_ns - ran > kRunsAtEndNs) {
            awake = now;
            ran = reading.run_ns;
        }
        if (now - awake < kAsleepAtEndNs && now - began < kArrivalTimeoutNs) continue;
        lose_turn(slot, "says that it ends, but does not");
        return false;
    }
    owner_->drain_output();
    return true;
}

/// A slot was given away, but its thread or process has not come yet. The machine's speed must not matter: wait.
void Arbiter::await_arrival(uint32_t slot) {
    const int64_t began = real_ns();
    states_[slot] = {};
    const auto arrived = [&] { return turn_of(slot) != Turn::Reserved; };
    while (!protocol::wait_awhile<RealSystem>(turn_wait_, {protocol::kShortSpin, 0}, arrived, [] { return false; })) {
        lab_->poller().poll(1);
        owner_->drain_output();
        reap_dead();
        if (owner_->stop_requested() || arrived()) return;
        if (real_ns() - began < kArrivalTimeoutNs) continue;
        lab_->observer().on_note(
            fmt::format("{}: a program or thread that was started did not come into the lab (statically linked?)",
                        lab_->hosts()[entry_of(slot).host].name));
        lose_turn(slot, "never came");
        return;
    }
}

void Arbiter::grant(uint32_t slot, const Pick& p) {
    protocol::ThreadSlot& s = shared_->slots[slot];
    SlotState& state = states_[slot];
    Client* client = lab_->client_of_process(process_of(slot));
    if (process_of(slot) != last_process_) {
        owner_->drain_output();
        last_process_ = process_of(slot);
    }
    const SimTime clock = std::max(p.at, SimTime::ps(capture(slot).clock_ps));
    SimTime horizon = std::min(clock + kLongestTurn, next_event());
    if (horizon < clock + kLongestTurn) horizon += lab_->up_latency();
    // Another process acts on this one through an adapter at least, down there and up here; a thread of the same
    // process may do so at once.
    const auto [same, other] = next_others(slot);
    if (same != SimTime::max()) horizon = std::min(horizon, same + lab_->down_latency());
    if (other != SimTime::max()) horizon = std::min(horizon, other + lab_->down_latency() + lab_->up_latency());
    if (client != nullptr) {
        lab_->before_turn(*client, clock);
        lab_->apply_deliveries(*client, clock);
        horizon = std::min({horizon, client->deliveries.next(), lab_->next_visible(*client)});
    }
    uint32_t woken_by = Lab::kNone;
    const bool woken_visible = client != nullptr && client->visible_count != state.visible_seen;
    if (state.yield == Yield::Wait) {
        for (size_t i = 0; i < state.items.size() && woken_by == Lab::kNone; ++i) {
            if (item_ready(slot, i, client) <= clock) woken_by = static_cast<uint32_t>(i);
        }
        const bool stepped = woken_by == Lab::kNone && !woken_visible && clock.in_ps() < state.deadline_ps &&
                             (state.wait_flags & protocol::kWaitReadsClock) != 0;
        state.steps = stepped ? state.steps + 1 : 0;
    }
    s.clock_ps = clock.in_ps();
    s.horizon_ps = horizon.in_ps();
    s.oldest_post_ps = INT64_MAX;
    s.woken_by = woken_by;
    s.woken_visible = woken_visible ? 1 : 0;
    state.visible_seen = client != nullptr ? client->visible_count : 0;
    state.whole_seen = client != nullptr ? client->whole_count : 0;
    state.granted_ps = state.clock_ps = clock.in_ps();
    state.is_captured = false;
    state.items.clear();
    state.external.clear();
    state.has_external = false;
    latest_granted_ps_ = std::max(latest_granted_ps_, clock.in_ps());
    s.grant = ++grants_;
    shared_->holder.store(slot, std::memory_order_relaxed);
    placement_.before_grant(s);
    s.turn.store(static_cast<uint32_t>(Turn::Running), std::memory_order_seq_cst);
    if (s.sleeps.load(std::memory_order_seq_cst) != 0) wake_word(s.turn);
}

/// When the next other thread of the slot's process, and of any other process, is ready.
std::pair<SimTime, SimTime> Arbiter::next_others(uint32_t slot) {
    SimTime same = SimTime::max(), other = SimTime::max();
    const uint32_t slots = lab_->roster().num_slots;
    for (uint32_t i = 0; i < slots; ++i) {
        const Turn turn = turn_of(i);
        if (i == slot || (turn != Turn::Waiting && turn != Turn::Reserved)) continue;
        SimTime& next = process_of(i) == process_of(slot) ? same : other;
        next = std::min(next, ready_time(i));
    }
    return {same, other};
}

void Arbiter::await_holder(uint32_t slot) {
    const auto gave_up = [&] { return turn_of(slot) != Turn::Running; };
    const auto ours = [&] { return placement_.shares_core(shared_->slots[slot]); };
    const protocol::Spin spin{ours() ? 0 : protocol::kLongSpin, 0};
    if (protocol::wait_awhile<RealSystem>(turn_wait_, spin, gave_up, ours)) return;
    ThreadWatch watch;
    bool watching = false;
    while (!gave_up()) {
        // Sleep on the word that every thread bumps when it gives up its turn.
        const uint32_t seen = shared_->server_word.load();
        shared_->server_sleeps.store(1);
        if (!gave_up()) wait_word(shared_->server_word, seen, kTickNs / 2);
        shared_->server_sleeps.store(0);
        if (gave_up()) return;
        const int64_t now = real_ns();
        if (now - last_tick_ns_ < kTickNs / 2) continue;
        last_tick_ns_ = now;
        if (!watching) {
            const protocol::ThreadSlot& s = shared_->slots[slot];
            watch.begin(read_thread(entry_of(slot).pid, s.tid), now);
            watching = true;
        }
        if (!look_after_holder(slot, watch, now)) return;
    }
}

/// False if the turn is over without the thread's saying so.
bool Arbiter::look_after_holder(uint32_t slot, ThreadWatch& watch, int64_t now_ns) {
    protocol::ThreadSlot& s = shared_->slots[slot];
    const bool moved = lab_->poller().poll(0) > 0;
    const bool output = owner_->drain_output();
    reap_dead();
    if (owner_->stop_requested()) return false;
    if (turn_of(slot) != Turn::Running) return false;
    const pid_t pid = entry_of(slot).pid;
    const ThreadReading reading = read_thread(pid, s.tid);
    switch (watch.look(reading, s.in_shim.load() != 0, moved || output, now_ns)) {
        case WatchVerdict::Wait:
            return true;
        case WatchVerdict::Probe:
            ++s.probe_request;
            (void)::syscall(SYS_tgkill, pid, s.tid, protocol::kProbeSignal);
            return true;
        case WatchVerdict::Lost:
            lose_turn(slot, "sleeps in something that the lab does not know");
            return false;
    }
    return true;
}

void Arbiter::lose_turn(uint32_t slot, const char* why) {
    protocol::ThreadSlot& s = shared_->slots[slot];
    uint32_t running = s.turn.load();
    if (running == static_cast<uint32_t>(Turn::Waiting) && capture(slot).yield != Yield::Exit) return;
    if (!s.turn.compare_exchange_strong(running, static_cast<uint32_t>(Turn::Lost))) return;
    states_[slot].is_captured = false;
    const Roster::Process& entry = entry_of(slot);
    const Client* client = lab_->client_of_process(process_of(slot));
    lab_->observer().on_note(fmt::format("{}: {} (pid {}, thread {}) {}{}", lab_->hosts()[entry.host].name,
                                         client != nullptr ? client->command : "a program", entry.pid, s.tid, why,
                                         told_undetermined_ ? "" : "; this run is not deterministic from here"));
    told_undetermined_ = true;
}

void Arbiter::end_turn(uint32_t slot) {
    if (turn_of(slot) == Turn::Free) return;
    if (Client* client = lab_->client_of_process(process_of(slot)))
        drain_doorbells(*lab_, *client, SimTime::ps(state_of(slot).granted_ps), SimTime::ps(clock_of(slot)));
    if (turn_of(slot) == Turn::Gone) return lab_->free_slot(slot);
    if (turn_of(slot) != Turn::Waiting) return;
    const SlotState& state = capture(slot);
    if (state.yield == Yield::Exit && state.process_ends) (void)await_death(slot);
    note_host_busy(slot);
}

/// Rule 9: a connect without a listener is refused once the target host has nothing more to do by itself.
void Arbiter::note_host_busy(uint32_t slot) {
    const uint32_t host = entry_of(slot).host;
    if (host_busy_[host]) return;
    const uint32_t slots = lab_->roster().num_slots;
    for (uint32_t i = 0; i < slots; ++i) {
        const Turn turn = turn_of(i);
        if (turn == Turn::Free || turn == Turn::Gone || entry_of(i).host != host) continue;
        if (turn == Turn::Lost) continue;
        if (turn != Turn::Waiting || capture(i).yield != Yield::Wait) return;
        const SimTime ready = ready_time(i);
        if (ready != SimTime::max() && ready.in_ps() < states_[i].deadline_ps) return;
    }
    host_busy_[host] = true;
    bump_object(*shared_, protocol::object_key(protocol::ObjectKind::HostBusy, host), states_[slot].clock_ps);
}

/// Nothing will ever listen on a host without a program of its own.
void Arbiter::note_empty_hosts() {
    for (uint32_t host = 0; host < host_busy_.size(); ++host) {
        bool empty = true;
        for (uint32_t i = 0; i < lab_->roster().num_processes; ++i)
            empty = empty && (!lab_->roster().processes[i].used || lab_->roster().processes[i].host != host);
        if (!empty) continue;
        host_busy_[host] = true;
        bump_object(*shared_, protocol::object_key(protocol::ObjectKind::HostBusy, host), 0);
    }
}

void Arbiter::reap_dead() {
    for (const uint32_t process : lab_->dead_processes()) {
        // One that said that it ends is buried at its own time (finish_exit).
        bool announced = false;
        const uint32_t slots = lab_->roster().num_slots;
        for (uint32_t i = 0; i < slots; ++i) {
            if (process_of(i) != process || turn_of(i) != Turn::Waiting) continue;
            const SlotState& state = capture(i);
            announced = announced || (state.yield == Yield::Exit && state.process_ends);
        }
        if (!announced) lab_->process_died(process, lab_->latest_clock(process));
    }
}

void Arbiter::tick(int timeout_ms) {
    next_event_known_ = false;
    lab_->poller().poll(timeout_ms);
    owner_->drain_output();
    reap_dead();
    last_tick_ns_ = real_ns();
}

void Arbiter::tick_if_due() {
    if (++rounds_ % kRoundsBetweenClockReads != 0) return;
    if (real_ns() - last_tick_ns_ >= kTickNs) tick(0);
}

}  // namespace simverbs::server
