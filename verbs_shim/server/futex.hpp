// Sleeping on and waking words in memory shared between processes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace simverbs::server {

/// Sleeps while `word` is `value`, at most `timeout_ns`.
inline void wait_word(std::atomic<uint32_t>& word, uint32_t value, int64_t timeout_ns) noexcept {
    const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, &timeout, nullptr, 0);
}

/// Wakes everybody who sleeps on `word`.
inline void wake_word(std::atomic<uint32_t>& word) noexcept {
    ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace simverbs::server
