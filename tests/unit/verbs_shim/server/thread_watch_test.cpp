#include "verbs_shim/server/thread_watch.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace simverbs::server {
namespace {

constexpr int64_t kMs = 1'000'000;

ThreadReading running(int64_t run_ns) {
    return {true, 'R', run_ns};
}
ThreadReading sleeping(int64_t run_ns) {
    return {true, 'S', run_ns};
}

TEST(ThreadWatch, ABurningThreadIsProbedWithBackOff) {
    ThreadWatch watch;
    watch.begin(running(0), 0);
    EXPECT_EQ(watch.look(running(3 * kMs), false, false, 3 * kMs), WatchVerdict::Wait);
    EXPECT_EQ(watch.look(running(4 * kMs), false, false, 4 * kMs), WatchVerdict::Probe);
    EXPECT_EQ(watch.look(running(8 * kMs), false, false, 8 * kMs), WatchVerdict::Wait);
    EXPECT_EQ(watch.look(running(12 * kMs), false, false, 12 * kMs), WatchVerdict::Probe);
}

TEST(ThreadWatch, InsideTheShimNobodyIsProbed) {
    ThreadWatch watch;
    watch.begin(running(0), 0);
    EXPECT_EQ(watch.look(running(50 * kMs), true, false, 50 * kMs), WatchVerdict::Wait);
}

TEST(ThreadWatch, AThreadAsleepOutsideTheShimLosesItsTurnOnlyAfterAWhile) {
    ThreadWatch watch;
    watch.begin(sleeping(0), 0);
    EXPECT_EQ(watch.look(sleeping(0), false, false, 5 * kMs), WatchVerdict::Wait);
    EXPECT_EQ(watch.look(sleeping(0), false, false, 31 * kMs), WatchVerdict::Lost);
}

TEST(ThreadWatch, WaitingForAMachineThatIsBusyIsNotSleeping) {
    ThreadWatch watch;
    watch.begin(running(0), 0);
    for (int64_t t = 5; t < 500; t += 5) EXPECT_EQ(watch.look(running(0), false, false, t * kMs), WatchVerdict::Wait);
}

TEST(ThreadWatch, AThreadWhoseOutputWasJustReadIsNotAsleep) {
    ThreadWatch watch;
    watch.begin(sleeping(0), 0);
    for (int64_t t = 5; t < 500; t += 5) EXPECT_EQ(watch.look(sleeping(0), false, true, t * kMs), WatchVerdict::Wait);
}

TEST(ThreadWatch, ReadsAThreadOfThisProcess) {
    const ThreadReading self = read_thread(::getpid(), static_cast<pid_t>(::syscall(SYS_gettid)));
    EXPECT_TRUE(self.exists);
    EXPECT_EQ(self.state, 'R');
    EXPECT_FALSE(read_thread(::getpid(), 1'000'000'000).exists);
}

}  // namespace
}  // namespace simverbs::server
