// The worker threads of an engine. Private to the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/engine.hpp"
#include "sim/sim_time.hpp"
#include "sim/window_barrier.hpp"

namespace simverbs::sim {

/// Threads 1 … N-1 sleep until a job comes; thread 0 is the caller's. All run the same function.
struct Engine::Workers {
    explicit Workers(unsigned threads);
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    ~Workers();

    /// Runs `job(index)` on every thread, also here as index 0; returns when all are done.
    void run(const std::function<void(unsigned)>& job);

    /// Runs `f`; false if it threw. The first exception of all threads is kept for the caller.
    template <class F>
    bool guarded(F&& f) {
        try {
            f();
            return true;
        } catch (...) {
            const std::scoped_lock lock(failure_mutex);
            if (!failure) failure = std::current_exception();
            return false;
        }
    }

    /// What each thread says before a window, read by all after the barrier.
    struct alignas(64) Published {
        SimTime next_bucket;  ///< start of its partition's first active bucket
        bool failed = false;
    };
    WindowBarrier barrier;
    std::vector<Published> published;
    std::mutex failure_mutex;
    std::exception_ptr failure;

  private:
    void work(unsigned index);

    std::atomic<uint32_t> generation_{0};
    std::atomic<bool> stop_{false};
    const std::function<void(unsigned)>* job_ = nullptr;
    WindowBarrier done_;
    std::vector<std::thread> threads_;
};

}  // namespace simverbs::sim
