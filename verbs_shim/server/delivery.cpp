#include "verbs_shim/server/delivery.hpp"

#include <algorithm>

namespace simverbs::server {

namespace {

bool later(const Delivery& a, const Delivery& b) noexcept {
    if (a.stamp != b.stamp) return a.stamp > b.stamp;
    if (a.device != b.device) return a.device > b.device;
    return a.ordinal > b.ordinal;
}

}  // namespace

void DeliveryQueue::push(const Delivery& delivery) {
    heap_.push_back(delivery);
    std::push_heap(heap_.begin(), heap_.end(), later);
}

Delivery DeliveryQueue::pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Delivery d = heap_.back();
    heap_.pop_back();
    return d;
}

sim::SimTime DeliveryQueue::next_for_fd(uint64_t key) const noexcept {
    auto earliest = sim::SimTime::max();
    for (const Delivery& d : heap_) {
        if (d.kind == DeliveryKind::ChannelEvent && d.fd_key == key) earliest = std::min(earliest, d.stamp);
    }
    return earliest;
}

}  // namespace simverbs::server
