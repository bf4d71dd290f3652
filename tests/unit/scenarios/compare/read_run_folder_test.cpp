#include "scenarios/compare/read_run_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scenarios/compare/comparison_page.hpp"
#include "scenarios/output/run_folder.hpp"
#include "scenarios/report/flow_statistics.hpp"
#include "scenarios/report/series.hpp"
#include "tests/report/sample_results.hpp"

namespace simverbs::scenarios::compare {
namespace {

namespace fs = std::filesystem;
using report::rich_result;

/// A folder of its own, which goes with it.
class ReadRunFolder : public ::testing::Test {
  protected:
    ReadRunFolder() : folder_(fs::temp_directory_path() / ("svt-compare-" + std::to_string(::getpid()))) {
        fs::create_directories(folder_);
    }
    ~ReadRunFolder() override { fs::remove_all(folder_); }

    std::string write_run(const std::string& name, const run::RunResult& result) {
        OutputsSpec outputs;
        outputs.flows = true;
        outputs.series.emplace();
        const auto written = output::write_run_folder(folder_ / name, result, {}, outputs);
        EXPECT_TRUE(written.errors.empty());
        return (folder_ / name).string();
    }
    std::string write_text(const std::string& name, const std::string& text) {
        EXPECT_EQ(output::write_file(folder_ / name, text), "");
        return (folder_ / name).string();
    }
    static std::string text_of(const fs::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// Writes the file again with `to` for the first `from`.
    static void change(const fs::path& file, const std::string& from, const std::string& to) {
        std::string text = text_of(file);
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        ASSERT_EQ(output::write_file(file, text.replace(at, from.size(), to)), "");
    }
    static std::string mistakes(const std::vector<std::string>& folders) {
        DiagnosticSink sink;
        (void)read_run_folders(folders, sink);
        return sink.to_string();
    }

    fs::path folder_;
};

TEST_F(ReadRunFolder, FlowsAndSamplesAreThoseOfTheRun) {
    const run::RunResult written = rich_result(0.7);
    DiagnosticSink sink;
    const auto runs = read_run_folders({write_run("a", written), write_run("b", rich_result(0.4))}, sink);
    ASSERT_TRUE(sink.empty()) << sink.to_string();
    const run::RunResult& read = runs[0].result;
    ASSERT_EQ(read.flows.size(), written.flows.size());
    const auto bins = report::slowdown_by_size(written.flows);
    const auto bins_read = report::slowdown_by_size(read.flows);
    ASSERT_EQ(bins_read.size(), bins.size());
    for (size_t i = 0; i < bins.size(); ++i) {
        EXPECT_EQ(bins_read[i].flows, bins[i].flows);
        EXPECT_EQ(bins_read[i].p99, bins[i].p99);
    }
    const auto series = report::thin_out(written, {});
    const auto series_read = report::thin_out(read, {});
    EXPECT_EQ(series_read.times_us, series.times_us);
    ASSERT_EQ(series_read.panels.size(), series.panels.size());
    for (size_t p = 0; p < series.panels.size(); ++p) {
        EXPECT_EQ(series_read.panels[p].id, series.panels[p].id);
        ASSERT_EQ(series_read.panels[p].series.size(), series.panels[p].series.size());
        EXPECT_EQ(series_read.panels[p].series[0].name, series.panels[p].series[0].name);
        EXPECT_EQ(series_read.panels[p].series[0].values, series.panels[p].series[0].values) << series.panels[p].id;
    }
}

TEST_F(ReadRunFolder, AFolderWithOneRunInItStandsForThatRun) {
    write_run("a/scenario", rich_result(0.7));
    write_run("b/scenario/run-1", rich_result(0.7));
    DiagnosticSink sink;
    const auto runs = read_run_folders({(folder_ / "a").string(), (folder_ / "b").string()}, sink);
    ASSERT_TRUE(sink.empty()) << sink.to_string();
    EXPECT_EQ(runs[1].folder, (folder_ / "b/scenario/run-1").string());
    EXPECT_EQ(runs[0].result.run_name, "A: a");
}

TEST_F(ReadRunFolder, EveryWrongFolderIsToldAtOnce) {
    const std::string good = write_run("good", rich_result(0.7));
    const std::string file = write_text("file", "x");
    fs::create_directories(folder_ / "killed");
    const std::string said = mistakes({good, good + "/", folder_.string() + "/./good", file,
                                       (folder_ / "killed").string(), (folder_ / "none").string(), folder_.string()});
    EXPECT_NE(said.find(good + ": is given twice; expected different runs\n"), std::string::npos) << said;
    EXPECT_NE(said.find("/./good: is the same run as " + good + "; expected different runs\n"), std::string::npos)
        << said;
    EXPECT_NE(said.find("file: is no folder; expected the folder of a run\n"), std::string::npos) << said;
    EXPECT_NE(said.find("killed: the run did not finish: there is no result.json"), std::string::npos) << said;
    EXPECT_NE(said.find("none: there is no such folder"), std::string::npos) << said;
}

TEST_F(ReadRunFolder, AFolderOfSeveralRunsNamesThem) {
    const std::string a = write_run("a", rich_result(0.7));
    const std::string b = write_run("b", rich_result(0.7));
    EXPECT_EQ(mistakes({a, folder_.string()}),
              folder_.string() + ": holds 2 runs; expected one of them, such as " + a + ", " + b + "\n");
}

TEST_F(ReadRunFolder, FewerThanTwoFoldersAreNoComparison) {
    EXPECT_EQ(mistakes({}).substr(0, 27), "no folder is given; expecte");
    EXPECT_EQ(mistakes({write_run("a", rich_result(0.7))}).substr(0, 40), "one folder is compared with nothing; exp");
}

TEST_F(ReadRunFolder, AnotherVersionIsNamedAndReadNoFurther) {
    const std::string a = write_run("a", rich_result(0.7));
    const std::string b = write_run("b", rich_result(0.7));
    change(b + "/result.json", "\"version\": 1", "\"version\": 7");
    change(b + "/result.json", "\"seed\"", "\"sown\"");
    EXPECT_EQ(mistakes({a, b}),
              b + "/result.json: version: is 7; expected 1: another release of simverbs wrote it; run "
                  "the scenario again with this one\n");
    write_text("b/result.json", "{\"x\": 1}");
    EXPECT_EQ(mistakes({a, b}), b + "/result.json: format: is not 'simverbs-result'; expected the result.json of a "
                                    "simverbs run\n");
}

TEST_F(ReadRunFolder, DamageIsToldWithItsPlaceAndWhatWasExpected) {
    const std::string a = write_run("a", rich_result(0.7));
    const std::string b = write_run("b", rich_result(0.7));
    change(a + "/result.json", "\"seed\": 7", "\"seed\": \"x\"");
    change(a + "/result.json", "\"kind\":\"incast\"", "\"sort\":\"incast\"");
    const std::string text = text_of(b + "/result.json");
    write_text("b/result.json", text.substr(0, text.size() / 2));
    const std::string said = mistakes({a, b});
    EXPECT_NE(said.find("a/result.json: seed: is a string; expected a whole number that is not negative\n"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("a/result.json: groups[1].kind: is missing; expected a text\n"), std::string::npos) << said;
    EXPECT_NE(said.find(": ends in the middle; expected what simverbs run has written"), std::string::npos) << said;
    write_text("b/result.json", "{\n \"format\": simverbs}");
    EXPECT_NE(mistakes({a, b}).find("b/result.json:2:12: is damaged here"), std::string::npos) << mistakes({a, b});
}

TEST_F(ReadRunFolder, DamagedTablesAreToldWithTheirLines) {
    const std::string a = write_run("a", rich_result(0.7));
    const std::string b = write_run("b", rich_result(0.7));
    change(a + "/flows.csv", ",success,", ",sucess,");
    change(b + "/flows.csv", "ideal_ps", "ideal");
    change(b + "/series.csv", "port", "port,port");
    const std::string said = mistakes({a, b});
    EXPECT_NE(said.find("a/flows.csv:2: status: is 'sucess'; expected one of pending, success, retry_exceeded\n"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("b/flows.csv:1: has no column ideal_ps"), std::string::npos) << said;
    EXPECT_NE(said.find("b/series.csv:2: has 6 fields; expected 5, as the header\n"), std::string::npos) << said;
}

TEST_F(ReadRunFolder, WithoutFlowsAndSeriesTheTableStandsAndThePageSaysWhatIsMissing) {
    const std::string a = write_run("a", rich_result(0.7));
    const std::string b = write_run("b", rich_result(0.4));
    fs::remove(fs::path(b) / "flows.csv");
    fs::remove(fs::path(b) / "series.csv");
    DiagnosticSink sink;
    const auto runs = read_run_folders({a, b}, sink);
    ASSERT_TRUE(sink.empty()) << sink.to_string();
    EXPECT_TRUE(runs[0].notes.empty());
    EXPECT_EQ(runs[1].notes.size(), 2U);
    EXPECT_EQ(runs[1].groups[0].flows, runs[0].groups[0].flows);
    EXPECT_NE(render_comparison(runs).find("B: b has no flows.csv (outputs.flows)"), std::string::npos);
}

}  // namespace
}  // namespace simverbs::scenarios::compare
