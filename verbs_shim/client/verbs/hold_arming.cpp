#include "verbs_shim/client/verbs/hold_arming.hpp"

#include <linux/time_types.h>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::verbs {

namespace {

bool has_completion(const Cq& cq) {
    return cq.ring.header->produced.load(std::memory_order_acquire) != cq.consumed;
}

/// False when nothing can come any more.
bool wait_a_little(int64_t deadline_ps) {
    if (turn::now_ps() >= deadline_ps || connection::server_gone()) return false;
    if (!turn::active()) {
        const __kernel_timespec pause{0, 20'000};
        raw_syscall(SYS_nanosleep, as_argument(&pause), 0);
        return true;
    }
    turn::WaitSet set("a completion before it arms its CQ (fault place_cqe)");
    set.add_flags(protocol::kWaitVisible);
    set.add_deadline(deadline_ps);
    const turn::Woken woken = turn::wait(set);
    return woken != turn::Woken::ServerGone && woken != turn::Woken::Interrupted;
}

}  // namespace

void hold_arming(Cq& cq) {
    const uint64_t patience = cq.ring.header->aux.load(std::memory_order_acquire);
    if ((patience & protocol::kArmingHeld) != 0 || has_completion(cq)) return;
    const int64_t deadline = turn::now_ps() + static_cast<int64_t>(patience);
    while (!has_completion(cq))
        if (!wait_a_little(deadline)) return;
    cq.ring.header->aux.store(protocol::kArmingHeld, std::memory_order_release);
}

}  // namespace simverbs::client::verbs
