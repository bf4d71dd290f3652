#include "scenarios/compare/comparison_table.hpp"

#include <gtest/gtest.h>

namespace simverbs::scenarios::compare {
namespace {

ComparedRun run_of(const std::string& folder, double p99, double drops) {
    ComparedRun run;
    run.folder = folder;
    run.result.scenario = "same";
    run.groups.push_back({.name = "web", .flows = 10, .completed = 10, .slowdown = {.p99 = p99}});
    run.totals.drops = drops;
    run.verdicts = {{.name = "", .passed = p99 < 10, .sentence = "s", .measured = "", .wanted = ""}};
    return run;
}

const ComparisonRow* row_named(const std::vector<ComparisonSection>& sections, const std::string& title,
                               const std::string& name) {
    for (const ComparisonSection& section : sections) {
        if (section.title != title) continue;
        for (const ComparisonRow& row : section.rows)
            if (row.name == name) return &row;
    }
    return nullptr;
}

using Texts = std::vector<std::string>;

TEST(ComparisonTable, EachValueIsSetAgainstThatOfTheFirstRun) {
    const auto sections = compare_runs({run_of("a", 8, 4), run_of("b", 4, 6), run_of("c", 16, 0)});
    const ComparisonRow* slowdown = row_named(sections, "web", "slowdown p99");
    ASSERT_NE(slowdown, nullptr);
    EXPECT_EQ(slowdown->values, (Texts{"8", "4", "16"}));
    EXPECT_EQ(slowdown->ratios, (Texts{"0.5", "2"}));
    EXPECT_EQ(column_heads(3), (Texts{"", "A", "B", "B/A", "C", "C/A"}));
    EXPECT_EQ(texts_of(*slowdown), (Texts{"slowdown p99", "8", "4", "0.5", "16", "2"}));
}

TEST(ComparisonTable, NothingIsDividedByNothing) {
    const auto sections = compare_runs({run_of("a", 8, 0), run_of("b", 8, 7)});
    EXPECT_EQ(row_named(sections, "All flows and ports", "drops")->ratios, Texts{"\xE2\x80\x93"});
}

TEST(ComparisonTable, OfSettingsAndSeedsOnlyThoseThatDifferAreTold) {
    ComparedRun a = run_of("a", 8, 0);
    ComparedRun b = run_of("b", 12, 0);
    a.result.settings = {{"load", "0.3"}, {"k", "4"}};
    b.result.settings = {{"load", "0.5"}, {"k", "4"}};
    b.result.seed = 2;
    const auto sections = compare_runs({a, b});
    EXPECT_EQ(row_named(sections, "Runs", "folder")->values, (Texts{"a", "b"}));
    EXPECT_EQ(row_named(sections, "Runs", "load")->values, (Texts{"0.3", "0.5"}));
    EXPECT_EQ(row_named(sections, "Runs", "seed")->values, (Texts{"1", "2"}));
    EXPECT_EQ(row_named(sections, "Runs", "k"), nullptr);
    EXPECT_EQ(row_named(sections, "Runs", "scenario"), nullptr);
    EXPECT_EQ(row_named(sections, "Runs", "expectations met")->values, (Texts{"1 of 1", "0 of 1"}));
}

TEST(ComparisonTable, ASeedThatIsASettingIsToldOnce) {
    ComparedRun a = run_of("a", 8, 0);
    ComparedRun b = run_of("b", 8, 0);
    a.result.settings = {{"seed", "1"}};
    b.result.settings = {{"seed", "2"}};
    b.result.seed = 2;
    const auto sections = compare_runs({a, b});
    size_t seeds = 0;
    for (const ComparisonRow& row : sections.front().rows) seeds += row.name == "seed";
    EXPECT_EQ(seeds, 1U);
}

TEST(ComparisonTable, AGroupThatOneRunLacksHasADash) {
    ComparedRun b = run_of("b", 8, 0);
    b.groups.front().name = "other";
    const auto sections = compare_runs({run_of("a", 8, 0), b});
    EXPECT_EQ(row_named(sections, "web", "flows")->values, (Texts{"10", "\xE2\x80\x93"}));
    EXPECT_EQ(row_named(sections, "other", "flows")->values, (Texts{"\xE2\x80\x93", "10"}));
    EXPECT_EQ(row_named(sections, "web", "FCT p50"), nullptr) << "no run has one";
}

TEST(ComparisonTable, ColumnsOfTheTextStandBelowEachOther) {
    const std::string text = comparison_text({run_of("a", 8, 0), run_of("bbb", 4, 0)});
    EXPECT_NE(text.find("  slowdown p99           8       4  0.5\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  drops                  0       0    \xE2\x80\x93\n"), std::string::npos) << text;
    EXPECT_EQ(text.find(" \n"), std::string::npos) << "lines end without spaces";
}

}  // namespace
}  // namespace simverbs::scenarios::compare
