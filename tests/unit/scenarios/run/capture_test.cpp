// Captures of ports of a fabric of flows.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "scenarios/run/build_fabric.hpp"
#include "tests/unit/models/wire/pcap_file.hpp"
#include "tests/unit/scenarios/run/run_test_support.hpp"

namespace simverbs::scenarios {
namespace {

namespace fs = std::filesystem;

/// Runs the scenario with captures in a folder of its own, and reads them.
class Captures : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / fmt::format("simverbs-captures-{}", ::getpid());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    run::RunResult run(const std::string& text) {
        DiagnosticSink sink;
        const auto runs = parse_scenario(text, "s.yaml", run::scenario_options(), sink);
        EXPECT_EQ(sink.to_string(), "");
        auto built = run::build_scenario(runs->front(), sink);
        EXPECT_EQ(sink.to_string(), "");
        run::Sampling sampling;
        sampling.capture_folder = folder_.string();
        return run::run_scenario(runs->front(), *built, run::describe(runs->front(), *built), sampling);
    }
    [[nodiscard]] std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }
    fs::path folder_;
};

constexpr const char* kTwoFlows = R"(
name: captured
hosts: 3
nic: ideal
link: {{rate: 100 Gb/s, delay: 1 us}}
transport: {{payload: 1024 B}}
workloads:
  - kind: flows
    flows:
      - {{src: h0, dst: h2, bytes: 10 KiB, dscp: 26}}
      - {{src: h1, dst: h2, bytes: 4 KiB}}
outputs: {{pcap: [{}]}}
)";

TEST_F(Captures, AHostsPortHasEveryPacketOnceAndInOrder) {
    const run::RunResult result = run(fmt::format(kTwoFlows, "h0"));
    EXPECT_EQ(files(), std::vector<std::string>{"h0.pcap"});
    const auto file = PcapFile((folder_ / "h0.pcap").string());
    const run::PortCounts& counts = result.ports[result.hosts[0].port].end;
    ASSERT_EQ(file.records.size(), counts.tx_packets + counts.rx_packets);
    EXPECT_EQ(counts.tx_packets, 10U);
    int64_t last = 0;
    EXPECT_TRUE(file.ok);
    for (const PcapFile::Record& record : file.records) {
        const std::vector<uint8_t>& frame = record.frame;
        const int64_t time = int64_t{record.seconds} * 1'000'000'000 + record.fraction;
        EXPECT_GE(time, last);
        last = time;
        constexpr size_t kTos = 14 + 1, kUdpPort = 14 + 20 + 2;
        EXPECT_EQ(frame[kTos] >> 2, 26) << "acknowledgements have their data's DSCP";
        constexpr size_t kDestQp = 14 + 20 + 8 + 5;
        EXPECT_EQ(frame[kDestQp] << 16 | frame[kDestQp + 1] << 8 | frame[kDestQp + 2], 0x100);
        EXPECT_EQ(frame[kUdpPort] << 8 | frame[kUdpPort + 1], 4791);
    }
}

TEST_F(Captures, ATaggedFrameHasTheFlowsDscpBesideThePcpThatItsNicGives) {
    std::string text = fmt::format(kTwoFlows, "h0, h2");
    text.replace(text.find("nic: ideal"), 10, "nic: {profile: ideal, vlan: 7, dscp_map: {26: 5}}");
    (void)run(text);
    size_t of_26 = 0;
    for (const char* name : {"h0.pcap", "h2.pcap"}) {
        for (const PcapFile::Record& record : PcapFile((folder_ / name).string()).records) {
            EXPECT_EQ(record.frame[12] << 8 | record.frame[13], 0x8100);
            const int dscp = record.frame[14 + 4 + 1] >> 2;
            EXPECT_TRUE(dscp == 26 || dscp == 24) << dscp;
            EXPECT_EQ(record.frame[14] << 8 | record.frame[15], (dscp == 26 ? 5 : 3) << 13 | 7);
            of_26 += dscp == 26 ? 1 : 0;
        }
    }
    EXPECT_GE(of_26, 2U * (10 + 1));
}

TEST_F(Captures, ASwitchsNameMeansAllItsPorts) {
    (void)run(fmt::format(kTwoFlows, "sw0, h1"));
    EXPECT_EQ(files(), (std::vector<std::string>{"h1.pcap", "sw0-1.pcap", "sw0-2.pcap", "sw0-3.pcap"}));
    const auto host = PcapFile((folder_ / "h1.pcap").string());
    const auto port = PcapFile((folder_ / "sw0-2.pcap").string());
    EXPECT_EQ(host.records.size(), port.records.size());
}

TEST_F(Captures, PlacesThatDoNotExistAreNamed) {
    DiagnosticSink sink;
    const auto runs = parse_scenario(
        "name: s\ntopology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
        "workloads: [{kind: all_to_all, bytes: 1 KB}]\noutputs: {pcap: leaf7/1}\n",
        "s.yaml", run::scenario_options(), sink);
    ASSERT_TRUE(runs.has_value()) << sink.to_string();
    EXPECT_FALSE(run::build_scenario(runs->front(), sink).has_value());
    EXPECT_EQ(
        sink.to_string(),
        "s.yaml:4:17: outputs.pcap: there is no host, switch or port 'leaf7/1'; expected one of the fabric's, such "
        "as 'h0'; did you mean 'leaf0'?\n");
}

}  // namespace
}  // namespace simverbs::scenarios
