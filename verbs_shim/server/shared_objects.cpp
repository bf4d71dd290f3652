#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

using protocol::SharedObject;

namespace {

SharedObject* search(protocol::LabShared& lab, uint64_t key, bool create) noexcept {
    uint32_t at = protocol::object_slot(key);
    for (uint32_t n = 0; n < protocol::kMaxObjects; ++n, at = (at + 1) & (protocol::kMaxObjects - 1)) {
        SharedObject& object = lab.objects[at];
        uint64_t seen = object.key.load(std::memory_order_acquire);
        if (seen == key) return &object;
        if (seen != 0) continue;
        if (!create) return nullptr;
        if (object.key.compare_exchange_strong(seen, key) || seen == key) return &object;
    }
    return nullptr;
}

void bump(protocol::LabShared& lab, SharedObject& object, int64_t stamp_ps, uint64_t by) noexcept {
    if (stamp_ps > object.stamp_ps.load(std::memory_order_relaxed))
        object.stamp_ps.store(stamp_ps, std::memory_order_release);
    const uint64_t before = object.value.fetch_add(by);
    lab.histories[&object - lab.objects].add(before + by, object.stamp_ps.load(std::memory_order_relaxed));
}

}  // namespace

SharedObject* find_object(protocol::LabShared& lab, uint64_t key) noexcept {
    return key == 0 ? nullptr : search(lab, key, false);
}

SharedObject* make_object(protocol::LabShared& lab, uint64_t key) noexcept {
    return key == 0 ? nullptr : search(lab, key, true);
}

void bump_object(protocol::LabShared& lab, uint64_t key, int64_t stamp_ps, uint64_t by) noexcept {
    SharedObject* object = make_object(lab, key);
    if (object != nullptr) bump(lab, *object, stamp_ps, by);
}

int64_t changed_at(const protocol::LabShared& lab, const SharedObject& object, uint64_t seen) noexcept {
    return lab.histories[&object - lab.objects].beyond(seen, object.stamp_ps.load(std::memory_order_acquire));
}

void end_objects_of(protocol::LabShared& lab, uint32_t process, int64_t stamp_ps) noexcept {
    for (SharedObject& object : lab.objects) {
        if (object.last_process.load(std::memory_order_relaxed) != process + 1) continue;
        object.last_process.store(0);
        object.refs.store(0);
        if (object.key.load() >> 56 == static_cast<uint64_t>(protocol::ObjectKind::Listener)) object.aux.store(0);
        bump(lab, object, stamp_ps, 1);
    }
}

}  // namespace simverbs::server
