// The first part of waiting for a thread that has the turn: it will mostly be done in a microsecond or two.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace simverbs::server {

/// Yields the core a while, because a futex hand-off across cores costs tens of microseconds and a yield two; but where
/// yields give the core to somebody who keeps it (a busy machine), sleeps at once for the next many times. The client's
/// side does the same (verbs_shim/client/turn/hand_off.hpp has the measurements).
class YieldWait {
  public:
    /// True as soon as `ready()`; false: go to sleep.
    template <class Ready>
    bool until(Ready&& ready) {
        if (ready()) return true;
        if (sleep_at_once_ > 0) {
            --sleep_at_once_;
            return false;
        }
        int64_t began = now();
        for (int i = 0; i < kRounds; ++i) {
            ::sched_yield();
            const bool done = ready();
            const int64_t t = now();
            if (t - began > kTooLongNs) {  // also if it was worth it this time: it was paid for dearly
                sleep_at_once_ = penalty_;
                penalty_ = penalty_ < kMostSleepTimes ? penalty_ * 2 : kMostSleepTimes;
                return done;
            }
            if (done) return true;
            began = t;
        }
        penalty_ = kSleepTimes;
        return false;
    }

  private:
    static constexpr int kRounds = 64;
    static constexpr int64_t kTooLongNs = 100'000;  ///< a yield that took this long: the core is wanted
    static constexpr uint32_t kSleepTimes = 1000;   ///< doubled while yields stay bad, up to …
    static constexpr uint32_t kMostSleepTimes = 64'000;

    static int64_t now() {
        timespec t{};
        ::clock_gettime(CLOCK_MONOTONIC, &t);
        return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    }

    uint32_t sleep_at_once_ = 0;
    uint32_t penalty_ = kSleepTimes;
};

}  // namespace simverbs::server
