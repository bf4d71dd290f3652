// Scenarios of the library that take less than a second: what they promise, and what they say happens without.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "scenarios/lang/schema.hpp"
#include "tests/unit/scenarios/run/run_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::Outcome;

Outcome run_file(const std::string& name, std::vector<std::string> settings = {}) {
    ScenarioOptions options = run::scenario_options();
    options.settings = std::move(settings);
    DiagnosticSink sink;
    const auto runs = load_scenario(SIMVERBS_SCENARIO_LIBRARY "/" + name + ".yaml", options, sink);
    EXPECT_EQ(sink.to_string(), "");
    Outcome out = runs && !runs->empty() ? testing::run_spec(runs->front()) : Outcome();
    EXPECT_EQ(out.problems, "") << name;
    return out;
}

TEST(Reference, TheFileInDocsIsWhatExplainSchemaPrints) {
    const std::filesystem::path file = SIMVERBS_SCENARIO_LIBRARY "/../../../docs/scenario_reference.md";
    const std::string said = describe_schema() + describe_algorithms(run::scenario_options().algorithms);
    const bool update = std::getenv("SIMVERBS_UPDATE_GOLDEN") != nullptr;
    if (update) std::ofstream(file) << said;
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(text, said) << "SIMVERBS_UPDATE_GOLDEN=1 writes it";
    EXPECT_FALSE(update) << "the file was written, nothing was compared";
}

TEST(Library, TheirExpectationsAreMet) {
    for (const char* name : {"pause_storm", "dscp_map_forgotten", "ib_up_down", "vl_isolation", "ib_credit_loop"})
        EXPECT_EQ(run_file(name).failures(), "") << name;
}

TEST(Library, WithoutItsWatchdogAPauseStormStopsBystanders) {
    const Outcome out = run_file("pause_storm", {"switch.pfc.watchdog=off"});
    EXPECT_EQ(out.result.flows.back().status, flow::FlowStatus::Pending);
    EXPECT_GT(out.port("h5").end.paused_time, sim::SimTime::ms(10));
}

TEST(Library, WithItsMapTheForgottenClassIsLosslessEverywhere) {
    const Outcome out = run_file("dscp_map_forgotten", {"switches[0].dscp_map.26=3"});
    for (const run::PortRecord& p : out.result.ports) EXPECT_EQ(p.end.drops, 0U) << p.name;
    for (const run::FlowRecord& f : out.result.flows) EXPECT_EQ(f.retransmitted, 0U);
}

TEST(Library, OnOneVlTheLatencyJobIsAVictim) {
    const auto slowdown = [](const Outcome& out) {
        const run::FlowRecord& f = out.result.flows.back();
        return (f.acknowledged - f.started).in_s() / f.ideal.in_s();
    };
    EXPECT_GT(slowdown(run_file("vl_isolation", {"switch.sl2vl.1=0"})), 3 * slowdown(run_file("vl_isolation")));
}

}  // namespace
}  // namespace simverbs::scenarios
