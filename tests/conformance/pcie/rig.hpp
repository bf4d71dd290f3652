// Measures a host's inside: throughput of a stream, as a program outside would see it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "models/host/complex.hpp"

namespace simverbs::test {

/// Gb/s of payload.
inline double gbps(uint64_t bytes, sim::SimTime span) {
    return static_cast<double>(bytes) * 8 / (span.in_s() * 1e9);
}

/// A device that always has so many bytes of requests under way, and asks for the next as soon as one is done.
class Stream {
  public:
    enum class Kind { Read, Write };

    Stream(host::AgentId agent, Kind kind, host::DmaTarget target, uint32_t bytes, uint64_t window)
        : agent_(agent), kind_(kind), target_(target), bytes_(bytes) {
        under_way_.assign(std::max<uint64_t>(1, window / bytes), sim::SimTime::zero());
    }

    [[nodiscard]] sim::SimTime next() const { return std::max(under_way_.front(), accepted_); }
    void step(host::Complex& c) {
        const sim::SimTime now = next();
        under_way_.pop_front();
        const sim::SimTime done =
            kind_ == Kind::Read ? c.dma_read(agent_, now, target_, bytes_) : c.dma_write(agent_, now, target_, bytes_);
        under_way_.push_back(done);
        if (kind_ == Kind::Write) accepted_ = c.accepts_write(agent_);
        if (done > from_ && done <= to_) counted_ += bytes_;
    }
    /// Counts what is done in (from, to].
    void measure(sim::SimTime from, sim::SimTime to) { from_ = from, to_ = to, counted_ = 0; }
    [[nodiscard]] double rate() const { return gbps(counted_, to_ - from_); }

  private:
    host::AgentId agent_;
    Kind kind_;
    host::DmaTarget target_;
    uint32_t bytes_;
    std::deque<sim::SimTime> under_way_;
    sim::SimTime accepted_;  ///< a device's buffer for writes is small
    sim::SimTime from_, to_ = sim::SimTime::max();
    uint64_t counted_ = 0;
};

/// Runs streams and copies in the order of their times, and measures from a quarter of the time on.
template <class... S>
void run_streams(host::Complex& c, sim::SimTime until, S&... streams) {
    (streams.measure(until / 4, until), ...);
    while (true) {
        sim::SimTime next = c.next_event_time();
        ((next = std::min(next, streams.next())), ...);
        if (next >= until) return;
        c.run_until(next + sim::SimTime::ps(1));
        (void)((streams.next() == next && (streams.step(c), true)) || ...);
    }
}

}  // namespace simverbs::test
