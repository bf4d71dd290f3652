// Receive WQEs in a ring that is allocated once: of a QP's receive queue or of an SRQ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

struct Cq;

struct ReceiveWqe {
    uint64_t wr_id = 0;
    uint32_t num_sge = 0;
    sim::SimTime ready_at;  ///< when the adapter knows of it
};

/// Counts run for ever (modulo 2^32): retired ≤ taken ≤ posted.
class ReceiveQueue {
  public:
    void allocate(uint32_t wqes, uint32_t max_sge) {
        uint32_t slots = 1;
        while (slots < wqes) slots *= 2;
        wqes_.assign(slots, {});
        sges_.assign(size_t{slots} * std::max(max_sge, 1U), {});
        capacity_ = wqes;
        max_sge_ = max_sge;
    }
    void clear() noexcept { retired_ = taken_ = posted_; }
    [[nodiscard]] uint32_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] uint32_t max_sge() const noexcept { return max_sge_; }
    [[nodiscard]] bool full() const noexcept { return posted_ - retired_ >= capacity_; }
    [[nodiscard]] uint32_t posted() const noexcept { return posted_; }
    [[nodiscard]] uint32_t waiting() const noexcept { return posted_ - taken_; }
    [[nodiscard]] uint32_t outstanding() const noexcept { return posted_ - retired_; }

    void post(const RecvWr& wr, sim::SimTime ready_at) noexcept {
        const uint32_t slot = posted_ & mask();
        wqes_[slot] = {wr.wr_id, wr.num_sge, ready_at};
        std::copy_n(wr.sges, wr.num_sge, sges_.begin() + static_cast<std::ptrdiff_t>(size_t{slot} * stride()));
        ++posted_;
    }
    /// Is there a WQE that the adapter knows of at `now`?
    [[nodiscard]] bool available(sim::SimTime now) const noexcept {
        return taken_ != posted_ && wqes_[taken_ & mask()].ready_at <= now;
    }
    /// WQEs known at `now`, as far as a credit code needs them.
    [[nodiscard]] uint32_t available_count(sim::SimTime now) const noexcept {
        uint32_t n = waiting();
        // Posts are in order of time: only the youngest can be on their way.
        while (n > 0 && wqes_[(taken_ + n - 1) & mask()].ready_at > now) --n;
        return n;
    }
    [[nodiscard]] const ReceiveWqe& next() const noexcept { return wqes_[taken_ & mask()]; }
    [[nodiscard]] const Sge* next_sges() const noexcept { return &sges_[size_t{taken_ & mask()} * stride()]; }
    void take() noexcept { ++taken_; }
    /// A completion was written for one WQE; returns the count of retired ones.
    uint32_t retire() noexcept { return ++retired_; }
    /// SRQ resize.
    void grow(uint32_t wqes) {
        ReceiveQueue bigger;
        bigger.allocate(wqes, max_sge_);
        bigger.retired_ = retired_;
        bigger.taken_ = taken_;
        for (bigger.posted_ = taken_; bigger.posted_ != posted_;) {
            const uint32_t slot = bigger.posted_ & mask();
            const ReceiveWqe w = wqes_[slot];
            bigger.post({w.wr_id, &sges_[size_t{slot} * stride()], w.num_sge}, w.ready_at);
        }
        *this = std::move(bigger);
    }

  private:
    [[nodiscard]] uint32_t mask() const noexcept { return static_cast<uint32_t>(wqes_.size()) - 1; }
    [[nodiscard]] uint32_t stride() const noexcept { return std::max(max_sge_, 1U); }
    std::vector<ReceiveWqe> wqes_;
    std::vector<Sge> sges_;
    uint32_t capacity_ = 0, max_sge_ = 0;
    uint32_t retired_ = 0, taken_ = 0, posted_ = 0;
};

struct Srq {
    uint32_t handle = 0;
    uint32_t owner = 0;
    uint32_t pd = 0;
    uint32_t limit = 0;  ///< 0: not armed
    uint32_t users = 0;
    uint32_t xrcd = 0;          ///< handle of its XRC domain's opening; 0: not an XRC SRQ
    uint32_t domain = 0;        ///< XRC domain
    Cq* cq = nullptr;           ///< XRC: where receives complete
    sim::SimTime last_receive;  ///< posts stay in order
    ReceiveQueue queue;
};

}  // namespace simverbs::hca
