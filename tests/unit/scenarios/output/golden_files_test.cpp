// The exact bytes of every file: tests/golden/run_output. SIMVERBS_UPDATE_GOLDEN=1 in the environment writes them
// instead (then read the difference).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "scenarios/output/counter_files.hpp"
#include "scenarios/output/flow_files.hpp"
#include "scenarios/output/junit_xml.hpp"
#include "scenarios/output/perfetto_trace.hpp"
#include "scenarios/output/result_json.hpp"
#include "scenarios/output/summary_text.hpp"
#include "tests/unit/scenarios/expect/expect_test_support.hpp"

namespace simverbs::scenarios::output {
namespace {

run::RunResult result_of_a_sweep() {
    run::RunResult result = testing::sample_result();
    result.run_name = "cc.algorithm=dcqcn,load=30%";
    result.settings = {{"cc.algorithm", "dcqcn"}, {"load", "30%"}};
    result.warnings = {"a warning of the run, with \"quotes\""};
    return result;
}

std::vector<expect::ExpectationVerdict> verdicts_on(const run::RunResult& result) {
    return expect::evaluate(
        testing::expectations_of({"all flows of web complete", "fct.slowdown.p99 of web < 10", "never timeouts of ring",
                                  "utilisation of link h3 from 2 ms until 4 ms > 75 %", "queueing_delay < 1 us",
                                  "fault flap fired", "queue.max < 100 KB"}),
        result);
}

void expect_golden(const std::string& name, const std::string& text) {
    const std::filesystem::path path = testing::source_root() / "tests/golden/run_output" / name;
    const bool update = std::getenv("SIMVERBS_UPDATE_GOLDEN") != nullptr;
    if (update) std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(text, testing::file_text(path)) << name;
    EXPECT_FALSE(update) << "the golden file was written, nothing was compared";
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(GoldenFiles, ResultJson) {
    const run::RunResult result = result_of_a_sweep();
    const std::string text = result_json(result, verdicts_on(result));
    expect_golden("result.json", text);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["format"], "simverbs-result");
    EXPECT_EQ(json["passed"], false);
    EXPECT_EQ(json["groups"].size(), result.groups.size());
}

void collect_keys(const nlohmann::json& json, std::set<std::string>& keys) {
    for (const auto& [key, value] : json.items()) {
        if (json.is_object()) keys.insert(key);
        if (value.is_structured() && key != "settings") collect_keys(value, keys);
    }
}

TEST(GoldenFiles, EveryKeyOfResultJsonIsInTheManual) {
    const run::RunResult result = result_of_a_sweep();
    const std::string manual = testing::file_text(testing::source_root() / "docs/result_format.md");
    std::set<std::string> keys;
    collect_keys(nlohmann::json::parse(result_json(result, verdicts_on(result))), keys);
    EXPECT_GT(keys.size(), 80U);
    for (const std::string& key : keys) EXPECT_NE(manual.find("`" + key + "`"), std::string::npos) << key;
}

TEST(GoldenFiles, OnlyWallFieldsDifferBetweenRuns) {
    run::RunResult result = result_of_a_sweep();
    auto first = nlohmann::json::parse(result_json(result, {}));
    result.wall_seconds = 99;
    result.wall_setup_seconds = 98;
    auto second = nlohmann::json::parse(result_json(result, {}));
    EXPECT_NE(first, second);
    for (auto* json : {&first, &second}) {
        json->erase("wall_seconds");
        json->erase("wall_setup_seconds");
    }
    EXPECT_EQ(first, second);
}

TEST(GoldenFiles, FlowsCsv) {
    expect_golden("flows.csv", flows_csv(testing::sample_result()));
}

TEST(GoldenFiles, CountersCsv) {
    expect_golden("counters.csv", counters_csv(testing::sample_result()));
}

TEST(GoldenFiles, SeriesCsv) {
    run::RunResult result = testing::sample_result();
    expect_golden("series.csv", series_csv(result, {"queue", "marks"}));
    const std::string everything = series_csv(result);
    for (const char* value : {"sent_bps", "utilisation", "pauses_sent", "paused_ps", "marks", "drops", "buffer_bytes",
                              "rate_bps", "delivered_bytes", "rtt_ps", "queue_bytes_6"}) {
        EXPECT_NE(everything.find(value), std::string::npos) << value;
    }
    std::reverse(result.port_samples.begin(), result.port_samples.end());
    EXPECT_EQ(series_csv(result), everything) << "who asked first must not matter";
}

TEST(GoldenFiles, HpccFct) {
    expect_golden("fct.txt", hpcc_fct(testing::sample_result()));
}

TEST(GoldenFiles, PerfettoTrace) {
    const run::RunResult result = testing::sample_result();
    const std::string text = perfetto_trace(result);
    expect_golden("trace.json", text);
    const auto json = nlohmann::json::parse(text);
    std::size_t slices = 0;
    for (const auto& event : json["traceEvents"]) slices += event["ph"] == "X" ? 1 : 0;
    EXPECT_EQ(slices, result.flows.size());
}

TEST(GoldenFiles, JunitXml) {
    const run::RunResult first = result_of_a_sweep();
    const auto verdicts = verdicts_on(first);
    run::RunResult second = testing::star_of_four();
    second.ending = run::RunEnding::Stuck;
    second.stuck_dump = "sw0/3 waits for <itself>\n";
    const auto stuck = expect::evaluate({}, second);
    const run::RunResult third = testing::star_of_four();
    const std::vector<expect::ExpectationVerdict> none;
    const std::array runs{JunitRun{&first, &verdicts, "simverbs run 'star.yaml' --seed 7"},
                          JunitRun{&second, &stuck, "simverbs run stuck.yaml"}, JunitRun{&third, &none, ""}};
    expect_golden("junit.xml", junit_xml(runs));
}

TEST(GoldenFiles, Summary) {
    const run::RunResult result = result_of_a_sweep();
    const std::string text = summary_text(result, verdicts_on(result));
    expect_golden("summary.txt", text);
    EXPECT_LE(lines_of(text), 26U);
}

TEST(GoldenFiles, ASummaryOfVeryMuchStaysShort) {
    run::RunResult result = testing::sample_result();
    for (int i = 0; i < 50; ++i) result.groups.push_back({fmt::format("a_very_long_name_of_group_{}", i), "flows"});
    for (int i = 0; i < 50; ++i) result.warnings.push_back("something is odd");
    std::vector<std::string> statements;
    for (int i = 0; i < 40; ++i) statements.push_back(i < 38 ? "flows > 1" : "flows > 100");
    const std::string text = summary_text(result, expect::evaluate(testing::expectations_of(statements), result));
    expect_golden("summary_of_much.txt", text);
    EXPECT_LE(lines_of(text), 30U);
}

}  // namespace
}  // namespace simverbs::scenarios::output
