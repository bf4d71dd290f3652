// What the HCAs make for one process, waiting until a thread's clock reaches its stamp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::server {

enum class DeliveryKind : uint8_t {
    Completion,      ///< a CQE for CQ `object`
    ChannelEvent,    ///< `event` for the channel or async fd `fd_object`
    CmEvent,         ///< an event of rdma_cm, number `object` of RdmaCm
    QueuePairState,  ///< the HCA itself moved QP `object` to `qp_state`
    GpuProgress,     ///< something that the process waits for on a GPU is over; its shared object is `fd_key`
};

struct Delivery {
    sim::SimTime stamp;
    uint32_t device = 0;  ///< order at equal stamps: device, then its own order
    uint64_t ordinal = 0;
    DeliveryKind kind = DeliveryKind::Completion;
    uint32_t object = 0;  ///< the process's handle of a CQ or QP
    uint64_t fd_key = 0;  ///< ChannelEvent, CmEvent, GpuProgress: the shared object
    protocol::ChannelEvent event;
    hca::QpState qp_state = hca::QpState::Reset;
    hca::Cqe cqe;
};

/// Stamps, earliest first.
class StampQueue {
  public:
    /// `settled`: every clock that asks from now on is at least this. What lies before it is thinned out, so that a
    /// process that sleeps through a long transfer costs no memory.
    void push(sim::SimTime stamp, sim::SimTime settled);
    /// The earliest, SimTime::max() if none.
    [[nodiscard]] sim::SimTime next() const noexcept {
        return head_ == stamps_.size() ? sim::SimTime::max() : stamps_[head_];
    }
    /// Removes what is due by `clock`. True if that was anything; `last` is then the latest of them.
    bool pop_due(sim::SimTime clock, sim::SimTime& last);

  private:
    void thin_out(sim::SimTime settled);

    static constexpr size_t kThinOutAbove = 1024;
    std::vector<sim::SimTime> stamps_;  ///< from head_ on, ascending
    size_t head_ = 0;
    size_t thin_out_above_ = kThinOutAbove;
};

/// Deliveries of one process, earliest first.
class DeliveryQueue {
  public:
    void push(const Delivery& delivery);
    /// DMA has written; the bytes are the PayloadMover's. `part`: more of the same message follows.
    /// True if nothing of this kind was to come earlier.
    bool push_written(sim::SimTime stamp, bool part, sim::SimTime settled);
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] const Delivery& front() const { return heap_.front(); }
    Delivery pop();
    /// Earliest stamp of anything, SimTime::max() if none.
    [[nodiscard]] sim::SimTime next() const noexcept { return std::min(next_whole(), parts_.next()); }
    /// Earliest stamp of anything but parts of messages.
    [[nodiscard]] sim::SimTime next_whole() const noexcept { return std::min(next_queued(), written_.next()); }
    /// Earliest stamp of a part of a message.
    [[nodiscard]] sim::SimTime next_part() const noexcept { return parts_.next(); }
    /// Earliest stamp of what pop() takes.
    [[nodiscard]] sim::SimTime next_queued() const noexcept { return empty() ? sim::SimTime::max() : front().stamp; }
    /// Writes that are due by `clock` are over with; see StampQueue::pop_due.
    bool pop_written(sim::SimTime clock, sim::SimTime& last) { return written_.pop_due(clock, last); }
    bool pop_parts(sim::SimTime clock, sim::SimTime& last) { return parts_.pop_due(clock, last); }
    /// Calls `f` for each; it may change fd keys alone.
    template <class F>
    void for_each(F&& f) {
        for (Delivery& d : heap_) f(d);
    }
    /// Earliest event for the fd whose shared object is `key`, SimTime::max() if none.
    [[nodiscard]] sim::SimTime next_for_fd(uint64_t key) const noexcept;

  private:
    std::vector<Delivery> heap_;
    StampQueue written_, parts_;
};

}  // namespace simverbs::server
