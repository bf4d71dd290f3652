// A lock for short critical sections, one atomic exchange when nobody else wants it. Works before constructors, knows
// the turn protocol (a thread that waits for it gives its turn away) and calls nothing that is interposed.
#pragma once

#include <atomic>
#include <cstdint>

namespace simverbs::client::verbs {

class Lock {
  public:
    constexpr Lock() noexcept = default;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    void lock() noexcept {
        uint32_t expected = kFree;
        if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
            lock_contended();
        }
    }
    void unlock() noexcept {
        if (word_.exchange(kFree, std::memory_order_release) == kWanted) wake();
    }
    /// In the child of a fork: whoever held it does not exist here.
    void reset() noexcept { word_.store(kFree, std::memory_order_relaxed); }

  private:
    static constexpr uint32_t kFree = 0, kHeld = 1, kWanted = 2;

    void lock_contended() noexcept;
    void wake() noexcept;

    std::atomic<uint32_t> word_{kFree};
};

class Guard {
  public:
    explicit Guard(Lock& l) noexcept : lock_(l) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    Lock& lock_;
};

}  // namespace simverbs::client::verbs
