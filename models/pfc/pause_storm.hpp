// A port that pauses its neighbour without end: what a broken NIC or a host that has stopped reading does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/pfc/pfc.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::pfc {

/// The frames of one storm: pauses as long as can be, renewed at half time; one that lets the neighbour go on at the
/// end.
class PauseStorm {
  public:
    PauseStorm(uint32_t priority, sim::SimTime from, sim::SimTime until)
        : priority_(priority), from_(from), until_(until), next_(from) {}

    [[nodiscard]] uint32_t priority() const noexcept { return priority_; }
    [[nodiscard]] bool rages(sim::SimTime now) const noexcept { return now >= from_ && now < until_; }
    /// When the next frame is due, max() if none.
    [[nodiscard]] sim::SimTime next() const noexcept { return next_; }
    /// The quanta of the frame that is due at `now`; nullopt if none is.
    [[nodiscard]] std::optional<uint32_t> take(sim::SimTime now, sim::BitRate rate) noexcept {
        if (now < next_) return std::nullopt;
        if (now >= until_) {
            next_ = sim::SimTime::max();
            return 0;
        }
        ++frames_;
        next_ = std::min(until_, now + quanta_time(kMaxQuanta / 2, rate));
        return kMaxQuanta;
    }
    /// Pauses sent so far.
    [[nodiscard]] uint64_t frames() const noexcept { return frames_; }

  private:
    uint32_t priority_;
    sim::SimTime from_;
    sim::SimTime until_;
    sim::SimTime next_;
    uint64_t frames_ = 0;
};

}  // namespace simverbs::pfc
