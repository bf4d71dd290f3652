// When a thread that has given up its turn is ready to have it again.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "verbs_shim/server/arbiter.hpp"
#include "verbs_shim/server/read_once.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

using protocol::Turn;
using protocol::WaitKind;
using protocol::Yield;
using sim::SimTime;

namespace {

/// Rule 5: a spinner that reads a clock looks again after this long, twice as long each time, up to the longest.
constexpr SimTime kFirstStep = SimTime::us(100);
constexpr uint32_t kMostDoublings = 7;  // 12.8 ms

/// Nothing that a program does takes less; who waits for less so often in a row waits for longer from then on.
constexpr int64_t kShortestWaitPs = SimTime::ns(1).in_ps();
constexpr uint32_t kMaxShortWaits = 1000;
constexpr int64_t kLongerWaitPs = SimTime::us(1).in_ps();

SimTime saturating(SimTime a, int64_t more_ps) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a.in_ps(), std::max<int64_t>(more_ps, 0), &sum)) return SimTime::max();
    return SimTime::ps(sum);
}

}  // namespace

Arbiter::SlotState& Arbiter::state_of(uint32_t slot) {
    SlotState& state = states_[slot];
    const uint32_t tenant = lab_->roster().tenants_of_slot[slot];
    if (state.tenant != tenant) {
        state = {};
        state.tenant = tenant;
    }
    return state;
}

int64_t Arbiter::clock_of(uint32_t slot) {
    const int64_t granted_ps = state_of(slot).granted_ps;
    return std::clamp(read_once(shared_->slots[slot].clock_ps), granted_ps, std::max(Lab::kLatestClockPs, granted_ps));
}

const Arbiter::SlotState& Arbiter::capture(uint32_t slot) {
    SlotState& state = state_of(slot);
    if (state.is_captured) return state;
    const protocol::ThreadSlot& s = shared_->slots[slot];
    state.is_captured = true;
    state.clock_ps = clock_of(slot);
    state.yield = static_cast<Yield>(read_once(s.yield));
    state.process_ends = (s.slot_flags.load(std::memory_order_acquire) & protocol::kSlotProcessEnds) != 0;
    if (state.yield == Yield::Wait) copy_wait(slot);
    return state;
}

SimTime Arbiter::ready_time(uint32_t slot) {
    const bool waits = turn_of(slot) == Turn::Waiting;
    const SlotState* const state = waits ? &capture(slot) : nullptr;
    const SimTime clock = SimTime::ps(waits ? state->clock_ps : clock_of(slot));
    // The other threads of a process that is ending are dead already.
    if (lab_->is_dead(process_of(slot)) && (!waits || state->yield != Yield::Exit)) return SimTime::max();
    const SimTime frozen_until = lab_->frozen_until(process_of(slot));
    if (frozen_until == SimTime::max()) return frozen_until;
    if (waits && state->yield == Yield::Wait) {
        const SimTime ready = wait_ready(slot, lab_->client_of_process(process_of(slot)));
        return ready == SimTime::max() ? ready : std::max({ready, clock, floor(), frozen_until});
    }
    return std::max({clock, floor(), frozen_until});
}

SimTime Arbiter::wait_ready(uint32_t slot, Client* client) {
    const protocol::ThreadSlot& s = shared_->slots[slot];
    const SlotState& state = states_[slot];
    const SimTime clock = SimTime::ps(state.clock_ps);
    if ((s.slot_flags.load(std::memory_order_acquire) & protocol::kSlotInterrupted) != 0)
        return SimTime::ps(std::max(state.clock_ps, latest_granted_ps_));
    SimTime ready = SimTime::ps(state.deadline_ps);
    for (size_t i = 0; i < state.items.size(); ++i) ready = std::min(ready, item_ready(slot, i, client));
    if ((state.wait_flags & protocol::kWaitVisible) != 0 && client != nullptr) {
        // Who polls a CQ is not woken for each packet of a message, but neither left alone if its end never comes.
        const bool parts_too = (state.wait_flags & protocol::kWaitMemory) != 0;
        const auto by_part = [&](SimTime t) { return parts_too ? t : saturating(t, kFirstStep.in_ps()); };
        if (client->visible_count != state.visible_seen) {
            const SimTime stamp = SimTime::ps(client->visible_stamp_ps);
            ready = std::min(ready, client->whole_count != state.whole_seen ? stamp : by_part(stamp));
        }
        ready = std::min({ready, client->deliveries.next_whole(), by_part(client->deliveries.next_part())});
    }
    if ((state.wait_flags & protocol::kWaitReadsClock) != 0)
        ready = std::min(ready, clock + kFirstStep * (int64_t{1} << std::min(state.steps, kMostDoublings)));
    return ready;
}

SimTime Arbiter::item_ready(uint32_t slot, size_t item, Client* client) {
    SlotState& state = states_[slot];
    const protocol::WaitItem& it = state.items[item];
    const SimTime clock = SimTime::ps(state.clock_ps);
    if (it.kind == WaitKind::External)
        return external_ready(state, item) ? SimTime::ps(std::max(clock.in_ps(), latest_granted_ps_)) : SimTime::max();
    if (it.kind != WaitKind::Object) return SimTime::max();
    SimTime ready = SimTime::max();
    const protocol::SharedObject* object = find_object(*shared_, it.key);
    const uint64_t value = object == nullptr ? 0 : object->value.load(std::memory_order_acquire);
    if (value != it.value)
        ready = saturating(SimTime::ps(object == nullptr ? 0 : changed_at(*shared_, *object, it.value)), it.latency_ps);
    const uint64_t kind = it.key >> 56;
    const bool delivered = kind == static_cast<uint64_t>(protocol::ObjectKind::ChannelFd) ||
                           kind == static_cast<uint64_t>(protocol::ObjectKind::GpuQueue);
    if (client != nullptr && delivered) {
        // An event that is made, but not yet due: it will bump the object when it is.
        const SimTime pending = client->deliveries.next_for_fd(it.key);
        if (pending != SimTime::max()) ready = std::min(ready, saturating(pending, it.latency_ps));
    }
    return ready == SimTime::max() ? ready : std::max(ready, clock);
}

bool Arbiter::external_ready(SlotState& state, size_t item) const {
    if (item >= state.external.size() || !state.external[item].valid()) return true;  // let it find out itself
    pollfd p{state.external[item].get(), static_cast<short>(state.items[item].value), 0};
    return ::poll(&p, 1, 0) != 0;
}

/// The thread's wait, copied once: what it says cannot change afterwards.
void Arbiter::copy_wait(uint32_t slot) {
    const protocol::ThreadSlot& s = shared_->slots[slot];
    SlotState& state = states_[slot];
    state.wait_flags = read_once(s.wait.flags);
    state.deadline_ps = std::max(read_once(s.wait.deadline_ps), int64_t{0});
    // It would hold up everybody's time.
    state.short_waits = state.deadline_ps - state.clock_ps < kShortestWaitPs ? state.short_waits + 1 : 0;
    if (state.short_waits > kMaxShortWaits)
        state.deadline_ps = saturating(SimTime::ps(state.clock_ps), kLongerWaitPs).in_ps();
    const uint32_t n = std::min(read_once(s.wait.num_items), protocol::kMaxWaitItems);
    state.items.assign(s.wait.items, s.wait.items + n);
    for (size_t i = 0; i < n; ++i) {
        if (state.items[i].kind != WaitKind::External) continue;
        state.has_external = true;
        state.external.resize(n);
        const int pidfd = lab_->pidfd_of(process_of(slot));
        state.external[i] =
            UniqueFd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, static_cast<int>(state.items[i].key), 0)));
    }
}

}  // namespace simverbs::server
