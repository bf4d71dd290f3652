// A process's way into its lab.
#pragma once

#include <atomic>
#include <cstdint>

namespace simverbs::client::turn {

enum class Started : uint32_t { No = 0, Starting = 1, Done = 2 };
extern std::atomic<uint32_t> g_started;

void start();

/// Joins the lab if the environment names one and nobody has done so yet (a constructor of another library may call
/// us before our own constructor has run).
inline void start_if_needed() {
    if (g_started.load(std::memory_order_acquire) == static_cast<uint32_t>(Started::No)) [[unlikely]]
        start();
}

/// In the child of fork(): becomes the process that was reserved for it.
void start_child(uint32_t slot);

/// Ends this thread's part in the turn protocol; with `process_ends` the whole process's.
void leave_lab(bool process_ends);

/// Binds the calling thread to a reserved slot and waits for its first turn.
void arrive(uint32_t slot);

}  // namespace simverbs::client::turn
