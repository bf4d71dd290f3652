// The narrow port between an adapter and its host, as latencies and rates only.
#pragma once

#include <cstdint>

#include "sim/link_ring.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::host {

/// What a completed read was for; chosen by the adapter.
using ReadTag = uint64_t;

struct IdealHostPortParams {
    sim::SimTime mmio_write;  ///< doorbell store to its arrival in the adapter
    sim::SimTime read_round_trip;
    sim::SimTime write_latency;
    sim::BitRate read_rate, write_rate;  ///< of payload
};

/// DMA read, DMA write and doorbell of one adapter. Reads are split: request now, take the completion when its time
/// has come, in the order of the requests. Posted writes are ordered among themselves.
class IdealHostPort {
  public:
    explicit IdealHostPort(const IdealHostPortParams& p)
        : params_(p), read_byte_time_(p.read_rate), write_byte_time_(p.write_rate) {}

    [[nodiscard]] const IdealHostPortParams& params() const noexcept { return params_; }
    /// When a doorbell rung at `t` reaches the adapter.
    [[nodiscard]] sim::SimTime doorbell_arrival(sim::SimTime t) const noexcept { return t + params_.mmio_write; }

    /// Asks for `bytes` of host memory. `extra` is more time that the read holds the read path.
    void request_read(sim::SimTime now, uint32_t bytes, ReadTag tag, sim::SimTime extra = sim::SimTime::zero()) {
        const sim::SimTime start = now > read_free_ ? now : read_free_;
        read_free_ = start + read_byte_time_.of(bytes) + extra;
        completions_.push({read_free_ + params_.read_round_trip, tag});
    }
    /// When the next read completes, SimTime::max() if none is outstanding.
    [[nodiscard]] sim::SimTime next_completion() const noexcept { return completions_.head_time(); }
    ReadTag take_completion() noexcept {
        const ReadTag tag = completions_.front().tag;
        completions_.pop();
        return tag;
    }

    /// Posts a write of `bytes`; returns when it is visible in memory. Never before an earlier write.
    sim::SimTime post_write(sim::SimTime now, uint32_t bytes) noexcept {
        const sim::SimTime start = now > write_free_ ? now : write_free_;
        write_free_ = start + write_byte_time_.of(bytes);
        return write_free_ + params_.write_latency;
    }

  private:
    struct Completion {
        sim::SimTime at = sim::SimTime::max();
        ReadTag tag = 0;
    };
    IdealHostPortParams params_;
    sim::ByteTime read_byte_time_, write_byte_time_;
    sim::SimTime read_free_, write_free_;
    sim::LinkRing<Completion, &Completion::at> completions_;
};

}  // namespace simverbs::host
