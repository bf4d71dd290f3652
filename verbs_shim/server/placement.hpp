// Which core the server and the threads run on: handing the turn over is cheapest where the server has one of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::server {

/// Nobody is pinned: programs see their own affinity, and the scheduler may place them elsewhere at any time. A thread
/// that goes on sharing the server's core is moved off it once in a while.
class Placement {
  public:
    explicit Placement(protocol::LabShared& shared) : shared_(&shared) {}

    /// The thread, one of process `pid` (0: not known), is about to have the turn.
    void before_grant(const protocol::ThreadSlot& slot, pid_t pid);
    /// As far as is known, does the thread run where the server does?
    [[nodiscard]] bool shares_core(const protocol::ThreadSlot& slot) const noexcept {
        return slot.core.load(std::memory_order_relaxed) == core_;
    }

  private:
    void move_away(pid_t tid, pid_t pid);

    static constexpr uint32_t kMostShared = 16;
    static constexpr int64_t kBetweenMovesNs = 1'000'000;
    static constexpr int64_t kAfterFailureNs = 1'000'000'000;

    protocol::LabShared* shared_;
    uint32_t core_ = 0;           ///< 1 + ours
    uint32_t shared_grants_ = 0;  ///< of late, to threads that shared our core
    int64_t not_before_ns_ = 0;   ///< of the next move
};

}  // namespace simverbs::server
