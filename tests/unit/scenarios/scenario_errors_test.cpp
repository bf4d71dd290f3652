// The exact text of every error: tests/golden/scenario_errors/NAME.yaml has the mistakes, NAME.expected what is said.
// SIMVERBS_UPDATE_GOLDEN=1 in the environment writes the .expected files instead (then read the difference).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/unit/scenarios/scenario_test_support.hpp"

namespace simverbs::scenarios {
namespace {

std::filesystem::path golden_dir() {
    return testing::source_root() / "tests/golden/scenario_errors";
}

std::vector<std::filesystem::path> golden_scenarios() {
    std::vector<std::filesystem::path> scenarios;
    for (const auto& entry : std::filesystem::directory_iterator(golden_dir())) {
        if (entry.path().extension() == ".yaml") scenarios.push_back(entry.path());
    }
    std::sort(scenarios.begin(), scenarios.end());
    return scenarios;
}

/// Without the place of the source tree.
std::string without_folder(std::string text) {
    const std::string folder = golden_dir().string() + "/";
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
        text.erase(at, folder.size());
    }
    return text;
}

TEST(ScenarioErrors, EachWrongScenarioIsToldExactlyThis) {
    const bool update = std::getenv("SIMVERBS_UPDATE_GOLDEN") != nullptr;
    const std::vector<std::filesystem::path> scenarios = golden_scenarios();
    ASSERT_GT(scenarios.size(), 30U);
    for (const std::filesystem::path& path : scenarios) {
        DiagnosticSink sink;
        const auto runs = load_scenario(path.string(), testing::scenario_options(), sink);
        EXPECT_FALSE(runs.has_value()) << path.filename();
        EXPECT_FALSE(sink.empty()) << path.filename();
        std::filesystem::path expected = path;
        expected.replace_extension(".expected");
        if (update) {
            std::ofstream(expected) << without_folder(sink.to_string());
        } else {
            EXPECT_EQ(without_folder(sink.to_string()), testing::file_text(expected)) << path.filename();
        }
    }
    EXPECT_FALSE(update) << "the golden files were written, nothing was compared";
}

TEST(ScenarioErrors, EverythingThatIsWrongIsSaidAtOnce) {
    const auto loaded = testing::load_text(
        "topology: {kind: fat_tree, k: 3}\n"
        "switch: {ecn: {kmin: 5}}\n"
        "workloads: [{kind: incast, receiver: h0, bytes: 1}]\n"
        "expectations: [drops < many]\n"
        "run: {until: never}\n");
    EXPECT_FALSE(loaded.runs.has_value());
    EXPECT_EQ(std::count(loaded.errors.begin(), loaded.errors.end(), '\n'), 5) << loaded.errors;
}

}  // namespace
}  // namespace simverbs::scenarios
