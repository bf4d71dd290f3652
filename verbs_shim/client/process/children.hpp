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

/// SIGCHLD belongs to the moment at which the child's end can be seen in simulated time, not to when the kernel raised
/// it. True: the kernel's is dropped because this process has children in the lab.
bool keep_child_signal();
/// Queues it for the program's handler when its time has come. True if it did.
bool notify_ended_children();
/// True if children are there whose end the program's handler wants to hear of.
bool awaits_child_signals();
/// Adds the ends of those children to a wait that any signal may end.
void watch_children(protocol::Wait& wait);

}  // namespace simverbs::client::process
