// The list of algorithms and their schemas.
#include "models/cc/register_algorithms.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "sim/check.hpp"
#include "tests/unit/models/cc/qp_under_test.hpp"

namespace simverbs::cc::test {

namespace {

TEST(Algorithms, AreListedInOrderAndFoundByName) {
    std::vector<std::string_view> names;
    for (const AlgorithmInfo* info : algorithms()) {
        names.push_back(info->name);
        EXPECT_EQ(find_algorithm(info->name), info);
        EXPECT_FALSE(info->summary.empty());
    }
    EXPECT_THAT(names, testing::ElementsAre("none", "dcqcn", "dcqcn+window", "hpcc", "timely", "timely+window", "swift",
                                            "dctcp", "ib-cc", "aimd-window"));
    EXPECT_EQ(find_algorithm("cubic"), nullptr);
}

TEST(Algorithms, EachStartsWithinItsLimitsOnSlowAndFastPaths) {
    for (const AlgorithmInfo* info : algorithms()) {
        for (const int64_t gbps : {1, 25, 800}) {
            const QpUnderTest qp(info->name, plain_path(gbps, 4));
            EXPECT_EQ(qp.algorithm().name(), info->name);
            EXPECT_LE(qp.algorithm().state_size(), CongestionControl::kMaxState);
            EXPECT_EQ(qp.control().rate, sim::BitRate::gbps(gbps)) << info->name;
            EXPECT_GT(qp.control().window_bytes, 0);
        }
    }
}

/// ACKs, CNPs, timeouts and packets in a random order, now and then after an hour of nothing: the limits always hold.
void expect_limits_whatever_comes(QpUnderTest& qp, uint32_t steps, const std::string& of) {
    std::array<HopInt, kMaxHops> hops = {};
    uint64_t draw = 7;
    sim::SimTime now;
    for (uint32_t i = 0; i < steps; ++i) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        const auto random = [&](int shift, uint64_t below) { return (draw >> shift) % below; };
        now += sim::SimTime::ns(static_cast<int64_t>(random(20, 20'000)));
        if (i % 500 == 499) now += sim::SimTime::s(3600);
        for (HopInt& hop : hops)
            hop = {now, hop.tx_bytes + random(30, 300'000), static_cast<uint32_t>(random(36, 3'000'000)),
                   HopRate(sim::BitRate::gbps(100))};
        switch (random(60, 5)) {
            case 0:
                qp.cnp(now);
                break;
            case 1:
                qp.timeout(now);
                break;
            case 2:
                qp.send(4096, now);
                break;
            default:
                qp.ack({.now = now,
                        .rtt = sim::SimTime::ns(static_cast<int64_t>(random(25, 2'000'000))),
                        .acked_bytes = static_cast<int64_t>(random(33, 70'000)),
                        .ack_psn = wire::Psn(i),
                        .next_psn = wire::Psn(i + 20),
                        .ecn_echo = random(50, 3) == 0,
                        .hops = std::span(hops).first(1 + random(55, kMaxHops))});
        }
        ASSERT_GT(qp.control().rate, sim::BitRate()) << of;
        ASSERT_LE(qp.control().rate, sim::BitRate::gbps(100)) << of;
        ASSERT_GT(qp.control().window_bytes, 0) << of;
        ASSERT_GT(qp.control().bytes_to_update, 0) << of;
    }
}

TEST(Algorithms, RatesStayPositiveAndBelowTheLineRateWhateverComes) {
    for (const AlgorithmInfo* info : algorithms()) {
        QpUnderTest qp(info->name, plain_path(100, 4));
        expect_limits_whatever_comes(qp, 20'000, std::string(info->name));
    }
}

TEST(Algorithms, EachParameterAtItsLeastAndItsMostKeepsTheLimitsToo) {
    for (const AlgorithmInfo* info : algorithms()) {
        for (const ParameterInfo& p : info->parameters) {
            for (const double value : {p.least, p.most}) {
                const Parameters given = {{std::string(p.name), value}};
                if (!check_parameters(*info, given).empty()) continue;
                QpUnderTest qp(info->name, plain_path(100, 4), given);
                expect_limits_whatever_comes(qp, 1'000, fmt::format("{} with {}: {}", info->name, p.name, value));
            }
        }
    }
}

TEST(Algorithms, AllParametersAtTheirLeastOrTheirMostKeepTheLimitsToo) {
    for (const AlgorithmInfo* info : algorithms()) {
        for (const bool least : {true, false}) {
            Parameters given;
            for (const ParameterInfo& p : info->parameters) {
                given[std::string(p.name)] = least ? p.least : p.most;
                if (!check_parameters(*info, given).empty()) given.erase(std::string(p.name));
            }
            QpUnderTest qp(info->name, plain_path(100, 4), given);
            expect_limits_whatever_comes(qp, 1'000, fmt::format("{}, all {}", info->name, least ? "least" : "most"));
        }
    }
}

/// The number that a default is written as, in base units.
double value_of_text(const ParameterInfo& p) {
    static const std::map<std::string, double> kUnits = {{"", 1},      {" ps", 1},     {" ns", 1e3},   {" us", 1e6},
                                                         {" b/s", 1},  {" Mb/s", 1e6}, {" Gb/s", 1e9}, {" B", 1},
                                                         {" KB", 1e3}, {" MB", 1e6}};
    const std::string text(p.default_text);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const auto unit = kUnits.find(end);
    return unit == kUnits.end() ? -1 : number * unit->second;
}

TEST(Schemas, DefaultsAreWrittenAsTheyAreAndLieInRange) {
    for (const AlgorithmInfo* info : algorithms()) {
        EXPECT_TRUE(check_parameters(*info, {}).empty());
        for (const ParameterInfo& p : info->parameters) {
            EXPECT_DOUBLE_EQ(value_of_text(p), p.default_value) << info->name << ' ' << p.name;
            EXPECT_LE(p.least, p.default_value) << info->name << ' ' << p.name;
            EXPECT_GE(p.most, p.default_value) << info->name << ' ' << p.name;
            EXPECT_FALSE(p.help.empty());
            EXPECT_EQ(find_parameter(*info, p.name), &p) << "twice: " << p.name;
        }
    }
}

TEST(Schemas, PresetsNameParametersAndLieInRange) {
    for (const AlgorithmInfo* info : algorithms()) {
        for (const Preset& preset : info->presets) {
            EXPECT_TRUE(check_parameters(*info, with_preset(preset)).empty()) << info->name << ' ' << preset.name;
            EXPECT_NE(make(*info, with_preset(preset)), nullptr);
        }
    }
}

TEST(Schemas, WhatIsGivenGoesBeforeThePreset) {
    const AlgorithmInfo& dcqcn = *find_algorithm("dcqcn");
    const Parameters all = with_preset(*find_preset(dcqcn, "firmware"), {{"rpg_ai_rate", 7e6}});
    EXPECT_EQ(all.at("rpg_ai_rate"), 7e6);
    EXPECT_EQ(all.at("rpg_hai_rate"), 50e6);
    EXPECT_EQ(find_preset(dcqcn, "nonsense"), nullptr);
}

TEST(Schemas, EverythingWrongIsReportedAtOnce) {
    const auto problems = check_parameters(*find_algorithm("dcqcn"),
                                           {{"rpg_ai_rat", 1}, {"rpg_gd", 99}, {"rpg_threshold", 1.5}, {"window", 2}});
    ASSERT_EQ(problems.size(), 4u);
    EXPECT_EQ(problems[0].parameter, "rpg_ai_rat");
    EXPECT_THAT(problems[0].expected, testing::HasSubstr("rpg_ai_rate"));
    EXPECT_EQ(problems[1].parameter, "rpg_gd");
    EXPECT_EQ(problems[1].expected, "a whole number from 0 to 15");
    EXPECT_EQ(problems[2].parameter, "rpg_threshold");
    EXPECT_EQ(problems[3].expected, "0 or 1");
    const sim::ThrowingChecks throwing;
    EXPECT_THROW((void)make(*find_algorithm("dcqcn"), {{"rpg_gd", 99}}), sim::CheckError);
}

TEST(Schemas, ParametersThatDoNotGoTogetherAreReported) {
    const auto swift = check_parameters(*find_algorithm("swift"), {{"fs_min_cwnd", 100}});
    ASSERT_EQ(swift.size(), 1u);
    EXPECT_EQ(swift[0].parameter, "fs_min_cwnd");
    EXPECT_EQ(swift[0].expected, "below fs_max_cwnd, which is 100");
    EXPECT_EQ(check_parameters(*find_algorithm("timely"), {{"t_low", 600 * kUs}}).size(), 1u);
    EXPECT_EQ(check_parameters(*find_algorithm("timely+window"), {{"t_high", 1 * kUs}}).size(), 1u);
    EXPECT_EQ(check_parameters(*find_algorithm("ib-cc"), {{"ccti_min", 100}, {"ccti_limit", 50}}).size(), 1u);
    EXPECT_TRUE(check_parameters(*find_algorithm("ib-cc"), {{"ccti_min", 50}, {"ccti_limit", 50}}).empty());
}

TEST(EcnMarking, ThresholdsGrowWithThePortWhereTheSetSaysSo) {
    const EcnMarking hpcc = find_preset(*find_algorithm("dcqcn"), "hpcc-ns3")->ecn.scaled_to(sim::BitRate::gbps(100));
    EXPECT_EQ(hpcc.kmin, 400'000);
    EXPECT_EQ(hpcc.kmax, 1'600'000);
    EXPECT_EQ(hpcc.pmax, 0.2);
    const EcnMarking paper = find_preset(*find_algorithm("dcqcn"), "paper")->ecn.scaled_to(sim::BitRate::gbps(100));
    EXPECT_EQ(paper.kmin, 5'000);
    EXPECT_EQ(paper.kmax, 200'000);
    const EcnMarking dctcp = find_preset(*find_algorithm("dctcp"), "hpcc-ns3")->ecn.scaled_to(sim::BitRate::gbps(100));
    EXPECT_EQ(dctcp.kmin, 300'000);
    EXPECT_FALSE(EcnMarking{}.given());
}

TEST(Arithmetic, PowersAndWindowsAreExact) {
    static_assert(power(0.5, 10) == 1.0 / 1024);
    static_assert(power(3, 0) == 1);
    static_assert(bytes_in(sim::BitRate::gbps(100), sim::SimTime::us(8)) == 100'000);
    static_assert(bytes_in(sim::BitRate::bps(1), sim::SimTime::ps(1)) == 1);
    static_assert(share_of(sim::BitRate::gbps(100), 2e-4) == sim::BitRate::mbps(20));
    static_assert(is_past(wire::Psn(0), wire::Psn(0xFFFFFF)));
    static_assert(!is_past(wire::Psn(0xFFFFFF), wire::Psn(0)));
}

}  // namespace

}  // namespace simverbs::cc::test
