// Unmodified programs under the turn protocol: time, threads, children, signals, memory spinning.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/unit/verbs_shim/turn/fake_lab.hpp"

namespace simverbs::test {
namespace {

std::string guest() {
    return getenv("SIMVERBS_TEST_GUEST");
}

/// Runs one program alone; it must end well.
std::string output_of(std::vector<std::string> words, FakeLab& lab) {
    words.insert(words.begin(), guest());
    lab.add_program(words);
    const auto results = lab.run();
    EXPECT_FALSE(lab.timed_out) << lab.who_waits;
    EXPECT_FALSE(lab.stalled) << lab.who_waits;
    EXPECT_TRUE(WIFEXITED(results[0].status)) << "signal " << WTERMSIG(results[0].status) << "\n" << results[0].output;
    EXPECT_EQ(WEXITSTATUS(results[0].status), 0) << results[0].output;
    return results[0].output;
}

std::string output_of(const std::vector<std::string>& words) {
    FakeLab lab;
    return output_of(words, lab);
}

TEST(Guest, TwoThreadsAlternateThroughAConditionVariable_EveryRunTakesTheSameSimulatedTime) {
    const std::string first = output_of({"ping_pong"});
    EXPECT_EQ(first.substr(0, 6), "40 41 ");
    EXPECT_EQ(output_of({"ping_pong"}), first);
}

TEST(Guest, LocksBarriersAndSemaphoresWakeInSimulatedOrder_TimedWaitsEndAtTheirTime) {
    EXPECT_EQ(output_of({"sync_objects"}), "3210 sem -1 1 after 5 s\ncond 1 after 7 s\n");
}

TEST(Guest, AThreadThatYieldsInALoopSeesAnothersFlagWhenItWasSet) {
    EXPECT_EQ(output_of({"flag_spin", "1"}), "flag after 2 ms\n");
}

TEST(Guest, AThreadThatOnlyLoadsInALoopIsProvenToSpinBySingleSteps) {
    FakeLab lab;
    EXPECT_EQ(output_of({"flag_spin", "0"}, lab), "flag after 2 ms\n");
    EXPECT_GE(lab.probes, 1U);
}

TEST(Guest, ThreadsAreMadeThoughLibcsOwnMmapIsPatchedAndWaitsForALockOfAnotherThread) {
    const std::string first = output_of({"hooked_mmap"});
    EXPECT_EQ(first, "6 threads, waited 1\n");
    EXPECT_EQ(output_of({"hooked_mmap"}), first);
}

TEST(Guest, AComputingLoopIsNoSpinner) {
    FakeLab lab;
    EXPECT_EQ(output_of({"compute"}, lab).empty(), false);
    EXPECT_EQ(lab.grants, 1U);
}

TEST(Guest, TwoProcessesSleepSideBySide_EachPrintsItsOwnTimes) {
    FakeLab lab;
    lab.add_program({guest(), "sleeper", "3"});
    lab.add_program({guest(), "sleeper", "2"});
    const auto r = lab.run();
    ASSERT_FALSE(lab.timed_out || lab.stalled) << lab.who_waits;
    EXPECT_EQ(r[0].output.substr(0, 9), "100000300");
    EXPECT_EQ(r[1].output.substr(0, 9), "100000200");
}

TEST(Guest, AlarmsFireAtTheirSimulatedTime_InSleepsPausesAndSigwait) {
    EXPECT_EQ(output_of({"alarm"}),
              "alarm 1 at 1000 ms\nalarms 5 at 2000 ms\nsleep left 8 errno 1\nsigwait 1 at 7 s, handler ran 6\n");
}

TEST(Guest, TheTimeStampCounterGrowsAtItsRate) {
    const std::string out = output_of({"tsc"});
    EXPECT_EQ(out.substr(0, 10), "bad 0 khz ");
    EXPECT_NEAR(atof(out.c_str() + 10), 2500000, 2500) << out;
}

TEST(Guest, APatchedRdtscReadsWhatATrappingOneDoes_KeepsEveryRegister_AndMayBeEnteredBehind) {
    EXPECT_EQ(output_of({"tsc_patch"}), "different 0 bad 0 patched 1 1 child 0\n");
}

TEST(Guest, WhoOnlyReadsClocksGetsToItsTimeInFewReads_HardlyLate_AndAllClocksAgree) {
    EXPECT_EQ(output_of({"clock_spin"}), "late 0 bad ratio 0 few 1\n");
}

TEST(Guest, AProgramsOwnSegvHandlerSeesItsFaults_AndTheCounterStillWorksWithEverythingBlocked) {
    EXPECT_EQ(output_of({"segv"}), "mine 1 tsc 1\nown handler 1\n");
}

TEST(Guest, ChildrenAreReapedInTheOrderInWhichTheyEnd_SystemExecAndSpawnStayInTheLab) {
    const std::string out = output_of({"children"});
    EXPECT_NE(out.find("child 1 12 at 10 ms\nchild 1 11 at 20 ms\nchild 1 10 at 30 ms\nnone 1\n"), std::string::npos)
        << out;
    EXPECT_NE(out.find("system 0\nexec 7\nspawn 0 8\n"), std::string::npos) << out;
    EXPECT_EQ(out.find("\n10000"), out.find("none 1") + 6) << "the shell's child lives in simulated time: " << out;
}

TEST(Guest, SeedsFromTimeAndPidGiveTheSameNumbersInEveryRun) {
    const std::string first = output_of({"randoms"});
    EXPECT_EQ(output_of({"randoms"}), first);
}

TEST(Guest, AWrapperThatWaitsForItsChildIsJustAProcess) {
    FakeLab lab;
    lab.add_program({"/usr/bin/env", "A=b", "timeout", "10", "sh", "-c", guest() + " sleeper 1; exit 9"});
    const auto r = lab.run();
    ASSERT_FALSE(lab.timed_out || lab.stalled) << lab.who_waits;
    EXPECT_EQ(WEXITSTATUS(r[0].status), 9);
    EXPECT_EQ(r[0].output.substr(0, 5), "10000");
}

TEST(Guest, ATimeoutInFrontOfAProgramThatSleepsTooLongKillsItInSimulatedTime) {
    FakeLab lab;
    lab.add_program({"/usr/bin/timeout", "10", "/bin/sleep", "100"});
    const auto r = lab.run();
    ASSERT_FALSE(lab.timed_out || lab.stalled) << lab.who_waits;
    EXPECT_EQ(WEXITSTATUS(r[0].status), 124);
    EXPECT_LT(lab.last_clock_ps, int64_t{11} * 1'000'000'000'000);
}

TEST(Guest, AMemorySpinnerSeesEveryRemoteWrite) {
    FakeLab lab;
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(output_of({"memory", "20000"}, lab), "20000\n");
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    printf("%.0f remote writes seen per second, %lu probes\n", 20000 / s, static_cast<unsigned long>(lab.probes));
    EXPECT_LE(lab.probes, 20U) << "caught once, a spinner needs no CPU budget any more";
}

TEST(Guest, EveryFormOfPollingLoadIsEmulated) {
    const std::string out = output_of({"forms"});
    EXPECT_EQ(out.find(" 0\n"), std::string::npos) << out;
}

}  // namespace
}  // namespace simverbs::test
