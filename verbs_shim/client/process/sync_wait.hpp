// Waiting for another thread's unlock, signal, post, … under the turn protocol.
#pragma once

#include <cstdint>

#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

inline constexpr int64_t kSyncCallPs = 20'000;   ///< an uncontended lock operation
inline constexpr int64_t kWakeUpPs = 3'000'000;  ///< from a wake-up to the other thread running

/// True if more than one thread of this process takes part in the turn protocol, or the primitive is shared between
/// processes: only then can anything but this thread change it.
bool contended(bool process_shared);

/// Waits until somebody calls notify() for an object that falls into the same bucket. The caller looks again then.
/// pthread_cancel ends it only where POSIX says so: in waits for conditions and semaphores.
turn::Woken wait_for_notify(const volatile void* object, bool process_shared, const char* what, int64_t deadline_ps,
                            bool cancellation_point = false);

/// Whoever waits for `object` looks again.
void notify(const volatile void* object, bool process_shared);

/// Without a server there is no turn: sleeps a moment and lets the caller look again.
void nap();

}  // namespace simverbs::client::process
