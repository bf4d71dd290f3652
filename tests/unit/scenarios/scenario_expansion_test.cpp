// Includes, parameters, --set and sweeps.
#include <gtest/gtest.h>

#include <unistd.h>

#include "tests/unit/scenarios/scenario_test_support.hpp"

namespace simverbs::scenarios {
namespace {

using testing::load_one;
using testing::load_text;

/// A folder that disappears with its files.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "simverbs-lang-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) path_ = name;
    }
    ~Folder() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const std::string& name, std::string_view text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
    }
    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

struct FromFile {
    std::optional<std::vector<ScenarioSpec>> runs;
    std::string errors;
};
FromFile load_file(const std::string& path, std::vector<std::string> settings = {}) {
    DiagnosticSink sink;
    FromFile out;
    out.runs = load_scenario(path, testing::scenario_options(std::move(settings)), sink);
    out.errors = sink.to_string();
    return out;
}

TEST(Includes, AFileOverridesWhatItIncludes) {
    const Folder folder;
    folder.write("base/common.yaml",
                 "hosts: 4\nswitch: {buffer: 8 MiB, pfc: {priorities: 4}}\ncc: {algorithm: dcqcn, preset: paper}\n"
                 "topology: {kind: single_switch, switch: tor}\n");
    folder.write("main.yaml", "include: base/common.yaml\nswitch: {pfc: {quanta: 7}}\ncc: {algorithm: hpcc}\n");
    const FromFile loaded = load_file(folder.file("main.yaml"));
    ASSERT_EQ(loaded.errors, "");
    const ScenarioSpec& spec = loaded.runs->front();
    EXPECT_EQ(spec.lab.name, "main");
    EXPECT_EQ(spec.lab.hosts.size(), 4U);
    EXPECT_EQ(spec.lab.switches.at(0).name, "tor");
    EXPECT_EQ(spec.lab.switches.at(0).buffer, 8 << 20);
    EXPECT_EQ(spec.lab.switches.at(0).queueing.pfc.priorities, std::vector<int>{4}) << "maps are merged key by key";
    EXPECT_EQ(spec.lab.switches.at(0).queueing.pfc.quanta, 7);
    EXPECT_EQ(spec.cc.algorithm, "hpcc");
    EXPECT_EQ(spec.cc.preset, "") << "another algorithm replaces the whole map";
}

TEST(Includes, LaterFilesOverrideEarlierOnes) {
    const Folder folder;
    folder.write("a.yaml", "hosts: 3\nseed: 1\n");
    folder.write("b.yaml", "hosts: 5\n");
    folder.write("main.yaml", "include: [a.yaml, b.yaml]\n");
    const FromFile loaded = load_file(folder.file("main.yaml"));
    ASSERT_EQ(loaded.errors, "");
    EXPECT_EQ(loaded.runs->front().lab.hosts.size(), 5U);
    EXPECT_EQ(loaded.runs->front().lab.seed, 1U);
}

TEST(Includes, AMistakeIsPlacedInTheFileThatHasIt) {
    const Folder folder;
    folder.write("base.yaml", "hosts: 2\nlink: {rate: fast}\n");
    folder.write("main.yaml", "include: base.yaml\nseed: x\n");
    EXPECT_EQ(load_file(folder.file("main.yaml")).errors,
              folder.file("base.yaml") +
                  ":2:14: link.rate: 'fast' does not begin with a number; expected a rate such as '100 Gb/s' (units: "
                  "b/s, kb/s, Mb/s, Gb/s, Tb/s) from 1 Mb/s to 10 Tb/s\n" +
                  folder.file("main.yaml") +
                  ":2:7: seed: 'x' is not a whole number; expected a whole number, at least 0\n");
}

TEST(Includes, TwoFilesThatIncludeEachOtherAreAnError) {
    const Folder folder;
    folder.write("a.yaml", "include: b.yaml\n");
    folder.write("b.yaml", "include: a.yaml\n");
    EXPECT_EQ(load_file(folder.file("a.yaml")).errors,
              folder.file("b.yaml") + ":1:10: include: the file 'a.yaml' includes itself\n");
}

TEST(Includes, FilesAreLookedForBesideTheFileThatNamesThem) {
    const Folder folder;
    folder.write("base/flows.yaml", "workloads: [{kind: pairs_file, file: x.pairs}]\n");
    folder.write("base/x.pairs", "0 1 100\n");
    folder.write("main.yaml", "include: base/flows.yaml\n");
    const FromFile loaded = load_file(folder.file("main.yaml"));
    ASSERT_EQ(loaded.errors, "");
    EXPECT_EQ(loaded.runs->front().workloads.at(0).file, folder.file("base/x.pairs"));
}

TEST(Parameters, StandForTheirValuesEverywhere) {
    const ScenarioSpec spec = load_one(
        "parameters: {n: 3, size: 4 KiB, big: \"${size}\", who: [h0, h2]}\n"
        "description: ${n} hosts, $${n}\n"
        "hosts: ${n}\n"
        "workloads: [{kind: permutation, bytes: \"${big}\", hosts: \"${who}\"}]\n");
    EXPECT_EQ(spec.lab.description, "3 hosts, ${n}");
    EXPECT_EQ(spec.lab.hosts.size(), 3U);
    EXPECT_EQ(spec.workloads.at(0).values.size("bytes"), 4096);
    EXPECT_EQ(spec.workloads.at(0).hosts.hosts.at(1).text, "h2");
}

TEST(Parameters, AWrongValueIsReportedWhereItIsUsed) {
    EXPECT_EQ(
        load_text("parameters: {n: many}\nhosts: ${n}\n").errors,
        "s.yaml:2:8: hosts: 'many' is not a whole number; expected a number of hosts, a list of names or hosts, or "
        "a map of hosts\n");
}

TEST(Parameters, ThatGrowWithoutEndAreStopped) {
    std::string text = "parameters:\n  a0: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
    std::string long_text = "parameters:\n  a0: 0123456789\n";
    for (int i = 1; i < 12; ++i) {
        const std::string before = "\"${a" + std::to_string(i - 1) + "}\"";
        text += "  a" + std::to_string(i) + ": [";
        long_text += "  a" + std::to_string(i) + ": \"";
        for (int k = 0; k < 10; ++k) {
            text += (k > 0 ? ", " : "") + before;
            long_text += "${a" + std::to_string(i - 1) + "}";
        }
        text += "]\n";
        long_text += "\"\n";
    }
    EXPECT_NE(load_text(text).errors.find("too many values"), std::string::npos);
    EXPECT_NE(load_text(long_text).errors.find("becomes too long; expected at most 64 KiB"), std::string::npos);
}

TEST(Settings, SetParametersAndKeys) {
    const char* text =
        "parameters: {load: 30 %}\ntopology: hpcc_320\n"
        "workloads: [{kind: poisson, cdf: websearch, load: \"${load}\", until: 1 ms}]\ncc: hpcc\n";
    const ScenarioSpec spec = load_one(text, {"load=50 %", "seed=7", "switch.ecn.kmin=5 KB", "workloads[0].until=2 ms",
                                              "cc.eta=0.8", "topology={kind: leaf_spine, leaves: 2}", "run.threads=2"});
    EXPECT_DOUBLE_EQ(spec.workloads.at(0).values.number("load"), 0.5);
    EXPECT_EQ(spec.lab.seed, 7U);
    EXPECT_EQ(spec.topology.switch_.queueing.ecn.kmin, 5000);
    EXPECT_EQ(spec.workloads.at(0).values.time("until"), sim::SimTime::ms(2));
    EXPECT_EQ(spec.cc.values.number("eta"), 0.8) << "`cc: hpcc` becomes a map";
    EXPECT_EQ(spec.topology.host_count, 8);
    EXPECT_EQ(spec.run.threads, 2);
}

TEST(Settings, WrongOnesAreToldWhereTheyComeFrom) {
    EXPECT_EQ(
        load_text("hosts: 2\n", {"sede=1"}).errors,
        "--set sede=1: 'sede' is neither a parameter nor a key of a scenario; expected a name from `parameters`, or "
        "a path such as 'cc.algorithm'; did you mean 'seed'?\n");
    EXPECT_EQ(load_text("hosts: 2\n", {"seed"}).errors,
              "--set seed: sets nothing; expected KEY=VALUE, such as 'cc.algorithm=hpcc'\n");
    EXPECT_EQ(load_text("hosts: 2\n", {"seed="}).errors, "--set seed=: has no value; expected KEY=VALUE\n");
    EXPECT_EQ(load_text("hosts: 2\n", {"seed=x"}).errors,
              "--set seed=x: seed: 'x' is not a whole number; expected a whole number, at least 0\n");
    EXPECT_EQ(load_text("hosts: 2\n", {"run.untill=1 s"}).errors,
              "--set run.untill=1 s: run: unknown key 'untill'; expected one of until, stop_when, threads, window, "
              "warm_up, measure; did you mean 'until'?\n");
    EXPECT_EQ(load_text("hosts: 2\n", {"hosts='a"}).errors,
              "--set hosts='a: YAML syntax: the file ends inside a quoted text\n");
    EXPECT_EQ(load_text("workloads: []\n", {"workloads[0].load=1"}).errors,
              "--set workloads[0].load=1: workloads: has no entry '0'; expected a list that has it\n");
    EXPECT_EQ(load_text("workloads: []\n", {"workloads.load=1"}).errors,
              "--set workloads.load=1: workloads: is a list and has no key 'load'; expected an entry such as '[0]'\n");
    EXPECT_EQ(load_text("hosts: 2\n", {"run..until=1"}).errors,
              "--set run..until=1: 'run..until' is not a key; expected one such as 'cc.algorithm' or "
              "'workloads[0].load'\n");
}

TEST(Settings, AFileIsRelativeToTheWorkingFolder) {
    const std::string errors = load_text("topology: {kind: hpcc_file}\n", {"topology.file=none/x.txt"}).errors;
    EXPECT_TRUE(errors.starts_with("--set topology.file=none/x.txt: topology.file: there is no file 'none/x.txt'; "))
        << errors;
}

TEST(Sweeps, MakeOneRunForEachCombination) {
    const auto loaded = load_text(
        "parameters: {load: 1 %}\ntopology: hpcc_320\n"
        "sweep: {cc.algorithm: [dcqcn, hpcc], load: [10 %, 20 %, 30 %]}\n"
        "workloads: [{kind: poisson, cdf: websearch, load: \"${load}\", until: 1 ms}]\n");
    ASSERT_EQ(loaded.errors, "");
    ASSERT_EQ(loaded.runs->size(), 6U);
    const ScenarioSpec& fifth = (*loaded.runs)[4];
    EXPECT_EQ(fifth.run_name, "cc.algorithm=hpcc,load=20 %");
    EXPECT_EQ(fifth.cc.algorithm, "hpcc");
    EXPECT_DOUBLE_EQ(fifth.workloads.at(0).values.number("load"), 0.2);
    EXPECT_EQ(fifth.settings.at(1), (std::pair<std::string, std::string>{"load", "20 %"}));
}

TEST(Sweeps, ASettingTakesTheirPlace) {
    const auto loaded = load_text("sweep: {cc.algorithm: [dcqcn, hpcc], seed: [1, 2]}\n", {"cc.algorithm=swift"});
    ASSERT_EQ(loaded.errors, "");
    ASSERT_EQ(loaded.runs->size(), 2U);
    EXPECT_EQ((*loaded.runs)[1].run_name, "seed=2");
    EXPECT_EQ((*loaded.runs)[1].cc.algorithm, "swift");
}

TEST(Sweeps, AMistakeOfAllRunsIsReportedOnce) {
    const auto loaded = load_text("sweep: {seed: [1, 2, 3]}\nhosts: none\n", {"run.until=3"});
    EXPECT_EQ(std::count(loaded.errors.begin(), loaded.errors.end(), '\n'), 2) << loaded.errors;
}

TEST(Sweeps, MapsAndListsAreNamedByTheirNumber) {
    const auto loaded = load_text("sweep: {topology: [{kind: fat_tree, k: 4}, {kind: leaf_spine}]}\n");
    ASSERT_EQ(loaded.errors, "");
    EXPECT_EQ((*loaded.runs)[1].run_name, "topology=[1]");
    EXPECT_EQ((*loaded.runs)[1].topology.kind, "leaf_spine");
}

}  // namespace
}  // namespace simverbs::scenarios
