#include "scenarios/import/hpcc_config.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/scenarios/import/expect_problems.hpp"
#include "tests/unit/scenarios/import/import_samples.hpp"

namespace simverbs::scenarios::imports {
namespace {

TEST(HpccConfig, ValuesGoToTheirMembersAndTheRestHasTheArtifactsDefaults) {
    DiagnosticSink sink;
    const auto config = read_hpcc_config(kHpccConfig, "config.txt", sink);
    ASSERT_TRUE(config) << sink.to_string();
    EXPECT_TRUE(config->enable_qcn);
    EXPECT_FALSE(config->use_dynamic_pfc_threshold);
    EXPECT_EQ(config->topology_file, "mix/topology.txt");
    EXPECT_EQ(config->simulator_stop_time_s, 4);
    EXPECT_EQ(config->cc_mode, 3);
    EXPECT_EQ(config->rate_ai, sim::BitRate::mbps(50));
    EXPECT_EQ(config->ewma_gain, 1.0 / 256);
    EXPECT_EQ(config->link_down.node_b, 5);
    ASSERT_EQ(config->kmax_map.size(), 2U);
    EXPECT_EQ(config->kmax_map[1].rate, sim::BitRate::gbps(100));
    EXPECT_EQ(config->kmax_map[1].value, 1600);
    EXPECT_EQ(config->buffer_size_mib, 32);
    EXPECT_EQ(config->packet_payload_size, 1000);
    EXPECT_EQ(config->given_keys.size(), 11U);
    EXPECT_EQ(config->given_keys[2], "TOPOLOGY_FILE");
}

TEST(HpccConfig, KeysAreUnique) {
    std::set<std::string_view> names;
    for (const HpccKey& key : hpcc_keys()) {
        EXPECT_TRUE(names.insert(key.name).second) << key.name;
        EXPECT_FALSE(key.meaning.empty());
    }
}

TEST(HpccConfig, UnknownKeysAndWrongValuesAreReportedAllAtOnce) {
    DiagnosticSink sink;
    EXPECT_FALSE(
        read_hpcc_config("CC_MODES 3\nENABLE_QCN 2\nRATE_AI fast\nRP_TIMER\nKMAX_MAP 2 1 2\nKMIN_MAP\n"
                         "U_TARGET -1\nLINK_DOWN 0 0\nCC_MODE 3\nCC_MODE 1\n",
                         "c", sink));
    expect_problems(
        sink, {"c:1:1: unknown key 'CC_MODES'; expected a key of config.txt; did you mean 'CC_MODE'?",
               "c:2:12: '2' is no 0 or 1", "c:3:9: 'fast' is no rate", "c:4:1: 0 value(s)", "c:5:1: 3 value(s)",
               "c:6:1: no values", "c:7:10: '-1' is no number", "c:8:1: 2 value(s)", "c:10:1: CC_MODE is given twice"});
}

}  // namespace
}  // namespace simverbs::scenarios::imports
