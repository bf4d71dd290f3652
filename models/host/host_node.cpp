#include "models/host/host_node.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine.hpp"

namespace simverbs::host {

void HostNode::add_part(sim::Node& part) {
    engine().add_part(part, id());
    parts_.push_back(&part);
}

void HostNode::submit(const CopySpec& copy, sim::SimTime now, CopySink& sink) {
    const sim::SimTime at = std::max(now, engine().frontier());
    tasks_.push({at, sim::EventPhase::Deliver, copy.gpu},
                [this, copy, at, &sink] { complex_->submit(copy, at, sink); });
    engine().wake(id(), at);
}

void HostNode::change_at(sim::SimTime at, std::function<void()> change) {
    tasks_.push({at, sim::EventPhase::Fault, changes_++}, std::move(change));
    engine().wake(id(), at);
}

sim::SimTime HostNode::next_inside() const {
    return std::min(complex_->next_event_time(), tasks_.next_time());
}

/// What ends may hand over more.
void HostNode::run_inside(sim::SimTime end) {
    while (next_inside() < end) {
        const sim::SimTime now = tasks_.next_time();
        complex_->run_until(std::min(now, end));
        if (now < end && tasks_.next_time() == now) tasks_.pop()();
    }
}

void HostNode::run_window(sim::SimTime end) {
    next_.resize(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) next_[i] = parts_[i]->next_event_time();
    sim::SimTime inside = next_inside();
    for (;;) {
        // The first of all and, if another follows it, that one's time: until then the first may run by itself.
        constexpr size_t kInside = ~size_t{0};
        size_t first = kInside;
        sim::SimTime now = inside, second = sim::SimTime::max();
        for (size_t i = 0; i < parts_.size(); ++i) {
            second = std::min(second, std::max(next_[i], now));
            if (next_[i] >= now) continue;
            now = next_[i];
            first = i;
        }
        if (now >= end) break;
        const sim::SimTime until = std::min(std::max(second, now + sim::SimTime::ps(1)), end);
        if (first == kInside) {
            run_inside(until);
            // The end of a copy may be the beginning of something else.
            for (size_t i = 0; i < parts_.size(); ++i) next_[i] = parts_[i]->next_event_time();
        } else {
            parts_[first]->run_window(until);
            next_[first] = parts_[first]->next_event_time();
        }
        inside = next_inside();
    }
    if (const sim::SimTime next = next_event_time(); next < sim::SimTime::max()) engine().wake(id(), next);
}

sim::SimTime HostNode::next_event_time() const {
    sim::SimTime next = next_inside();
    for (const sim::Node* part : parts_) next = std::min(next, part->next_event_time());
    return next;
}

}  // namespace simverbs::host
