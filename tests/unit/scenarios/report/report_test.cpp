#include "scenarios/report/report.hpp"

#include <gtest/gtest.h>

#include "scenarios/report/port_statistics.hpp"
#include "scenarios/report/report_data.hpp"
#include "scenarios/report/report_sections.hpp"
#include "tests/report/sample_results.hpp"

namespace simverbs::scenarios::report {
namespace {

constexpr size_t kLargestPage = 5'000'000;

size_t count_of(const std::string& text, const std::string& what) {
    size_t count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

TEST(Report, TheSameRunGivesTheSameBytesWhateverTheClockSaid) {
    const auto first = rich_result(0.7);
    auto second = rich_result(0.7);
    second.wall_seconds = 12;
    second.wall_setup_seconds = 3;
    EXPECT_EQ(render_report({{first, sample_verdicts(true)}}), render_report({{second, sample_verdicts(true)}}));
}

TEST(Report, APageFetchesNothing) {
    const auto result = rich_result(0.7);
    const std::string page = render_report({{result, {}}});
    EXPECT_EQ(count_of(page, "src="), 0U);
    EXPECT_EQ(count_of(page, "<link"), 1U);
    EXPECT_EQ(count_of(page, "<link rel=\"icon\" href=\"data:,\">"), 1U);
    EXPECT_EQ(count_of(page, "@import"), 0U);
    EXPECT_EQ(count_of(page, "default-src 'none'"), 1U);
}

TEST(Report, HostileNamesAddNoElement) {
    const auto hostile = hostile_result();
    const auto plain = rich_result(0.4);
    const std::string page = render_report({{hostile, sample_verdicts(false)}});
    EXPECT_EQ(count_of(page, "<script"), count_of(render_report({{plain, {}}}), "<script"));
    EXPECT_EQ(count_of(page, "<img"), 0U);
    EXPECT_EQ(count_of(page, "<!--"), 0U);
}

TEST(Report, AHundredThousandFlowsFitIntoASmallPage) {
    const auto result = large_result(100'000);
    EXPECT_LT(render_report({{result, {}}}).size(), 1'000'000U);
}

TEST(Report, ThousandsOfSampledPortsFitIntoASmallPage) {
    auto result = rich_result(0.7);
    const auto samples = result.port_samples.front();
    for (int i = 0; i < 2000; ++i) {
        result.port_samples.push_back(samples);
        result.ports.push_back(result.ports.front());
    }
    EXPECT_LT(render_report({{result, {}}}).size(), kLargestPage);
    std::vector<ReportRun> sweep;
    for (int i = 0; i < 30; ++i) sweep.push_back({result, sample_verdicts(true)});
    EXPECT_LT(render_report(sweep).size(), kLargestPage);
}

TEST(Report, TheHeadlineTellsExpectationsAndEnding) {
    auto result = rich_result(0.7);
    EXPECT_NE(header_html({{result, sample_verdicts(true)}})
                  .find("<strong>Passed</strong> <span>4 of 4 expectations met; the "
                        "time was over at 60 ms"),
              std::string::npos);
    EXPECT_NE(header_html({{result, sample_verdicts(false)}}).find("<strong>Failed</strong> <span>3 of 4"),
              std::string::npos);
    EXPECT_NE(header_html({{result, {}}}).find("<strong>Ran</strong> <span>no expectations"), std::string::npos);
    result.faults[0].fired = 0;
    EXPECT_FALSE(is_success({result, sample_verdicts(true)}));
    EXPECT_NE(header_html({{result, sample_verdicts(true)}}).find("1 fault did not fire"), std::string::npos);
}

TEST(Report, AStuckRunShowsItsWholeDump) {
    const auto hostile = hostile_result();
    const std::string html = stuck_html({{hostile, {}}});
    EXPECT_NE(html.find("h0 waits for &lt;/script&gt;"), std::string::npos);
    EXPECT_NE(html.find("h1 waits for h0"), std::string::npos);
    EXPECT_EQ(stuck_html({{rich_result(0.5), {}}}), "");
}

TEST(Report, ProgramsAreThereWithWhatTheyPrinted) {
    auto result = rich_result(0.5);
    EXPECT_EQ(programs_html({{result, {}}}), "");
    result.programs.push_back({"client", "h0", "prints '<b>'", true, {}, 3, "<b>not bold\n", "ended with exit code 3"});
    result.programs.push_back({"silent", "h1", "true", true, {}, 0, "", ""});
    const std::string html = programs_html({{result, {}}});
    EXPECT_NE(html.find("ended with exit code 3"), std::string::npos);
    EXPECT_NE(html.find("as expected"), std::string::npos);
    EXPECT_NE(html.find("&lt;b&gt;not bold"), std::string::npos);
    EXPECT_EQ(count_of(html, "<b>"), 0U);
    EXPECT_EQ(count_of(html, "<details>"), 1U);
}

TEST(Report, ExpectationsOfASweepStandSideBySideIfAllRunsStateTheSame) {
    auto a = rich_result(0.5);
    auto b = rich_result(0.6);
    a.run_name = "first";
    b.run_name = "second";
    const std::string same = expectations_html({{a, sample_verdicts(true)}, {b, sample_verdicts(false)}});
    EXPECT_EQ(count_of(same, "fct.slowdown.p50 of websearch"), 1U);
    EXPECT_EQ(count_of(same, ">not met: 24.9<"), 1U);
    const std::string other = expectations_html({{a, sample_verdicts(true)}, {b, {}}});
    EXPECT_EQ(count_of(other, "<th scope=\"col\">Run</th>"), 1U);
}

TEST(Report, TiersOfAFatTreeAreLevelsAboveTheHosts) {
    const auto result = rich_result(0.5);
    const auto nodes = place_nodes(result);
    ASSERT_EQ(nodes.size(), 36U);
    EXPECT_EQ(nodes[0].level, 0U);
    EXPECT_EQ(nodes[16].level, 1U);
    EXPECT_EQ(nodes[24].level, 2U);
    EXPECT_EQ(nodes[32].level, 3U);
    EXPECT_EQ(nodes[15].place, 15U);
    EXPECT_EQ(nodes[35].place, 3U);
}

TEST(Report, ALargeFabricIsNotDrawnButItsPortsAreListed) {
    run::RunResult result;
    result.hosts.resize(401);
    result.ports.resize(5000);
    const auto data = report_data({{result, {}}});
    const auto& run = data["runs"][0];
    EXPECT_FALSE(run["topology"].contains("nodes"));
    EXPECT_EQ(run["topology"]["count"], 401);
    EXPECT_EQ(run["portCount"], 5000);
    EXPECT_EQ(run["ports"].size(), 3000U);
}

TEST(Report, NumbersOfTheDataAreShortAndNeverInfinite) {
    auto result = rich_result(0.7);
    result.simulated_time = sim::SimTime::zero();
    const std::string text = report_data({{result, {}}}).dump();
    EXPECT_EQ(text.find("inf"), std::string::npos);
    EXPECT_EQ(text.find("nan"), std::string::npos);
    EXPECT_EQ(text.find(".0,"), std::string::npos);
    EXPECT_EQ(text.find("9999999999"), std::string::npos);  // as rounding with a product would leave
}

}  // namespace
}  // namespace simverbs::scenarios::report
