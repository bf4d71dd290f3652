// The state behind connection.hpp.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/verbs/lock.hpp"

namespace simverbs::client::connection {

inline constexpr timespec kNoWait{0, 0};

struct Membership {
    int socket = -1;
    protocol::LabShared* lab = nullptr;
    uint8_t* arena = nullptr;
    std::atomic<bool> gone{false};
    /// Lies in a page that the kernel clears in the child of a fork.
    std::atomic<uint64_t>* epoch_page = nullptr;
    uint64_t epochs = 0;
    std::atomic<uint32_t> sequence{0};
    verbs::Lock request_lock;  ///< wall clock: one request at a time
    protocol::HelloReply reply{};

    bool map(int lab_fd, int arena_fd) noexcept;
    void unmap() noexcept;
    bool start_epoch() noexcept;
};

/// Constant-initialised: usable before constructors have run.
extern Membership g_membership;

/// Drops replies that were kept for other threads (of the parent, after a fork).
void forget_kept_replies() noexcept;

}  // namespace simverbs::client::connection
