#include "verbs_shim/client/verbs/doorbell.hpp"

#include <algorithm>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::verbs {

using protocol::ArenaHeader;
using protocol::Doorbell;

namespace {

Lock g_ring_lock;
std::atomic<uint64_t> g_rung{0};
uint64_t g_lock_epoch = 0;

/// A lock that a thread of the parent held when this child was forked is nobody's here.
void adopt_lock() {
    const uint64_t now = connection::epoch();
    if (g_lock_epoch == now) return;
    g_lock_epoch = now;
    g_ring_lock.reset();
}

bool try_ring(ArenaHeader& ring, const Doorbell& bell) {
    const Guard guard(g_ring_lock);
    const uint64_t produced = ring.produced.load(std::memory_order_relaxed);
    if (produced - ring.consumed.load(std::memory_order_acquire) >= protocol::kDoorbells) return false;
    ring.doorbells[produced % protocol::kDoorbells] = bell;
    ring.produced.store(produced + 1, std::memory_order_release);
    return true;
}

/// Lets the server empty the ring.
void make_room() {
    if (turn::active()) {
        turn::WaitSet set("room in the doorbell ring");
        set.add_deadline(turn::now_ps() + 1);
        turn::wait(set);
        return;
    }
    connection::wake_server();
    raw_syscall(SYS_sched_yield);
    connection::check_server();
}

}  // namespace

uint64_t doorbells_rung() noexcept {
    return g_rung.load(std::memory_order_relaxed);
}

void ring_doorbell(const Context& context, uint32_t object, protocol::DoorbellKind kind, uint32_t count) {
    adopt_lock();
    ArenaHeader& ring = *connection::arena_header();
    Doorbell bell{turn::now_ps(), object, kind, 0};
    do {
        bell.count = static_cast<uint16_t>(std::min<uint32_t>(count, 0xFFFF));
        while (!try_ring(ring, bell)) {
            if (connection::server_gone()) return;
            make_room();
        }
        count -= bell.count;
    } while (count != 0);
    g_rung.store(g_rung.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    connection::count(protocol::Stat::DoorbellsRung);
    if (turn::active()) {
        turn::note_post(context.info->down_latency_ps);
    } else {
        connection::wake_server();
    }
}

}  // namespace simverbs::client::verbs
