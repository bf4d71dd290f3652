// Children of a lab process: their slots are reserved by the parent, their ends are shared objects.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

/// From the end of a child to its parent's wait returning.
inline constexpr int64_t kChildExitPs = 5'000'000;
inline constexpr int64_t kForkPs = 60'000'000;
inline constexpr int64_t kExecPs = 300'000'000;

/// Reserves a slot for a child that is about to be made. kNoItem if there is none.
uint32_t reserve_child();
/// The child was not made.
void give_back_child(uint32_t slot);
/// The child exists: from now on waits can watch it.
void add_child(pid_t pid, uint32_t slot);
/// In the child of fork(): the parent's children are not its own.
void forget_children();

/// Adds the end of every living child to a wait.
void watch_children(turn::WaitSet& set);

}  // namespace simverbs::client::process
