// The barrier between windows: spins briefly, then yields, then sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace simverbs::sim {

/// A reusable barrier for a fixed number of threads.
class WindowBarrier {
  public:
    explicit WindowBarrier(unsigned threads) : threads_(threads) {}

    void arrive_and_wait() noexcept {
        const uint32_t round = round_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            round_.notify_all();
            return;
        }
        for (int tries = 0; round_.load(std::memory_order_acquire) == round; ++tries) {
            if (tries < kSpins)
                pause();
            else if (tries < kSpins + kYields)
                std::this_thread::yield();
            else
                round_.wait(round, std::memory_order_acquire);
        }
    }

  private:
    // Threads that share a fabric are often a tenth of a window apart, 100 us and more, and to sleep costs as much. A
    // thread that yields is in nobody's way where cores are short.
    static constexpr int kSpins = 2000;
    static constexpr int kYields = 2000;
    static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    const unsigned threads_;
    alignas(64) std::atomic<unsigned> arrived_{0};
    alignas(64) std::atomic<uint32_t> round_{0};
};

}  // namespace simverbs::sim
