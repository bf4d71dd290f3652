#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "scenarios/output/csv.hpp"
#include "scenarios/output/group_summary.hpp"
#include "scenarios/output/junit_xml.hpp"
#include "scenarios/output/perfetto_trace.hpp"
#include "scenarios/output/result_json.hpp"
#include "scenarios/output/run_folder.hpp"
#include "scenarios/output/summary_text.hpp"
#include "tests/unit/scenarios/expect/expect_test_support.hpp"

namespace simverbs::scenarios::output {
namespace {

/// A folder of the test's own, gone with it.
class RunFolder : public ::testing::Test {
  protected:
    RunFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "simverbs_output_XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~RunFolder() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

TEST_F(RunFolder, HasWhatIsAskedForAndNoLeftovers) {
    OutputsSpec outputs;
    outputs.hpcc_fct = outputs.perfetto = true;
    outputs.series = SeriesSpec{};
    const WrittenFiles written = write_run_folder(folder_ / "a/b", testing::sample_result(), {}, outputs);
    EXPECT_EQ(written.files.size(), 7U);
    EXPECT_TRUE(written.errors.empty());
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "a/b")) {
        if (entry.is_directory()) continue;
        EXPECT_GT(entry.file_size(), 0U) << entry.path();
        ++files;
    }
    EXPECT_EQ(files, 7U);
    // Of the programs only that which has begun.
    EXPECT_EQ(testing::file_text(folder_ / "a/b/programs/client.txt"), "no route\n");
    EXPECT_EQ(write_run_folder(folder_ / "c", testing::sample_result(), {}, {}).files.size(), 4U);
}

TEST_F(RunFolder, AFileInTheWayOfTheFolderIsExplained) {
    ASSERT_EQ(write_file(folder_ / "x", "1"), "");
    const WrittenFiles written = write_run_folder(folder_ / "x", testing::sample_result(), {}, {});
    EXPECT_TRUE(written.files.empty());
    ASSERT_EQ(written.errors.size(), 4U);
    EXPECT_EQ(written.errors.back(), (folder_ / "x/result.json").string() +
                                         ": cannot be written: Not a directory; a file is in the way of the folder: "
                                         "choose another name");
}

TEST_F(RunFolder, TheResultIsWrittenLastAndTakenAwayWhenAnotherRunBegins) {
    const WrittenFiles written = write_run_folder(folder_ / "a", testing::sample_result(), {}, {});
    ASSERT_FALSE(written.files.empty());
    EXPECT_EQ(written.files.back(), folder_ / "a/result.json");
    EXPECT_EQ(begin_run_folder(folder_ / "a"), "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a/result.json"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "a/flows.csv"));
    EXPECT_EQ(begin_run_folder(folder_ / "a"), "");
    EXPECT_EQ(begin_run_folder(folder_ / "new"), "");
    EXPECT_TRUE(std::filesystem::is_directory(folder_ / "new"));
    ASSERT_EQ(write_file(folder_ / "x", "1"), "");
    EXPECT_EQ(begin_run_folder(folder_ / "x/y"),
              (folder_ / "x/y").string() +
                  ": cannot be written: Not a directory; a file is in the way of the folder: choose another name");
}

TEST_F(RunFolder, AWriteThatFailsLeavesTheOldFile) {
    ASSERT_EQ(write_file(folder_ / "f", "old"), "");
    std::filesystem::create_directory(folder_ / "d");
    EXPECT_NE(write_file(folder_ / "d", "a folder has this name"), "");
    EXPECT_EQ(testing::file_text(folder_ / "f"), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
    ASSERT_EQ(write_file(folder_ / "f", "new"), "");
    EXPECT_EQ(testing::file_text(folder_ / "f"), "new");
}

TEST(SizeBins, WebSearchHasThePapersSizesAndOthersTheirDeciles) {
    EXPECT_EQ(size_bin_ends("websearch", {1, 2}).size(), 10U);
    EXPECT_EQ(size_bin_ends("websearch", {}).front(), 6'700);
    std::vector<sim::ByteCount> sizes;
    for (int i = 100; i >= 1; --i) sizes.push_back(i);
    EXPECT_EQ(size_bin_ends("", sizes), (std::vector<sim::ByteCount>{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}));
    EXPECT_EQ(size_bin_ends("", {5, 5, 5}), (std::vector<sim::ByteCount>{5}));
    EXPECT_EQ(size_bin_ends("", {9, 5}), (std::vector<sim::ByteCount>{5, 9}));
    EXPECT_TRUE(size_bin_ends("", {}).empty());
}

TEST(GroupSummary, EachFlowIsInOneBin) {
    const run::RunResult result = testing::sample_result();
    const expect::ResultIndex index(result);
    const GroupSummary web = summary_of_group(index, 0);
    EXPECT_EQ(web.flows, 5U);
    EXPECT_EQ(web.measured, 4U);
    std::size_t in_bins = 0;
    for (const SizeBin& bin : web.by_size) in_bins += bin.fct.count;
    EXPECT_EQ(in_bins, web.completed);
    EXPECT_EQ(web.by_size[1].above, 6'700);
    EXPECT_EQ(web.by_size[1].slowdown.p50, 2);  // 10 KB
}

TEST(Warnings, TooSmallAHeadroomIsToldWithWhatIsMissing) {
    run::RunResult result = testing::sample_result();
    result.switches[0].max_headroom = 12'000;
    const expect::ResultIndex index(result);
    const auto warnings = warnings_of(index);
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_EQ(warnings[0],
              "2 packets of a lossless class were dropped, 2 of them at sw0/3: the headroom is too small by 3 KB");
    EXPECT_EQ(warnings[1],
              "pause storms detected: 1 (sending was paused for too long at sw0/3; the watchdog dropped 1 packet)");
}

TEST(EmptyResult, EveryOutputStandsIt) {
    const run::RunResult nothing;
    EXPECT_TRUE(nlohmann::json::parse(result_json(nothing, {})).is_object());
    EXPECT_TRUE(nlohmann::json::parse(perfetto_trace(nothing)).is_object());
    EXPECT_FALSE(summary_text(nothing, {}).empty());
    EXPECT_NE(junit_xml({}).find("tests=\"0\""), std::string::npos);
}

TEST(Texts, NothingThatAUserNamesBreaksAFormat) {
    EXPECT_EQ(csv_field("a"), "a");
    EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
    EXPECT_EQ(xml_text("<a & \"b\">\x01"), "&lt;a &amp; &quot;b&quot;&gt;?");
    run::RunResult result = testing::sample_result();
    result.description = "not UTF-8: \xff";
    result.groups[0].name = "quoted \"name\" \xff";
    EXPECT_TRUE(nlohmann::json::parse(result_json(result, {})).is_object());
    EXPECT_TRUE(nlohmann::json::parse(perfetto_trace(result)).is_object());
}

}  // namespace
}  // namespace simverbs::scenarios::output
