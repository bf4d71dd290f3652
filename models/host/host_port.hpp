// The narrow port between an adapter and its host.
#pragma once

#include <cstdint>

#include "models/host/host_complex.hpp"
#include "sim/link_ring.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::host {

/// What a completed read was for; chosen by the adapter.
using ReadTag = uint64_t;

/// Memory on the adapter itself: no request crosses the host for it.
inline constexpr MemoryId kAdapterMemory = 0xFFFE;

/// The path from an adapter to its host's nearest memory, as latencies and rates.
struct HostPortParams {
    sim::SimTime mmio_write;  ///< doorbell store to its arrival in the adapter
    sim::SimTime read_round_trip;
    sim::SimTime write_latency;
    sim::BitRate read_rate, write_rate;  ///< of payload
};

/// DMA read, DMA write and doorbell of one adapter. Reads are split: request now, take the completion when its time
/// has come, in the order of the requests. Posted writes are ordered among themselves.
///
/// Without a complex the host is ideal: every request takes what the parameters say, and waits for the adapter's own
/// requests alone. With one, every request is a reservation on the links that it crosses. The parameters already hold
/// the nominal path (a slot of its own at the adapter's full speed, memory nearby), so that what counts of the host's
/// inside is what it takes longer than that (HostComplex::nominal_read and its like).
class HostPort {
  public:
    explicit HostPort(const HostPortParams& p)
        : params_(p), read_byte_time_(p.read_rate), write_byte_time_(p.write_rate) {}

    /// From now on through `complex` (not owned), as its function `agent`. Before the first request.
    void attach(HostComplex& complex, AgentId agent);
    [[nodiscard]] bool has_complex() const noexcept { return complex_ != nullptr; }
    /// Can requests get to this memory at all? Not to a GPU's behind a bridge that refuses peers.
    [[nodiscard]] bool reaches(MemoryId memory) const {
        return complex_ == nullptr || memory >= kAdapterMemory || complex_->reachable(agent_, memory);
    }
    /// Where the next request goes, and that one alone; without a call, to the nearest memory. For a complex.
    void aim(DmaTarget target) noexcept { target_ = target; }

    [[nodiscard]] const HostPortParams& params() const noexcept { return params_; }
    /// When a doorbell rung at `t` reaches the adapter. Doorbells are rung ahead of the host's events, by programs
    /// whose clocks differ: they take the path's time, and do not wait for other traffic.
    [[nodiscard]] sim::SimTime doorbell_arrival(sim::SimTime t) const noexcept { return t + params_.mmio_write; }

    /// Asks for `bytes`. `extra` is more time that the read holds the read path.
    void request_read(sim::SimTime now, uint32_t bytes, ReadTag tag, sim::SimTime extra = sim::SimTime::zero()) {
        const sim::SimTime start = now > read_free_ ? now : read_free_;
        read_free_ = start + read_byte_time_.of(bytes) + extra;
        sim::SimTime done = read_free_ + params_.read_round_trip;
        if (complex_ != nullptr) [[unlikely]]
            done = read_through(now, bytes, extra, done);
        completions_.push({done, tag});
    }
    /// When the next read completes, SimTime::max() if none is outstanding.
    [[nodiscard]] sim::SimTime next_completion() const noexcept { return completions_.head_time(); }
    ReadTag take_completion() noexcept {
        const ReadTag tag = completions_.front().tag;
        completions_.pop();
        return tag;
    }

    /// Posts a write of `bytes`; returns when it is visible in memory. Never before an earlier write.
    sim::SimTime post_write(sim::SimTime now, uint32_t bytes) {
        const sim::SimTime start = now > write_free_ ? now : write_free_;
        write_free_ = start + write_byte_time_.of(bytes);
        const sim::SimTime done = write_free_ + params_.write_latency;
        if (complex_ != nullptr) [[unlikely]]
            return write_through(now, bytes, done);
        return done;
    }

    /// What a read of `bytes` and then a write of them take longer than on the nominal path (an atomic, whose time on
    /// that path the adapter knows).
    [[nodiscard]] sim::SimTime read_write_delay(sim::SimTime now, uint32_t bytes) {
        return complex_ == nullptr ? sim::SimTime::zero() : find_read_write_delay(now, bytes);
    }
    /// For a complex: before this, what the adapter has received waits in its buffer, since the host's link has not
    /// taken what came before.
    [[nodiscard]] sim::SimTime receives_from() const { return complex_->accepts_write(agent_) - kReceiveBuffer; }
    /// When the message of an interrupt that is sent at `now`, behind a write that is visible at `visible`, has come.
    sim::SimTime interrupt(sim::SimTime now, sim::SimTime visible, MemoryId cpu) {
        return complex_ == nullptr ? visible : interrupt_through(now, visible, cpu);
    }

  private:
    /// Of writes that an adapter holds, by the time that they take. A few hundred kilobytes at the speed of a slot.
    static constexpr sim::SimTime kReceiveBuffer = sim::SimTime::us(10);
    struct Completion {
        sim::SimTime at = sim::SimTime::max();
        ReadTag tag = 0;
    };
    /// A request for memory that is out of reach goes nowhere: the adapter tells of it.
    [[nodiscard]] bool crosses(MemoryId memory) const { return memory != kAdapterMemory && reaches(memory); }
    sim::SimTime read_through(sim::SimTime now, uint32_t bytes, sim::SimTime extra, sim::SimTime done);
    sim::SimTime write_through(sim::SimTime now, uint32_t bytes, sim::SimTime done);
    [[nodiscard]] sim::SimTime find_read_write_delay(sim::SimTime now, uint32_t bytes);
    sim::SimTime interrupt_through(sim::SimTime now, sim::SimTime visible, MemoryId cpu);

    HostPortParams params_;
    sim::ByteTime read_byte_time_, write_byte_time_;
    sim::SimTime read_free_, write_free_;
    sim::LinkRing<Completion, &Completion::at> completions_;
    HostComplex* complex_ = nullptr;
    AgentId agent_ = 0;
    DmaTarget target_;
    sim::SimTime last_read_, last_write_;  ///< through the complex
};

}  // namespace simverbs::host
