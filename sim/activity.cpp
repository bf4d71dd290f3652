#include "sim/activity.hpp"

#include <algorithm>

namespace simverbs::sim {

void Activity::set_window(SimTime window) {
    SIM_CHECK(window > SimTime::zero() && window <= kMaxWindow, window);
    window_ = window;
    const auto w = static_cast<uint64_t>(window.in_ps());
    span_ = w * kBuckets;
    // Exact for all x < span_: the error of the reciprocal is below 1 in 2^48, x below 2^24.
    reciprocal_ = (uint64_t{1} << kReciprocalShift) / w + 1;
}

void Activity::resize(uint32_t nodes) {
    if (lanes_.size() < nodes) lanes_.resize(nodes, 0);
    const size_t words = (nodes + 63) / 64;
    if (words <= words_) return;
    std::vector<uint64_t> bigger(words * kBuckets, 0);
    for (size_t slot = 0; slot < kBuckets; ++slot)
        std::copy_n(bits_.begin() + static_cast<std::ptrdiff_t>(slot * words_), words_,
                    bigger.begin() + static_cast<std::ptrdiff_t>(slot * words));
    bits_ = std::move(bigger);
    attention_.resize(words, 0);
    words_ = words;
}

void Activity::wake_far(NodeId node, SimTime t) {
    if (t == SimTime::max()) return;
    far_.push_back({t, node});
    std::push_heap(far_.begin(), far_.end(), LaterFirst{});
}

void Activity::pop_far() noexcept {
    std::pop_heap(far_.begin(), far_.end(), LaterFirst{});
    far_.pop_back();
}

SimTime Activity::next_bucket() const noexcept {
    if (active_ != 0) {
        const auto here = static_cast<int>(current_ % kBuckets);
        const uint32_t both = active_ | (active_ << kBuckets);
        return base_ + window_ * std::countr_zero(both >> here);
    }
    if (far_.empty()) return SimTime::max();
    return far_.front().time - far_.front().time % window_;
}

void Activity::advance_to(SimTime t) {
    const auto bucket = static_cast<uint64_t>(t / window_);
    SIM_CHECK(bucket >= current_, bucket, current_);
    if (bucket == current_) return;
    SIM_CHECK(next_bucket() >= window_ * static_cast<int64_t>(bucket), next_bucket(), t);
    current_ = bucket;
    base_ = window_ * static_cast<int64_t>(bucket);
    while (!far_.empty() && static_cast<uint64_t>((far_.front().time - base_).in_ps()) < span_) {
        const FarWake w = far_.front();
        pop_far();
        set_bit(w.node, w.time);
    }
}

}  // namespace simverbs::sim
