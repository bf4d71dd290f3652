// Handing the turn over and waiting for it on a futex word shared between processes.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/protocol/turn_wait.hpp"

namespace simverbs::client::turn {

inline long raw_futex(std::atomic<uint32_t>* word, int op, uint32_t value, const timespec* timeout) {
    return kernel(SYS_futex, reinterpret_cast<uint32_t*>(word), op, value, timeout, nullptr, 0);
}

/// For protocol::wait_awhile: system calls that pass by whatever interposes the C library's.
struct RawSystem {
    static void yield() { kernel(SYS_sched_yield); }
    static int64_t now_ns() {
        timespec t;
        kernel(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
        return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    }
};

}  // namespace simverbs::client::turn
