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

void StampQueue::push(sim::SimTime stamp, sim::SimTime settled) {
    if (head_ == stamps_.size()) {
        stamps_.clear();
        head_ = 0;
    }
    if (stamps_.empty() || stamps_.back() < stamp) {
        stamps_.push_back(stamp);
    } else {
        // Several adapters, or the loopback beside the wire.
        const auto begin = stamps_.begin() + static_cast<std::ptrdiff_t>(head_);
        const auto place = std::lower_bound(begin, stamps_.end(), stamp);
        if (*place == stamp) return;
        stamps_.insert(place, stamp);
    }
    if (stamps_.size() > thin_out_above_) thin_out(settled);
}

/// Whoever asks next is told of all that is settled at once: only the first (when) and the last (stamp) matter.
void StampQueue::thin_out(sim::SimTime settled) {
    stamps_.erase(stamps_.begin(), stamps_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
    const auto end = std::upper_bound(stamps_.begin(), stamps_.end(), settled);
    if (end - stamps_.begin() > 2) stamps_.erase(stamps_.begin() + 1, end - 1);
    thin_out_above_ = std::max(kThinOutAbove, 2 * stamps_.size());
}

bool StampQueue::pop_due(sim::SimTime clock, sim::SimTime& last) {
    const size_t before = head_;
    while (head_ != stamps_.size() && stamps_[head_] <= clock) last = stamps_[head_++];
    return head_ != before;
}

bool DeliveryQueue::push_written(sim::SimTime stamp, bool part, sim::SimTime settled) {
    const bool first = stamp < (part ? next_part() : next_whole());
    (part ? parts_ : written_).push(stamp, settled);
    return first;
}

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
        const bool event = d.kind == DeliveryKind::ChannelEvent || d.kind == DeliveryKind::CmEvent ||
                           d.kind == DeliveryKind::GpuProgress;
        if (event && d.fd_key == key) earliest = std::min(earliest, d.stamp);
    }
    return earliest;
}

}  // namespace simverbs::server
