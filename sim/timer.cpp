#include "sim/timer.hpp"

namespace simverbs::sim {

TimerQueue::Index TimerQueue::add(SourceId source, uint64_t tag) {
    Index index = 0;
    if (free_.empty()) {
        index = static_cast<Index>(slots_.size());
        slots_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    slots_[index] = Slot{SimTime::max(), source, tag, kNotPending};
    return index;
}

void TimerQueue::remove(Index timer) {
    cancel(timer);
    free_.push_back(timer);
}

void TimerQueue::set(Index timer, SimTime t) {
    if (t == SimTime::max()) return cancel(timer);
    Slot& slot = slots_[timer];
    const Entry entry{t, slot.source, timer};
    uint32_t position = slot.position;
    if (position == kNotPending) {
        position = static_cast<uint32_t>(heap_.size());
        heap_.push_back(entry);
    }
    const bool earlier = t < slot.time;
    slot.time = t;
    if (earlier)
        sift_up(position, entry);
    else
        sift_down(position, entry);
}

void TimerQueue::cancel(Index timer) {
    Slot& slot = slots_[timer];
    if (slot.position == kNotPending) return;
    const uint32_t position = slot.position;
    slot.position = kNotPending;
    slot.time = SimTime::max();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (position == heap_.size()) return;
    if (position > 0 && last.before(heap_[(position - 1) / kArity]))
        sift_up(position, last);
    else
        sift_down(position, last);
}

uint64_t TimerQueue::pop() {
    SIM_CHECK(!heap_.empty());
    const Index timer = heap_.front().timer;
    cancel(timer);
    return slots_[timer].tag;
}

void TimerQueue::place(uint32_t position, const Entry& entry) {
    heap_[position] = entry;
    slots_[entry.timer].position = position;
}

void TimerQueue::sift_up(uint32_t position, const Entry& entry) {
    while (position > 0) {
        const uint32_t parent = (position - 1) / kArity;
        if (!entry.before(heap_[parent])) break;
        place(position, heap_[parent]);
        position = parent;
    }
    place(position, entry);
}

void TimerQueue::sift_down(uint32_t position, const Entry& entry) {
    const auto size = static_cast<uint32_t>(heap_.size());
    for (;;) {
        const uint32_t first = position * kArity + 1;
        if (first >= size) break;
        uint32_t best = first;
        for (uint32_t child = first + 1; child < std::min(first + kArity, size); ++child)
            if (heap_[child].before(heap_[best])) best = child;
        if (!heap_[best].before(entry)) break;
        place(position, heap_[best]);
        position = best;
    }
    place(position, entry);
}

}  // namespace simverbs::sim
