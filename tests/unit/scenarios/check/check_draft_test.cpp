// Mistakes are found all at once: none hides another, and none makes another up.
#include "scenarios/check/check_draft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "scenarios/run/build_fabric.hpp"

namespace simverbs::scenarios {
namespace {

const std::vector<std::string> kRight{
    "name: base",
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 3}",
    "nic: {profile: cx7-400g}",
    "link: {rate: 100 Gb/s, delay: 1 us}",
    "switch: {buffer: 4 MB}",
    "switches: {leaf0: {buffer: 8 MB}}",
    "links: [{a: leaf1, b: spine0, rate: 50 Gb/s}]",
    "cc: {algorithm: dcqcn}",
    "transport: {payload: 1 KB}",
    "workloads:",
    "  - {name: inc, kind: incast, receiver: h0, senders: 2, bytes: 1 MB}",
    "  - {name: list, kind: flows, flows: [{src: h0, dst: h1, bytes: 1 MB}]}",
    "  - {name: load, kind: poisson, cdf: websearch, load: 10 %, until: 1 ms}",
    "programs:",
    "  - {name: s, host: h4, command: sleep 1}",
    "  - {name: c, host: h5, command: [sleep, 1]}",
    "faults:",
    "  - {name: f, link: h1, drop: {match: {flow: 'inc[1]'}}}",
    "  - {name: k, kill: {switch: leaf1, at: 1 ms}}",
    "  - {name: p, link: h2, drop: {every: 10}}",
    "expectations:",
    "  - all flows of inc complete",
    "  - queue of leaf0 < 8 MB",
    "  - goodput of flow inc[0] > 0 b/s",
    "outputs: {pcap: [h4], series: {interval: 1 us, at: [leaf0/1]}}",
    "run: {until: 10 ms}",
};

/// What can no longer be told if a mistake is there.
enum Unknown : unsigned { kNothing = 0, kFlowsOfInc = 1, kWorkloads = 2, kNetwork = 4, kPrograms = 8 };

struct Mistake {
    std::size_t line;  ///< in kRight, from 0
    std::string text;
    std::vector<std::string> told;  ///< what is said of it begins so, in this order
    unsigned hides = kNothing;
    unsigned needs = kNothing;
};

const std::vector<Mistake> kMistakes{
    {2, "nic: {profile: cx7-400g, mtu: 12}", {"nic.mtu: '12' has no unit"}},
    {2, "nic: {profile: cx7-400g, parameters: {nope: 1}}", {"nic.parameters.nope: profiles have no parameter 'nope'"}},
    {2, "nic: cx8", {"nic.profile: 'cx8' is not a profile"}},
    {3, "link: {rate: fast}", {"link.rate: 'fast' does not begin with a number"}},
    {4, "switch: {bufer: 4 MB}", {"switch: unknown key 'bufer'"}},
    {5, "switches: {leaf7: {buffer: 8 MB}}", {"switches.leaf7: there is no switch 'leaf7'"}, kNothing, kNetwork},
    {6, "links: [{a: leaf7, rate: 50 Gb/s}]", {"links[0].a: there is no link at 'leaf7'"}, kNothing, kNetwork},
    {6,
     "links: [{a: h17, rate: 50}]",
     {"links[0].a: there is no host 'h17'", "links[0].rate: '50' has no unit"},
     kNothing,
     kNetwork},
    {7, "cc: {algorithm: dcqcn, rpg_gd: 99}", {"cc.rpg_gd: '99' is too large"}},
    {7, "cc: nosuch", {"cc: 'nosuch' is not a congestion control algorithm"}},
    {8, "transport: {payload: 0 B}", {"transport.payload: '0 B' is too small"}},
    {10,
     "  - {name: inc, kind: incast, receiver: h9, senders: 2, bytes: 1 MB}",
     {"workloads[0].receiver: there is no host 'h9'"},
     kFlowsOfInc,
     kNetwork},
    {10,
     "  - {name: inc, kind: incast, receiver: h4, senders: 2, bytes: 1}",
     {"workloads[0].receiver: 'h4' runs programs and cannot have flows too", "workloads[0].bytes: '1' has no unit"},
     kFlowsOfInc,
     kNetwork | kPrograms},
    {10,
     "  - {name: inc, kind: incst, receiver: h9}",
     {"workloads[0].kind: 'incst' is not a workload"},
     kFlowsOfInc | kWorkloads},
    {11,
     "  - {name: list, kind: flows, flows: [{src: h77, dst: h1, bytes: 1 MB}]}",
     {"workloads[1].flows[0].src: there is no host 'h77'"},
     kNothing,
     kNetwork},
    {12,
     "  - {name: load, kind: poisson, cdf: websearch, load: 0 %, until: 1 ms}",
     {"workloads[2].load: no load at all"}},
    {12, "  - {name: load, kind: poisson, cdf: websearch, load: 10 %}", {"workloads[2]: the key 'until' is missing"}},
    {14,
     "  - {name: s, host: h66, command: sleep 1}",
     {"programs[0].host: there is no host 'h66'"},
     kPrograms,
     kNetwork},
    {15, "  - {name: c, host: h5, command: []}", {"programs[1].command: is an empty list"}},
    {17,
     "  - {name: f, link: h1, drop: {match: {flow: 'inc[7]'}}}",
     {"faults[0].drop.match.flow: there is no flow 'inc[7]'"},
     kNothing,
     kFlowsOfInc | kNetwork},
    {17,
     "  - {name: f, link: h1, drop: {match: {flow: nope}}}",
     {"faults[0].drop.match.flow: there is no workload 'nope'"},
     kNothing,
     kWorkloads},
    {17,
     "  - {name: f, link: leaf5, drop: {evry: 3}}",
     {"faults[0].link: there is no host, switch or port 'leaf5'", "faults[0].drop: which packets is not said",
      "faults[0].drop: unknown key 'evry'"},
     kNothing,
     kNetwork},
    {18,
     "  - {name: k, kill: {switch: leaf9, at: 1 ms}}",
     {"faults[1].kill.switch: there is no switch 'leaf9'"},
     kNothing,
     kNetwork},
    {18,
     "  - {name: k, kill: {switch: leaf9}}",
     {"faults[1].kill: the key 'at' is missing", "faults[1].kill.switch: there is no switch 'leaf9'"},
     kNothing,
     kNetwork},
    {19,
     "  - {name: p, link: h2 - h3, drop: {every: 10}}",
     {"faults[2].link: there is no link at 'h2' to 'h3'"},
     kNothing,
     kNetwork},
    {21, "  - all flows of ink complete", {"expectations[0]: there is no workload"}, kNothing, kWorkloads},
    {22, "  - queue of leaf9 < 8 MB", {"expectations[1]: there is no switch 'leaf9'"}, kNothing, kNetwork | kWorkloads},
    {22, "  - rtt of leaf1 < 8 us", {"expectations[1]: there is no workload or host 'leaf1'"}, kNothing, kWorkloads},
    {21,
     "  - all flow of ink complete within soon",
     {"expectations[0]: 'flow' cannot stand here", "expectations[0]: there is no workload",
      "expectations[0]: 'soon' does not begin with a number"},
     kNothing,
     kWorkloads},
    {22,
     "  - queue of leaf9 < 8 parsec",
     {"expectations[1]: there is no switch 'leaf9'", "expectations[1]: 'parsec' is not a unit here"},
     kNothing,
     kNetwork | kWorkloads},
    {22,
     "  - rtt of leaf1 < 8 parsec",
     {"expectations[1]: there is no workload or host 'leaf1'", "expectations[1]: 'parsec' is not a unit here"},
     kNothing,
     kWorkloads},
    {23,
     "  - goodput of flow inc[9] > 0 b/s",
     {"expectations[2]: there is no flow 9 in 'inc', which has 2"},
     kNothing,
     kFlowsOfInc | kNetwork},
    {24,
     "outputs: {pcap: [h0], series: {interval: 1 us, at: [leaf0/1]}}",
     {"outputs.pcap[0]: the packets of 'h0' cannot be captured"},
     kNothing,
     kNetwork | kPrograms},
    {24,
     "outputs: {pcap: [h4], series: {interval: 1 us, at: [spine9]}}",
     {"outputs.series.at[0]: there is no host, switch or port 'spine9'"},
     kNothing,
     kNetwork},
    {25, "run: {untill: 10 ms}", {"run: unknown key 'untill'"}},
    {1,
     "topology: {kind: leaf_spine, leaves: none, spines: 2, hosts_per_leaf: 3}",
     {"topology.leaves: 'none' is not a whole number"},
     kNetwork},
};

DiagnosticSink check(std::string_view text) {
    static const ScenarioOptions kOptions = run::scenario_options();
    DiagnosticSink sink;
    for (const ScenarioDraft& draft : parse_drafts(text, "s.yaml", kOptions, sink)) check_draft(draft, sink);
    return sink;
}

std::string text_with(std::vector<const Mistake*> mistakes) {
    std::vector<std::string> lines = kRight;
    for (const Mistake* m : mistakes) lines[m->line] = m->text;
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

/// Where and what; what would be right may depend on the rest of the file.
std::set<std::string> problems(const DiagnosticSink& sink) {
    std::set<std::string> out;
    for (const Diagnostic& d : sink.kept()) out.insert(std::to_string(d.line) + ": " + d.path + ": " + d.problem);
    return out;
}

TEST(AllMistakes, TheScenarioThatTheyAreMadeInIsRight) {
    EXPECT_EQ(check(text_with({})).to_string(), "");
}

TEST(AllMistakes, EachIsToldAloneAtItsPlace) {
    for (const Mistake& m : kMistakes) {
        const std::vector<Diagnostic> found = check(text_with({&m})).sorted();
        ASSERT_EQ(found.size(), m.told.size()) << m.text << "\n" << check(text_with({&m})).to_string();
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_TRUE((found[i].path + ": " + found[i].problem).starts_with(m.told[i])) << to_string(found[i]);
            EXPECT_EQ(static_cast<std::size_t>(found[i].line), m.line + 1) << to_string(found[i]);
            EXPECT_GT(found[i].column, 0) << to_string(found[i]);
        }
    }
}

TEST(AllMistakes, NoneHidesAnotherAndNoneMakesOneUp) {
    std::size_t pairs = 0;
    for (const Mistake& a : kMistakes) {
        for (const Mistake& b : kMistakes) {
            if (a.line >= b.line) continue;
            std::set<std::string> expected;
            if ((a.needs & b.hides) == 0) expected.merge(problems(check(text_with({&a}))));
            if ((b.needs & a.hides) == 0) expected.merge(problems(check(text_with({&b}))));
            std::set<std::string> allowed = problems(check(text_with({&a})));
            allowed.merge(problems(check(text_with({&b}))));
            const std::set<std::string> found = problems(check(text_with({&a, &b})));
            EXPECT_TRUE(std::ranges::includes(found, expected)) << a.text << "\n"
                                                                << b.text << "\nhides; found:\n"
                                                                << check(text_with({&a, &b})).to_string();
            EXPECT_TRUE(std::ranges::includes(allowed, found)) << a.text << "\n"
                                                               << b.text << "\nmakes up; found:\n"
                                                               << check(text_with({&a, &b})).to_string();
            ++pairs;
        }
    }
    EXPECT_GT(pairs, 400U);
}

TEST(AllMistakes, WhateverIsChangedItIsToldOrPlanned) {
    constexpr std::array<std::string_view, 18> kPieces{
        "[",   "]",  "{",      "}",    ": ",   "\n",  "- ", "h99", "leaf0",
        "&x ", "*x", "kind: ", "1 MB", "5 us", "all", "0",  "-1",  "flow: 3"};
    std::vector<std::string> texts(6, text_with({}));
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(SIMVERBS_SOURCE_ROOT) + "/tests/golden/scenario_errors")) {
        if (entry.path().extension() != ".yaml" || entry.path().filename().string().starts_with("topology_")) continue;
        std::ifstream in(entry.path());
        texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    ASSERT_GT(texts.size(), 30U);
    std::mt19937_64 random(7);
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
    std::size_t planned = 0;
    for (const std::string& right : texts) {
        for (int k = 0; k < 12; ++k) {
            std::string text = right;
            for (std::size_t change = 1 + below(3); change > 0; --change) {
                const std::size_t at = below(text.size() + 1);
                if (below(2) == 0) text.erase(at, below(12));
                if (below(2) == 0) text.insert(std::min(at, text.size()), kPieces.at(below(kPieces.size())));
            }
            planned += check(text).empty() ? 1 : 0;
        }
    }
    EXPECT_GT(planned, 1U);
}

}  // namespace
}  // namespace simverbs::scenarios
