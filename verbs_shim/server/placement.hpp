// Which core the server and the threads run on: handing the turn over is cheapest where the server has one of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

/// Takes `core` out of the thread's affinity for a moment: with the virtual clock the thread waits and cannot look.
/// False if it may run nowhere else.
bool move_off_core(pid_t tid, uint32_t core);

/// Nobody is pinned: programs see their own affinity, and the scheduler may place them elsewhere at any time. A thread
/// that goes on sharing the server's core is moved off it once in a while.
class Placement {
  public:
    explicit Placement(Lab& lab) : lab_(&lab), shared_(&lab.shared()) {}

    /// The thread is about to have the turn.
    void before_grant(const protocol::ThreadSlot& slot);
    /// As far as is known, does the thread run where the server does?
    [[nodiscard]] bool shares_core(const protocol::ThreadSlot& slot) const noexcept {
        return slot.core.load(std::memory_order_relaxed) == core_;
    }
    /// Wall clock, while there is nothing to do: has the server a core without programs?
    [[nodiscard]] bool is_alone();

  private:
    void note_sharing(const protocol::ThreadSlot& slot);
    void move_away(const protocol::ThreadSlot& slot);

    Lab* lab_;
    protocol::LabShared* shared_;
    uint32_t core_ = 0;          ///< 1 + ours
    uint32_t times_shared_ = 0;  ///< found so since the last move
    int64_t not_before_ns_ = 0;  ///< of the next move
    uint32_t calls_ = 0;         ///< of is_alone()
    bool alone_ = false;
};

}  // namespace simverbs::server
