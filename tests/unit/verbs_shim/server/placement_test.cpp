#include "verbs_shim/server/placement.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace simverbs::server {
namespace {

/// A process that sleeps.
class Sleeper {
  public:
    Sleeper() : pid_(::fork()) {
        while (pid_ == 0) ::pause();
    }
    ~Sleeper() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

cpu_set_t affinity_of(pid_t pid) {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(::sched_getaffinity(pid, sizeof set, &set), 0);
    return set;
}

uint32_t first_core(const cpu_set_t& set) {
    for (uint32_t core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) return core;
    return 0;
}

TEST(Placement, AMovedThreadKeepsItsAffinity) {
    const Sleeper sleeper;
    const cpu_set_t before = affinity_of(sleeper.pid());
    const bool moved = move_off_core(sleeper.pid(), first_core(before));
    EXPECT_EQ(moved, CPU_COUNT(&before) > 1);
    const cpu_set_t after = affinity_of(sleeper.pid());
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Placement, AThreadThatIsPinnedStaysWhereItIs) {
    const Sleeper sleeper;
    cpu_set_t before = affinity_of(sleeper.pid());
    const uint32_t core = first_core(before);
    CPU_ZERO(&before);
    CPU_SET(core, &before);
    ASSERT_EQ(::sched_setaffinity(sleeper.pid(), sizeof before, &before), 0);
    EXPECT_FALSE(move_off_core(sleeper.pid(), core));
    const cpu_set_t after = affinity_of(sleeper.pid());
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace simverbs::server
