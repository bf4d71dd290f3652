// What the HCAs make for one process, waiting until a thread's clock reaches its stamp.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::server {

enum class DeliveryKind : uint8_t {
    Completion,      ///< a CQE for CQ `object`
    ChannelEvent,    ///< `event` for the channel or async fd `fd_object`
    MemoryChanged,   ///< DMA wrote; the bytes are the PayloadMover's
    QueuePairState,  ///< the HCA itself moved QP `object` to `qp_state`
};

struct Delivery {
    sim::SimTime stamp;
    uint32_t device = 0;  ///< order at equal stamps: device, then its own order
    uint64_t ordinal = 0;
    DeliveryKind kind = DeliveryKind::MemoryChanged;
    uint32_t object = 0;  ///< the process's handle of a CQ or QP
    uint64_t fd_key = 0;  ///< ChannelEvent: shared object of its fd
    protocol::ChannelEvent event;
    hca::QpState qp_state = hca::QpState::Reset;
    hca::Cqe cqe;
};

/// Deliveries of one process, earliest first.
class DeliveryQueue {
  public:
    void push(const Delivery& delivery);
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] const Delivery& front() const { return heap_.front(); }
    Delivery pop();
    /// Earliest stamp, SimTime::max() if none.
    [[nodiscard]] sim::SimTime next() const noexcept { return empty() ? sim::SimTime::max() : front().stamp; }
    /// Earliest event for the fd whose shared object is `key`, SimTime::max() if none.
    [[nodiscard]] sim::SimTime next_for_fd(uint64_t key) const noexcept;
    void clear() noexcept { heap_.clear(); }

  private:
    std::vector<Delivery> heap_;
};

}  // namespace simverbs::server
