// One copy engine of a GPU: what it has to do, and how far it is.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "models/host/host_complex.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::gpu {

/// The times of an engine's copies: it does them one after the other, in pieces. Reads are limited by a window of what
/// may be under way; writes go as fast as the first link takes them.
class CopyQueue {
  public:
    static constexpr uint32_t kPiece = 8 << 10;

    struct Times {
        sim::SimTime overhead;  ///< of a copy from its call to its known end, half before and half after
        sim::SimTime gap;       ///< between two copies in a row
    };
    explicit CopyQueue(const Times& times) noexcept : times_(times) {}

    /// `window`: pieces under way at most, if it reads.
    void submit(const host::CopySpec& copy, host::CopySink& sink, sim::SimTime now, uint32_t window);

    /// When there is something to do, SimTime::max() if there is nothing.
    [[nodiscard]] sim::SimTime next() const noexcept { return next_; }
    /// The copy under way; there must be one.
    [[nodiscard]] const host::CopySpec& copy() const noexcept { return waiting_.front().spec; }
    /// Has its last piece been taken: is next() its end?
    [[nodiscard]] bool at_end() const noexcept { return issued_ == copy().bytes && started_; }
    /// Takes the next piece at next(): where in the copy it begins, and its bytes (0 for a copy of nothing).
    struct Piece {
        uint64_t offset;
        uint32_t bytes;
    };
    Piece take() noexcept;
    /// The piece just taken is in its target at `done`; the engine could go on at `accepted`.
    void note_read(sim::SimTime done) noexcept;
    void note_write(sim::SimTime accepted, sim::SimTime done) noexcept;
    /// Ends the copy: tells its sink, and goes on to the next.
    void finish();

    [[nodiscard]] uint64_t pieces() const noexcept { return pieces_; }

  private:
    static constexpr uint32_t kMostUnderWay = 128;
    struct Waiting {
        host::CopySpec spec;
        host::CopySink* sink;
        sim::SimTime ready;
        uint32_t window;
    };
    void begin_next() noexcept;

    Times times_;
    std::deque<Waiting> waiting_;
    sim::SimTime next_ = sim::SimTime::max(), free_;
    uint64_t issued_ = 0, pieces_ = 0;
    bool started_ = false;
    sim::SimTime done_;  ///< the latest end of a piece
    std::array<sim::SimTime, kMostUnderWay> under_way_{};
};

}  // namespace simverbs::gpu
