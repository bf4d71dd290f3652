// Scenarios changed at random, always in the same way: whatever comes out, it is a scenario or it is told why not.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/unit/scenarios/scenario_test_support.hpp"

namespace simverbs::scenarios {
namespace {

constexpr int kMutantsOfEachText = 60;

/// Pieces that mean something to the language or to YAML.
constexpr std::array<std::string_view, 34> kScenarioPieces{
    "${x}",   "${",     "}",   "[",      "]",      "{",          "- ",     ": ",      "\n",
    "\n  ",   "h0..h9", "h99", "30 %",   "1 MB",   "5 us",       "all",    "of ",     "within ",
    "p99.9",  " < ",    " ± ", "never ", "kind: ", "fat_tree",   "k: 4",   "sweep: ", "include: x",
    "tor0/5", "fault ", "0x",  "1e99",   "-1",     "parameters", "bytes: "};

std::vector<std::string> texts_to_mutate() {
    std::vector<std::string> texts;
    for (const char* folder : {"scenarios/library/scenarios", "tests/golden/scenario_errors"}) {
        for (const auto& entry : std::filesystem::directory_iterator(testing::source_root() / folder)) {
            if (entry.path().extension() == ".yaml") texts.push_back(testing::file_text(entry.path()));
        }
    }
    std::sort(texts.begin(), texts.end());
    return texts;
}

TEST(ScenarioMutation, AMutantIsAScenarioOrIsToldWhyNot) {
    const std::vector<std::string> texts = texts_to_mutate();
    std::size_t right = 0;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::mt19937_64 random(i + 1);
        const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
        for (int k = 0; k < kMutantsOfEachText; ++k) {
            std::string text = texts[i];
            for (std::size_t change = 1 + below(3); change > 0; --change) {
                const std::size_t at = below(text.size() + 1);
                if (below(2) == 0) text.erase(at, below(20));
                if (below(2) == 0)
                    text.insert(std::min(at, text.size()), kScenarioPieces.at(below(kScenarioPieces.size())));
            }
            const testing::LoadedScenario loaded = testing::load_text(text);
            ASSERT_NE(loaded.runs.has_value(), !loaded.errors.empty()) << text << "\n---\n" << loaded.errors;
            (loaded.runs ? right : refused) += 1;
        }
    }
    // Both outcomes must really be exercised.
    EXPECT_GT(right, 30U);
    EXPECT_GT(refused, 500U);
}

}  // namespace
}  // namespace simverbs::scenarios
