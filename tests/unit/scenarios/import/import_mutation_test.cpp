// Readers of foreign files never crash, and what they accept is right.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "scenarios/import/connection_matrix.hpp"
#include "scenarios/import/hpcc_config.hpp"
#include "scenarios/import/hpcc_flows.hpp"
#include "scenarios/import/hpcc_topology.hpp"
#include "scenarios/import/ib_netlist.hpp"
#include "scenarios/workloads/plan_check.hpp"
#include "sim/rng.hpp"
#include "tests/unit/scenarios/import/import_samples.hpp"

namespace simverbs::scenarios::imports {
namespace {

constexpr uint64_t kMutants = 4000;

/// Reads a mutant: true if it was accepted (and then it is right).
using ReadMutant = std::function<bool(std::string_view text, DiagnosticSink& sink)>;

/// One to four changes: a byte, a deletion, a repetition, a foreign word, the end cut off.
std::string mutant_of(std::string_view text, uint64_t number) {
    const sim::Draws draws(number, sim::component_id("mutant"), sim::DrawPurpose::Other);
    uint64_t ordinal = 0;
    const auto below = [&](uint64_t n) { return n == 0 ? 0 : draws.below(n, ordinal++); };
    constexpr std::string_view kWords[] = {
        "4294967296", "-1", "0", "99999999999999999999999", "nan", "\"", "->", "[1]", " ", "\n", "#", "1e308"};
    std::string out(text);
    const uint64_t changes = 1 + below(4);
    for (uint64_t i = 0; i < changes; ++i) {
        const std::size_t at = below(out.size());
        const std::size_t length = 1 + below(12);
        switch (below(6)) {
            case 0:
                out[at] = static_cast<char>(below(256));
                break;
            case 1:
                out[at] = static_cast<char>('0' + below(10));
                break;
            case 2:
                out.erase(at, length);
                break;
            case 3:
                out.insert(at, out.substr(at, length * 4));
                break;
            case 4:
                out.insert(at, kWords[below(std::size(kWords))]);
                break;
            default:
                if (below(4) == 0) out.resize(at);
        }
        if (out.empty()) return out;
    }
    return out;
}

void expect_survives(std::string_view sample, const ReadMutant& read) {
    DiagnosticSink right;
    EXPECT_TRUE(read(sample, right)) << right.to_string();
    uint64_t accepted = 0;
    for (uint64_t i = 0; i < kMutants; ++i) {
        const std::string text = mutant_of(sample, i);
        DiagnosticSink sink;
        const bool is_accepted = read(text, sink);
        ASSERT_EQ(is_accepted, sink.empty()) << "mutant " << i << "\n" << text << "\n" << sink.to_string();
        accepted += is_accepted ? 1 : 0;
        for (const Diagnostic& problem : sink.sorted()) ASSERT_FALSE(problem.problem.empty());
    }
    // A mutant that changes a number or a note is often right: the test has to see both.
    EXPECT_GT(accepted, kMutants / 100);
    EXPECT_LT(accepted, kMutants * 9 / 10);
}

bool is_valid(const topologies::Topology& topology) {
    DiagnosticSink sink;
    const bool is_right = topologies::validate(topology, sink);
    EXPECT_TRUE(is_right) << sink.to_string();
    return is_right;
}

TEST(ImportMutation, HpccTopology) {
    expect_survives(kHpccTopology, [](std::string_view text, DiagnosticSink& sink) {
        const auto read = read_hpcc_topology(text, "t", sink);
        return read && is_valid(read->topology);
    });
}

TEST(ImportMutation, HpccFlowsAndTrace) {
    DiagnosticSink none;
    const auto topology = read_hpcc_topology(kHpccTopology, "t", none);
    ASSERT_TRUE(topology);
    expect_survives(kHpccFlows, [&](std::string_view text, DiagnosticSink& sink) {
        const auto flows = read_hpcc_flows(text, "f", *topology, sink);
        if (!flows) return false;
        workloads::FlowListParameters list;
        list.common.name = "f";
        list.common.host_count = 4;
        list.flows = flows->flows;
        flow::FlowPlan plan;
        // A file without flows is right; a list without flows is not.
        EXPECT_EQ(append_flow_list(plan, list).empty(), !flows->flows.empty());
        return true;
    });
    expect_survives(kHpccTrace, [&](std::string_view text, DiagnosticSink& sink) {
        return read_hpcc_trace(text, "t", *topology, sink).has_value();
    });
}

TEST(ImportMutation, Cdf) {
    expect_survives(kCdf, [](std::string_view text, DiagnosticSink& sink) {
        const auto points = read_cdf(text, "c", sink);
        return points && workloads::SizeDistribution(*points).mean_bytes() > 0;
    });
}

TEST(ImportMutation, HpccConfig) {
    expect_survives(kHpccConfig, [](std::string_view text, DiagnosticSink& sink) {
        return read_hpcc_config(text, "c", sink).has_value();
    });
}

TEST(ImportMutation, ConnectionMatrix) {
    expect_survives(kConnectionMatrix, [](std::string_view text, DiagnosticSink& sink) {
        const auto matrix = read_connection_matrix(text, "c", "cm", sink);
        if (!matrix) return false;
        DiagnosticSink plan;
        EXPECT_TRUE(workloads::check_plan(matrix->plan, matrix->nodes, plan)) << plan.to_string();
        return true;
    });
}

TEST(ImportMutation, IbNetlist) {
    expect_survives(kIbNetlist, [](std::string_view text, DiagnosticSink& sink) {
        const auto topology = read_ib_netlist(text, "n", {}, sink);
        return topology && is_valid(*topology);
    });
}

}  // namespace
}  // namespace simverbs::scenarios::imports
