// The first part of waiting for one's turn: it will mostly come in a microsecond or two. Both halves wait like this.
//
// A change of process costs about a microsecond and a half, a look at another core's word a tenth of that. So the
// server has a core to itself where there are two, and looks at the word; the programs share the other one, and whoever
// gives up its turn makes room for the next at once, while the server is at work, unless it has learnt that it will be
// the next itself. Microseconds a grant on a 2-core virtual machine, a server and two programs that do nothing else:
// 1.6 to 2.1 like that, 2.5 to 3.8 with yields where the scheduler places the three as it likes, 7 to 8.4 with futexes
// on one core, 12 to 32 with futexes across cores. With other busy processes on all cores a yield takes milliseconds:
// the next waits then sleep at once.
#pragma once

#include <cstdint>

namespace simverbs::protocol {

inline constexpr uint32_t kLongSpin = 400;    ///< pauses: some 10 us; longer than the model mostly needs
inline constexpr uint32_t kShortSpin = 60;    ///< some 2 us, 1 us on older and on newer cores
inline constexpr uint32_t kSpunYields = 8;    ///< the first yields of a wait are followed by a short spin
inline constexpr uint32_t kSpinMisses = 4;    ///< in a row, then …
inline constexpr uint32_t kNoSpin = 16;       ///< … this many waits do without, doubled up to …
inline constexpr uint32_t kMaxNoSpin = 4096;  ///< … this while looking does not pay
inline constexpr uint32_t kYieldRounds = 64;
inline constexpr int64_t kYieldTooLongNs = 100'000;  ///< a yield that took this long: somebody else wants the core
inline constexpr uint32_t kUntimed = 3;            ///< of four waits take no time of their first yield (a system call)
inline constexpr uint32_t kFutexOnly = 1000;       ///< waits that sleep at once after such a yield; doubled up to …
inline constexpr uint32_t kMaxFutexOnly = 64'000;  ///< … this while yields stay bad

/// Whether whoever gives up its turn will have it again before anybody else does: learnt from what came after the last
/// four times.
class NextGuess {
  public:
    [[nodiscard]] bool myself() const noexcept { return counters_[history_] >= 2; }
    void learn(bool myself) noexcept {
        uint8_t& counter = counters_[history_];
        if (myself && counter < 3) ++counter;
        if (!myself && counter > 0) --counter;
        history_ = static_cast<uint8_t>(((history_ << 1) | (myself ? 1 : 0)) % sizeof counters_);
    }

  private:
    uint8_t history_ = 0;
    uint8_t counters_[16] = {};
};

/// How long a wait looks at the word without giving up the core.
struct Spin {
    uint32_t first = 0;    ///< pauses before the first yield
    uint32_t between = 0;  ///< pauses after each of the first yields
};

/// What a waiting party has learnt about the machine. One for each.
struct TurnWait {
    uint32_t no_spin = 0;
    uint32_t spin_misses = 0;
    uint32_t spin_penalty = kNoSpin;
    uint32_t sleep_at_once = 0;
    uint32_t untimed = 0;  ///< waits still to come that do not time their first yield
    uint32_t sleep_penalty = kFutexOnly;
    NextGuess next;
};

inline void pause_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

template <class Ready>
bool spin_for(uint32_t pauses, Ready&& ready) {
    for (uint32_t i = 0; i < pauses; ++i) {
        pause_core();
        if (ready()) return true;
    }
    return false;
}

/// Looks at the word for a moment without giving up the core, where that has paid lately.
template <class Ready>
bool spin_awhile(TurnWait& wait, uint32_t pauses, Ready&& ready) {
    if (pauses == 0) return false;
    if (wait.no_spin > 0) {
        --wait.no_spin;
        return false;
    }
    if (spin_for(pauses, ready)) {
        wait.spin_misses = 0;
        wait.spin_penalty = kNoSpin;
        return true;
    }
    if (++wait.spin_misses >= kSpinMisses) {
        wait.spin_misses = 0;
        wait.no_spin = wait.spin_penalty;
        wait.spin_penalty = wait.spin_penalty < kMaxNoSpin ? wait.spin_penalty * 2 : kMaxNoSpin;
    }
    return false;
}

/// True as soon as `ready()`; false: go to sleep. `System` has static functions yield() and now_ns() (a clock that only
/// grows). `ours()`: did whoever had the turn last run on this core? A yield is not too long for what it does there.
template <class System, class Ready, class Ours>
bool wait_awhile(TurnWait& wait, const Spin& spin, Ready&& ready, Ours&& ours) {
    if (ready()) return true;
    if (wait.sleep_at_once > 0) {
        --wait.sleep_at_once;
        return false;
    }
    if (spin_awhile(wait, spin.first, ready)) return true;
    const auto yield_and_look = [&](uint32_t round) {
        System::yield();
        return ready() || spin_for(round < kSpunYields ? spin.between : 0, ready);
    };
    uint32_t rounds = 0;
    if (wait.untimed > 0) {
        --wait.untimed;
        if (yield_and_look(rounds++)) return true;
    } else {
        wait.untimed = kUntimed;
    }
    int64_t began = System::now_ns();
    for (; rounds < kYieldRounds; ++rounds) {
        const bool done = yield_and_look(rounds);
        const int64_t now = System::now_ns();
        // Also if it was worth it this time: it was paid for dearly.
        if (now - began > kYieldTooLongNs && (done || !ours())) {
            wait.sleep_at_once = wait.sleep_penalty;
            wait.sleep_penalty = wait.sleep_penalty < kMaxFutexOnly ? wait.sleep_penalty * 2 : kMaxFutexOnly;
            return done;
        }
        if (done) return true;
        began = now;
    }
    wait.sleep_penalty = kFutexOnly;
    return false;
}

}  // namespace simverbs::protocol
