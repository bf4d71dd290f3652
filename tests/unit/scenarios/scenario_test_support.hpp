// What the tests of the scenario language share.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/scenario_loader.hpp"
#include "tests/unit/scenarios/lab_test_support.hpp"

namespace simverbs::scenarios::testing {

/// Algorithms as the models might hand them in.
inline std::vector<KnownAlgorithm> known_algorithms() {
    const std::vector<KnownParameter> dcqcn{
        {"rpg_ai_rate", FieldKind::Rate, "40 Mb/s", "0 b/s", "1 Tb/s", "Step of additive increase."},
        {"rpg_time_reset", FieldKind::Time, "55 us", "1 us", "131071 us", "Time between increases."},
        {"rpg_threshold", FieldKind::Integer, "5", "1", "31", "Rounds of fast recovery."},
        {"late_cnps", FieldKind::Flag, "false", "", "", "Marks within the interval are answered at its end."},
        {"clamp_tgt_rate", FieldKind::Flag, "true", "", "", "Every decrease sets the target rate."},
    };
    const std::vector<KnownParameter> hpcc{
        {"eta", FieldKind::Number, "0.95", "0.01", "1", "Utilisation that every link is brought to."},
        {"max_stage", FieldKind::Integer, "0", "0", "1000", "Additive steps."},
    };
    return {{"dcqcn", "DCQCN.", {"paper", "hpcc-ns3", "firmware"}, dcqcn},
            {"dcqcn+window", "DCQCN and a window.", {"paper", "hpcc-ns3", "firmware"}, dcqcn},
            {"hpcc", "HPCC.", {"hpcc-ns3"}, hpcc},
            {"timely", "TIMELY.", {"hpcc-ns3"}, {}},
            {"timely+window", "TIMELY and a window.", {"hpcc-ns3"}, {}},
            {"swift", "Swift.", {}, {}},
            {"dctcp", "DCTCP.", {"hpcc-ns3"}, {}},
            {"ib-cc", "InfiniBand CC.", {}, {}}};
}

inline ScenarioOptions scenario_options(std::vector<std::string> settings = {}) {
    return {known_profiles(), known_algorithms(), std::move(settings)};
}

/// The runs of the scenario that `text` describes, or all its errors.
struct LoadedScenario {
    std::optional<std::vector<ScenarioSpec>> runs;
    std::string errors;
};

inline LoadedScenario load_text(std::string_view text, std::vector<std::string> settings = {}) {
    DiagnosticSink sink;
    LoadedScenario out;
    out.runs = parse_scenario(text, "s.yaml", scenario_options(std::move(settings)), sink);
    out.errors = sink.to_string();
    return out;
}

/// The single run of a right scenario; an empty one if it is wrong.
inline ScenarioSpec load_one(std::string_view text, std::vector<std::string> settings = {}) {
    LoadedScenario loaded = load_text(text, std::move(settings));
    EXPECT_EQ(loaded.errors, "");
    if (!loaded.runs || loaded.runs->size() != 1) return {};
    return std::move(loaded.runs->front());
}

}  // namespace simverbs::scenarios::testing
