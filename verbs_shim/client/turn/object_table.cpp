// The lab's shared objects: open addressing on the key. Entries are never moved, so a found pointer
// stays good for the life of the lab.
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::turn {

using protocol::SharedObject;

namespace {

/// No reader of the lab's objects hears of a change earlier than this (latencies of waits are at least about that).
constexpr int64_t kAfterBumpPs = 1'000'000;

protocol::ObjectHistory& history_of(const SharedObject& o) {
    return g_process.lab->histories[&o - g_process.lab->objects];
}

}  // namespace

SharedObject* object_find(uint64_t key, bool create) {
    if (g_process.lab == nullptr || key == 0) return nullptr;
    SharedObject* const objects = g_process.lab->objects;
    uint32_t at = protocol::object_slot(key);
    for (uint32_t n = 0; n < protocol::kMaxObjects; ++n, at = (at + 1) & (protocol::kMaxObjects - 1)) {
        SharedObject& o = objects[at];
        uint64_t seen = o.key.load(std::memory_order_acquire);
        if (seen == key) return &o;
        if (seen != 0) continue;
        if (!create) return nullptr;
        if (o.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel) || seen == key) return &o;
    }
    return nullptr;
}

uint64_t object_value(uint64_t key) {
    const SharedObject* o = object_find(key, false);
    return o == nullptr ? 0 : o->value.load(std::memory_order_acquire);
}

uint64_t object_aux(uint64_t key) {
    const SharedObject* o = object_find(key, false);
    return o == nullptr ? 0 : o->aux.load(std::memory_order_acquire);
}

int64_t object_stamp(uint64_t key) {
    const SharedObject* o = object_find(key, false);
    return o == nullptr ? 0 : o->stamp_ps.load(std::memory_order_acquire);
}

int64_t object_changed_at(uint64_t key, uint64_t seen) {
    const SharedObject* o = object_find(key, false);
    if (o == nullptr) return 0;
    return history_of(*o).beyond(seen, o->stamp_ps.load(std::memory_order_acquire));
}

void object_bump(uint64_t key, uint64_t by) {
    SharedObject* o = object_find(key, true);
    if (o == nullptr) return;
    const int64_t now = now_ps();
    if (now > o->stamp_ps.load(std::memory_order_relaxed)) o->stamp_ps.store(now, std::memory_order_release);
    const uint64_t before = o->value.fetch_add(by, std::memory_order_acq_rel);
    history_of(*o).add(before + by, o->stamp_ps.load(std::memory_order_relaxed));
    // Whoever waits for it is ready soon: the horizon of this turn was reckoned without them.
    if (active() && key != yield_key() && t_state.slot->horizon_ps > now + kAfterBumpPs)
        t_state.slot->horizon_ps = now + kAfterBumpPs;
}

void object_set_aux(uint64_t key, uint64_t aux) {
    if (SharedObject* o = object_find(key, true)) o->aux.store(aux, std::memory_order_release);
}

}  // namespace simverbs::client::turn
