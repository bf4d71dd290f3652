// Looks at the thread that has the turn, from outside: is it computing, burning, asleep in something unknown, dead?
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace simverbs::server {

struct ThreadReading {
    bool exists = false;
    char state = '?';    ///< as /proc/<pid>/task/<tid>/stat has it
    int64_t run_ns = 0;  ///< CPU time so far
};
[[nodiscard]] ThreadReading read_thread(pid_t pid, pid_t tid);

/// What to do about the thread that has the turn.
enum class WatchVerdict : uint8_t { Wait, Probe, Lost };

/// Decides when to look, never what a clock becomes. One per turn; fed every few milliseconds of real time.
class ThreadWatch {
  public:
    void begin(const ThreadReading& first, int64_t now_ns);
    /// `in_shim`: the thread is inside an interposed call. `moved`: there was output or a request meanwhile.
    WatchVerdict look(const ThreadReading& reading, bool in_shim, bool moved, int64_t now_ns);

    static constexpr int64_t kFirstProbeNs = 4'000'000;  ///< CPU time of one turn before the first probe
    static constexpr int64_t kMostProbeNs = 1'000'000'000;
    static constexpr int64_t kAsleepNs = 30'000'000;  ///< real time asleep outside the shim: lost
    static constexpr int64_t kAsleepInShimNs = 5'000'000'000;

  private:
    int64_t begun_run_ns_ = 0;
    int64_t next_probe_ns_ = kFirstProbeNs;
    int64_t last_run_ns_ = 0;
    int64_t awake_ns_ = 0;  ///< real time when it was last seen running
};

}  // namespace simverbs::server
