// Packet-hops a second of whole fabrics (one data or ACK packet over one link): RC flows on 100 Gb/s links of 1 us,
// 4096 bytes of payload, an ACK a packet, per-flow ECMP, PFC, every check on. Set-up is not timed.
//
//   fabric_bench [--threads N] [--cc NAME] [--seconds S] [NAME…]      inc2 inc16 perm128 perm1024 k32
#include <fmt/format.h>
#include <time.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "models/cc/register_algorithms.hpp"
#include "scenarios/run/flow_fabric.hpp"
#include "scenarios/topologies/clos_topologies.hpp"
#include "scenarios/topologies/small_topologies.hpp"
#include "scenarios/workloads/flow_list.hpp"
#include "scenarios/workloads/permutation.hpp"

namespace {

using namespace simverbs;
namespace topologies = scenarios::topologies;
namespace workloads = scenarios::workloads;

struct Workload {
    const char* name;
    uint32_t k;  ///< of the fat tree; 0: 18 hosts on one switch
    bool pairs;  ///< from NAME.pairs; else a random permutation
    int64_t bytes;
};
constexpr Workload kWorkloads[] = {
    {"inc2", 0, true, 0},      {"inc16", 0, true, 0},         {"perm128", 8, true, 0},
    {"perm1024", 16, true, 0}, {"k32", 32, false, 256 << 10},
};

double cpu_seconds(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

topologies::Topology topology_of(const Workload& w) {
    topologies::Topology t;
    const topologies::LinkParameters link{sim::BitRate::gbps(100), sim::SimTime::us(1)};
    if (w.k != 0)
        (void)topologies::make_k_ary_fat_tree(t, {w.k, link});
    else
        (void)topologies::make_single_switch(t, {18, link});
    return t;
}

flow::FlowPlan plan_of(const Workload& w, uint32_t hosts) {
    flow::FlowPlan plan;
    workloads::WorkloadCommon common{w.name, hosts, 1, {}, 3};
    if (!w.pairs) {
        (void)workloads::append_permutation(plan, {common, {}, w.bytes, {}});
        return plan;
    }
    const std::string path = std::string(SIMVERBS_BENCH_DIR "/") + w.name + ".pairs";
    std::ifstream in(path);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    scenarios::DiagnosticSink sink;
    (void)workloads::append_flow_list(plan, {common, workloads::read_pairs(text, path, sink)});
    if (plan.flows.empty()) {
        fmt::print(stderr, "{}: no flows\n", path);
        std::exit(1);
    }
    return plan;
}

struct Options {
    unsigned threads = 1;
    std::string cc = "none";
    double seconds = 1;
};

void run(const Workload& w, const Options& options) {
    const topologies::Topology topology = topology_of(w);
    const auto* const info = cc::find_algorithm(options.cc);
    if (info == nullptr) {
        fmt::print(stderr, "no algorithm {}\n", options.cc);
        std::exit(1);
    }
    const auto algorithm = cc::make(*info, {});
    uint64_t hops = 0;
    double seconds = 0, wall = 0;
    size_t memory = 0;
    while (seconds < options.seconds) {
        scenarios::run::FlowFabricConfig c;
        c.engine.threads = options.threads;
        c.cc = algorithm.get();
        c.switches.buffer.total = 32 << 20;
        c.switches.buffer.lossless = 1 << 3;
        c.switches.ecn = {1 << 3, {400'000, 1'600'000, 0.2}, false};
        scenarios::run::FlowFabric fabric(topology, plan_of(w, static_cast<uint32_t>(topology.hosts.size())), c);
        const double before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID), began = cpu_seconds(CLOCK_MONOTONIC);
        const auto end = fabric.engine().run();
        seconds += cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        wall += cpu_seconds(CLOCK_MONOTONIC) - began;
        if (end.end != sim::RunEnd::Idle || fabric.ended() != fabric.flows().size()) {
            fmt::print(stderr, "{}: {} of {} flows ended\n{}", w.name, fabric.ended(), fabric.flows().size(), end.dump);
            std::exit(1);
        }
        fabric.check_conservation();
        hops += fabric.hops();
        memory = fabric.memory();
    }
    const double over = options.threads == 1 ? seconds : wall;
    fmt::print("{:<10} {:>12} hops {:>8.2f} s {:>8.2f} M hops/s {:>8.1f} KB a host\n", w.name, hops, over,
               static_cast<double>(hops) / over / 1e6,
               static_cast<double>(memory) / static_cast<double>(topology.hosts.size()) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    std::vector<std::string_view> names;
    for (int i = 1; i < argc; ++i) {
        const std::string_view a = argv[i];
        if (a == "--threads" && i + 1 < argc)
            options.threads = static_cast<unsigned>(std::atoi(argv[++i]));
        else if (a == "--cc" && i + 1 < argc)
            options.cc = argv[++i];
        else if (a == "--seconds" && i + 1 < argc)
            options.seconds = std::atof(argv[++i]);
        else
            names.push_back(a);
    }
    for (const Workload& w : kWorkloads)
        if (names.empty() || std::find(names.begin(), names.end(), w.name) != names.end()) run(w, options);
    return 0;
}
