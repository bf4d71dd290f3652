// Random sequences of verbs calls, played to the adapter and to the reference model: they never part. A sequence that
// makes them part is shortened as far as possible and told step by step; RC_PARAMS, as printed, plays it again.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <iostream>

#include "tests/conformance/verbs/model/driver.hpp"

namespace simverbs::test::model {
namespace {

constexpr int kLongest = 160;               ///< steps of a sequence
constexpr uint64_t kStepsOfASequence = 80;  ///< on average
constexpr uint64_t kTriesToShorten = 3000;  ///< then the shortest so far is told

/// Steps that are to be played for each type; by default they are a million altogether.
uint64_t steps_wanted() {
    const char* wanted = std::getenv("SIMVERBS_MODEL_STEPS");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 340'000;
}

/// Always the same sequences, unless RC_PARAMS asks for others.
void choose_sequences() {
    const std::string count = std::to_string(steps_wanted() / kStepsOfASequence + 1);
    ::setenv("RC_PARAMS", ("seed=20260101 max_success=" + count).c_str(), 0);
}

/// `reached`: what completions must have said somewhere, or the test says little.
void never_part(QpType type, const std::vector<WcStatus>& reached) {
    choose_sequences();
    uint64_t steps = 0, tries_to_shorten = 0;
    std::string shortest;  ///< of the sequences that parted
    Tally tally;
    const bool held = rc::check([&] {
        const auto whole = rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>());
        const auto sequence = *rc::gen::resize(kLongest, rc::gen::container<std::vector<uint64_t>>(whole));
        const uint64_t first = *whole;
        if (!shortest.empty() && ++tries_to_shorten > kTriesToShorten) return;
        Driver driver(type, first);
        for (const uint64_t number : sequence) {
            ++steps;
            if (!driver.step(number)) break;
        }
        (void)driver.finish();
        if (driver.diverged()) {
            shortest = driver.story();
            RC_FAIL(shortest);
        }
        tally.add(driver.tally());
    });
    ASSERT_TRUE(held) << shortest << "run it again with RC_PARAMS as printed at the end";
    std::cout << steps << " steps;" << tally.text() << "\n";
    if (steps < 10'000) return;
    for (const WcStatus status : reached)
        EXPECT_GT(tally.of(status), 0U) << "no completion ever said " << name_of(status);
    EXPECT_GT(tally.of(WcStatus::Success), steps / 20) << "hardly anything succeeded";
}

TEST(VerbsModel, ReliableConnectionsAndTheReferenceNeverPart) {
    using enum WcStatus;
    never_part(QpType::Rc, {Success, LocLenErr, LocQpOpErr, LocProtErr, WrFlushErr, MwBindErr, RemInvReqErr,
                            RemAccessErr, RemOpErr, RetryExcErr, RnrRetryExcErr});
}
TEST(VerbsModel, UnreliableConnectionsAndTheReferenceNeverPart) {
    using enum WcStatus;
    never_part(QpType::Uc, {Success, LocLenErr, LocQpOpErr, LocProtErr, WrFlushErr, MwBindErr});
}
TEST(VerbsModel, DatagramsAndTheReferenceNeverPart) {
    using enum WcStatus;
    never_part(QpType::Ud, {Success, LocLenErr, LocProtErr, WrFlushErr});
}

}  // namespace
}  // namespace simverbs::test::model
