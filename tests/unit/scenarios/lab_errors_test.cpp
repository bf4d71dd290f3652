// The exact text of every error: tests/golden/lab_errors/NAME.yaml has the mistake, NAME.expected what is said.
// SIMVERBS_UPDATE_GOLDEN=1 in the environment writes the .expected files instead (then read the difference).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/unit/scenarios/lab_test_support.hpp"

namespace simverbs::scenarios {
namespace {

std::vector<std::filesystem::path> golden_labs() {
    std::vector<std::filesystem::path> labs;
    for (const auto& entry : std::filesystem::directory_iterator(testing::source_root() / "tests/golden/lab_errors")) {
        if (entry.path().extension() == ".yaml") labs.push_back(entry.path());
    }
    std::sort(labs.begin(), labs.end());
    return labs;
}

TEST(LabErrors, EachWrongLabIsToldExactlyThis) {
    const bool update = std::getenv("SIMVERBS_UPDATE_GOLDEN") != nullptr;
    const std::vector<std::filesystem::path> labs = golden_labs();
    ASSERT_GT(labs.size(), 20U);
    for (const std::filesystem::path& path : labs) {
        DiagnosticSink sink;
        const auto lab = parse_lab(testing::file_text(path), path.filename().string(), testing::known_profiles(), sink);
        EXPECT_FALSE(lab.has_value()) << path.filename();
        EXPECT_FALSE(sink.empty()) << path.filename();
        std::filesystem::path expected = path;
        expected.replace_extension(".expected");
        if (update) {
            std::ofstream(expected) << sink.to_string();
        } else {
            EXPECT_EQ(sink.to_string(), testing::file_text(expected)) << path.filename();
        }
    }
    EXPECT_FALSE(update) << "the golden files were written, nothing was compared";
}

}  // namespace
}  // namespace simverbs::scenarios
