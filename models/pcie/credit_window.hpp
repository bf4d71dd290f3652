// A receiver's credits of one kind over time: what is sent has to have left it before more can come.
#pragma once

#include <array>
#include <cstdint>

#include "models/pcie/tlp.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::pcie {

/// The buffer at the end of a link, for one kind of TLP. Counts in shares of it: a transfer takes as many as the
/// scarcer of its header and data credits. UpdateFC comes back as fast as a TLP gets there, so that latency cancels
/// out.
class CreditWindow {
  public:
    /// 32 KiB of data or 128 TLPs: more than a gen5 x16 link needs to and fro, so that only a busy or slower next link
    /// shows. Typical of switches and root complexes.
    static constexpr Credits kReceiver = {128, 2048};
    static constexpr uint64_t kShares = kReceiver.data;

    [[nodiscard]] static constexpr uint64_t shares_of(Credits c) noexcept {
        const uint64_t by_headers = static_cast<uint64_t>(c.headers) * (kReceiver.data / kReceiver.headers);
        return by_headers > c.data ? by_headers : c.data;
    }

    /// When there is room for the first bytes of a transfer of so many shares: for all of it, if it is a small part of
    /// the buffer. Larger ones go on while what they sent leaves. Transfers come in order.
    [[nodiscard]] sim::SimTime room_at(uint64_t shares) noexcept {
        const uint64_t need = shares < kShares / 4 ? shares : kShares / 4;
        if (sent_ + need <= kShares) return sim::SimTime::zero();
        const uint64_t gone = sent_ + need - kShares;  // so much has to have left
        while (count_ > 0 && runs_[head_].to < gone) pop();
        if (count_ == 0) return sim::SimTime::zero();
        const Run& r = runs_[head_];
        if (gone <= r.from) return r.first;
        const auto span = static_cast<uint64_t>((r.last - r.first).in_ps());
        return r.first + sim::SimTime::ps(static_cast<int64_t>(span * (gone - r.from) / (r.to - r.from)));
    }

    /// A transfer leaves the buffer from `first` to `last`.
    void note(uint64_t shares, sim::SimTime first, sim::SimTime last) noexcept {
        const uint64_t from = sent_;
        sent_ += shares;
        if (count_ > 0) {
            Run& newest = runs_[(head_ + count_ - 1) % kRuns];
            if (newest.to - newest.from < kShares / 16 || count_ == kRuns) {
                newest.to = sent_;
                if (newest.last < last) newest.last = last;
                return;
            }
        }
        runs_[(head_ + count_++) % kRuns] = {from, sent_, first, last};
    }

    /// What was noted last leaves later, after all.
    void delay(sim::SimTime last) noexcept {
        if (count_ == 0) return;
        Run& newest = runs_[(head_ + count_ - 1) % kRuns];
        if (newest.last < last) newest.last = last;
    }

  private:
    static constexpr uint32_t kRuns = 32;
    /// Shares [from, to), which leave between `first` and `last`.
    struct Run {
        uint64_t from, to;
        sim::SimTime first, last;
    };
    void pop() noexcept {
        head_ = (head_ + 1) % kRuns;
        --count_;
    }

    uint64_t sent_ = 0;
    uint32_t head_ = 0, count_ = 0;
    std::array<Run, kRuns> runs_{};
};

}  // namespace simverbs::pcie
