// When one direction of a link is taken: reservations, first come first served, gaps filled.
#pragma once

#include <array>
#include <cstdint>

#include "sim/check.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::pcie {

/// A transfer's time on a link: its first byte starts at `first`, its last has left at `end`.
struct Slot {
    sim::SimTime first, end;
};

/// The reserved times of something that serves one thing at a time. A reservation for later (completions of a read that
/// has just been asked for) leaves the time before it to others; a transfer that finds the time taken goes around it,
/// TLP by TLP, so that no time is lost.
class Occupancy {
  public:
    /// Reserves `span` from `earliest` on. `now`: nobody asks for an earlier time any more. `on_piece(from, span)`
    /// hears of each piece.
    template <class F>
    Slot reserve(sim::SimTime now, sim::SimTime earliest, sim::SimTime span, F&& on_piece) {
        uint32_t i = 0;
        while (i < count_ && taken_[i].end <= now) ++i;
        if (i > 0) drop_first(i);
        // Most come last, one after the other.
        if (count_ == 0 || earliest > taken_[count_ - 1].end) [[likely]] {
            if (span > sim::SimTime::zero()) {
                append({earliest, earliest + span});
                on_piece(earliest, span);
            }
            return {earliest, earliest + span};
        }
        if (earliest >= taken_[count_ - 1].first) {
            Slot& last = taken_[count_ - 1];
            const Slot slot{last.end, last.end + span};
            last.end = slot.end;
            on_piece(slot.first, span);
            return slot;
        }
        return fill(earliest, span, on_piece);
    }

    /// When everything reserved is over.
    [[nodiscard]] sim::SimTime free_at() const noexcept {
        return count_ == 0 ? sim::SimTime::zero() : taken_[count_ - 1].end;
    }

  private:
    static constexpr uint32_t kMost = 24;

    /// The same where something is reserved for later.
    template <class F>
    [[gnu::noinline]] Slot fill(sim::SimTime earliest, sim::SimTime span, F&& on_piece) {
        uint32_t from = 0;
        while (from < count_ && taken_[from].end < earliest) ++from;
        sim::SimTime at = earliest, first = sim::SimTime::max(), left = span;
        uint32_t i = from;
        for (; i < count_; ++i) {
            if (at < taken_[i].first) {
                const sim::SimTime room = taken_[i].first - at;
                const sim::SimTime take = left < room ? left : room;
                if (first == sim::SimTime::max()) first = at;
                if (take > sim::SimTime::zero()) on_piece(at, take);
                at += take;
                left -= take;
                if (left == sim::SimTime::zero()) break;
            }
            if (at < taken_[i].end) at = taken_[i].end;
        }
        if (first == sim::SimTime::max()) first = at;
        if (left > sim::SimTime::zero()) {
            on_piece(at, left);
            at += left;
        }
        if (span == sim::SimTime::zero()) return {first, first};
        // All from `from` to before `i` are one now, with what touches it.
        Slot whole{from < i && taken_[from].first < first ? taken_[from].first : first, at};
        if (i < count_ && taken_[i].first == at) whole.end = taken_[i++].end;
        replace(from, i, whole);
        return {first, at};
    }

    void drop_first(uint32_t n) noexcept {
        count_ -= n;
        for (uint32_t i = 0; i < count_; ++i) taken_[i] = taken_[i + n];
    }
    void append(Slot s) noexcept {
        if (count_ == kMost) [[unlikely]]
            close_smallest_gap();
        taken_[count_++] = s;
    }
    /// Puts `whole` in the place of [from, to).
    void replace(uint32_t from, uint32_t to, Slot whole) noexcept {
        if (from == to) {
            if (count_ == kMost) {
                close_smallest_gap();
                from = 0;
                while (from < count_ && taken_[from].end < whole.first) ++from;
                if (from < count_ && taken_[from].first <= whole.first) return;  // the gap it lies in was closed
            }
            for (uint32_t i = count_; i > from; --i) taken_[i] = taken_[i - 1];
            taken_[from] = whole;
            ++count_;
            return;
        }
        taken_[from] = whole;
        const uint32_t gone = to - from - 1;
        count_ -= gone;
        if (gone > 0)
            for (uint32_t i = from + 1; i < count_; ++i) taken_[i] = taken_[i + gone];
    }
    /// Gives a gap up, so that there is room for another reservation.
    [[gnu::cold, gnu::noinline]] void close_smallest_gap() noexcept {
        uint32_t best = 0;
        for (uint32_t i = 1; i + 1 < count_; ++i)
            if (taken_[i + 1].first - taken_[i].end < taken_[best + 1].first - taken_[best].end) best = i;
        taken_[best].end = taken_[best + 1].end;
        --count_;
        for (uint32_t i = best + 1; i < count_; ++i) taken_[i] = taken_[i + 1];
    }

    std::array<Slot, kMost> taken_{};
    uint32_t count_ = 0;
};

}  // namespace simverbs::pcie
