#include "scenarios/report/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace simverbs::scenarios::report {
namespace {

using sim::SimTime;

/// Samples every microsecond of `ports` ports; port p sends at (p + 1) Gb/s and has one full queue, at sample 777.
run::RunResult sampled_run(uint32_t ports, size_t samples) {
    run::RunResult r;
    for (size_t i = 0; i < samples; ++i) r.sample_times.push_back(SimTime::us(static_cast<int64_t>(i + 1)));
    for (uint32_t p = 0; p < ports; ++p) {
        r.ports.push_back({.name = "p" + std::to_string(p)});
        run::PortSamples s{.port = p, .counts = std::vector<run::PortCounts>(samples)};
        for (size_t i = 0; i < samples; ++i) s.counts[i].tx_bytes = 125 * (p + 1) * (i + 1);
        if (samples > 777) s.counts[777].queue[3] = 1000 + p;
        r.port_samples.push_back(std::move(s));
    }
    return r;
}

const SeriesPanel* find_panel(const SampledSeries& all, const std::string& id) {
    const auto found = std::ranges::find(all.panels, id, &SeriesPanel::id);
    return found == all.panels.end() ? nullptr : &*found;
}

TEST(Series, ThinningKeepsPeaksOfQueuesAndAveragesOfRates) {
    const SampledSeries thin = thin_out(sampled_run(2, 10'000), {.numbers = 1000, .points = 2000, .series = 10});
    ASSERT_EQ(thin.times_us.size(), 100U);
    EXPECT_EQ(thin.times_us.back(), 10'000);
    const SeriesPanel* queue = find_panel(thin, "queue");
    ASSERT_NE(queue, nullptr);
    EXPECT_EQ(queue->series[0].name, "p1");  // the higher peak first
    EXPECT_EQ(*std::ranges::max_element(queue->series[0].values), 1001);
    const SeriesPanel* rate = find_panel(thin, "rate");
    ASSERT_NE(rate, nullptr);
    for (const double value : rate->series[0].values) EXPECT_NEAR(value, 2e9, 1);
}

TEST(Series, PanelsInWhichNothingHappensAreLeftOut) {
    const SampledSeries thin = thin_out(sampled_run(2, 1000), {});
    EXPECT_EQ(find_panel(thin, "paused"), nullptr);
    EXPECT_EQ(find_panel(thin, "marks"), nullptr);
    EXPECT_EQ(thin.panels.size(), 2U);
    EXPECT_TRUE(thin_out(run::RunResult{}, {}).panels.empty());
    EXPECT_TRUE(thin_out(sampled_run(2, 0), {}).panels.empty());
}

TEST(Series, ManyPortsAreCutToTheMostActive) {
    const SampledSeries thin = thin_out(sampled_run(300, 1000), {.numbers = 1'000'000, .points = 100, .series = 20});
    const SeriesPanel* rate = find_panel(thin, "rate");
    ASSERT_NE(rate, nullptr);
    EXPECT_EQ(rate->sampled, 300U);
    ASSERT_EQ(rate->series.size(), 20U);
    EXPECT_EQ(rate->series.front().name, "p299");
    EXPECT_EQ(thin.times_us.size(), 100U);
}

TEST(Series, SamplesThatEndEarlyCountAsNothing) {
    run::RunResult r = sampled_run(1, 1000);
    r.port_samples[0].counts.resize(500);
    const SampledSeries thin = thin_out(r, {.numbers = 100'000, .points = 100, .series = 20});
    const SeriesPanel* rate = find_panel(thin, "rate");
    ASSERT_NE(rate, nullptr);
    EXPECT_NEAR(rate->series[0].values.front(), 1e9, 1);
    EXPECT_EQ(rate->series[0].values.back(), 0);
}

TEST(Series, FlowsHaveTheRateAllowedAndTheRateDelivered) {
    run::RunResult r = sampled_run(0, 100);
    r.hosts = {{"a", 0}, {"b", 0}};
    r.groups = {{.name = "pair", .kind = "single"}};
    r.flows = {{.src = 0, .dst = 1}};
    run::FlowSamples s{.flow = 0, .rate = {}, .delivered = {}};
    for (int i = 1; i <= 100; ++i) {
        s.rate.push_back(sim::BitRate::gbps(40));
        s.delivered.push_back(i * 1250);
    }
    r.flow_samples = {s};
    const SampledSeries thin = thin_out(r, {});
    const SeriesPanel* allowed = find_panel(thin, "allowed");
    const SeriesPanel* delivered = find_panel(thin, "delivered");
    ASSERT_NE(allowed, nullptr);
    ASSERT_NE(delivered, nullptr);
    EXPECT_EQ(allowed->series[0].name, "pair 0 (a > b)");
    EXPECT_EQ(allowed->series[0].values.back(), 40e9);
    EXPECT_NEAR(delivered->series[0].values.back(), 10e9, 1);
}

}  // namespace
}  // namespace simverbs::scenarios::report
