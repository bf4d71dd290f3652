// An ordinary event list of one node, for rare and slow things.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/event_key.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Events with a payload, in the order (time, phase, source, order of insertion into this node's list). The last is
/// legal only because one node inserts in an order that does not depend on partitioning.
template <class T>
class EventList {
  public:
    void push(const EventKey& key, T payload) {
        heap_.push_back(Entry{key, next_ordinal_++, std::move(payload)});
        std::push_heap(heap_.begin(), heap_.end(), Later{});
    }
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] size_t size() const noexcept { return heap_.size(); }
    /// Time of the first event, SimTime::max() if none.
    [[nodiscard]] SimTime next_time() const noexcept { return heap_.empty() ? SimTime::max() : heap_.front().key.time; }
    /// Key of the first event; there must be one.
    [[nodiscard]] const EventKey& next_key() const noexcept { return heap_.front().key; }
    [[nodiscard]] const T& front() const noexcept { return heap_.front().payload; }
    /// Removes the first event and returns its payload; there must be one.
    T pop() {
        std::pop_heap(heap_.begin(), heap_.end(), Later{});
        T payload = std::move(heap_.back().payload);
        heap_.pop_back();
        return payload;
    }
    /// Removes every event whose payload satisfies `unwanted`.
    template <class Predicate>
    void remove_if(Predicate unwanted) {
        std::erase_if(heap_, [&](const Entry& e) { return unwanted(e.payload); });
        std::make_heap(heap_.begin(), heap_.end(), Later{});
    }

  private:
    struct Entry {
        EventKey key;
        uint64_t ordinal;
        T payload;
    };
    struct Later {
        bool operator()(const Entry& a, const Entry& b) const noexcept {
            return a.key != b.key ? b.key < a.key : b.ordinal < a.ordinal;
        }
    };
    std::vector<Entry> heap_;
    uint64_t next_ordinal_ = 0;
};

}  // namespace simverbs::sim
