// Finds an object of a context by its handle (QPN, CQ handle, SRQ handle). Objects are linked through their own
// `next_in_table`, so that nothing is allocated but the buckets inside the table.
#pragma once

#include <cstdint>

#include "verbs_shim/client/verbs/lock.hpp"

namespace simverbs::client::verbs {

template <typename T>
class HandleTable {
  public:
    void insert(uint32_t key, T* object) noexcept {
        const Guard guard(lock_);
        object->table_key = key;
        object->next_in_table = buckets_[bucket(key)];
        buckets_[bucket(key)] = object;
    }

    void erase(T* object) noexcept {
        const Guard guard(lock_);
        for (T** link = &buckets_[bucket(object->table_key)]; *link != nullptr; link = &(*link)->next_in_table) {
            if (*link != object) continue;
            *link = object->next_in_table;
            return;
        }
    }

    /// Null if there is no such object (any more).
    T* find(uint32_t key) noexcept {
        const Guard guard(lock_);
        for (T* object = buckets_[bucket(key)]; object != nullptr; object = object->next_in_table) {
            if (object->table_key == key) return object;
        }
        return nullptr;
    }

  private:
    static constexpr uint32_t kBuckets = 512;
    static uint32_t bucket(uint32_t key) noexcept { return (key * 2654435761U) >> 23; }
    static_assert(kBuckets == 1U << 9);

    Lock lock_;
    T* buckets_[kBuckets] = {};
};

}  // namespace simverbs::client::verbs
