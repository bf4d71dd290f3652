#include "models/gpu/copy_queue.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace simverbs::gpu {

using sim::SimTime;

void CopyQueue::submit(const host::CopySpec& copy, host::CopySink& sink, SimTime now, uint32_t window) {
    waiting_.push_back({copy, &sink, now + times_.overhead / 2, std::clamp(window, 2U, kMostUnderWay)});
    if (waiting_.size() == 1) begin_next();
}

void CopyQueue::begin_next() noexcept {
    issued_ = 0;
    started_ = false;
    under_way_.fill(SimTime::zero());
    next_ = waiting_.empty() ? SimTime::max() : std::max(waiting_.front().ready, free_);
    done_ = next_;
}

CopyQueue::Piece CopyQueue::take() noexcept {
    const Piece piece{issued_, static_cast<uint32_t>(std::min<uint64_t>(kPiece, copy().bytes - issued_))};
    issued_ += piece.bytes;
    started_ = true;
    ++pieces_;
    return piece;
}

void CopyQueue::note_read(SimTime done) noexcept {
    done_ = std::max(done_, done);
    // The piece that left a window ago has to be back before the next may leave.
    const uint32_t window = waiting_.front().window;
    under_way_[(pieces_ - 1) % window] = done;
    const SimTime oldest = under_way_[pieces_ % window];
    next_ = at_end() ? done_ : std::max(next_, oldest);
}

void CopyQueue::note_write(SimTime accepted, SimTime done) noexcept {
    done_ = std::max(done_, done);
    next_ = at_end() ? done_ : std::max(next_, accepted);
}

void CopyQueue::finish() {
    SIM_CHECK(!waiting_.empty() && at_end());
    const Waiting over = waiting_.front();
    const SimTime visible = done_ + times_.overhead / 2;
    free_ = done_ + times_.gap;
    waiting_.pop_front();
    begin_next();
    over.sink->on_copy_done(over.spec.cookie, visible);
}

}  // namespace simverbs::gpu
