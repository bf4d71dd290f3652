// Packet-hops a second of whole fabrics (one data or ACK packet over one link): RC flows on 100 Gb/s links of 1 us,
// 4096 bytes of payload, an ACK a packet, per-flow ECMP, PFC, every check on. Set-up is not timed.
//
//   fabric_bench [--threads N] [--cc NAME] [--seconds S] [NAME…]      inc2 inc16 perm128 perm1024 k32
//   fabric_bench --pairs N [--threads 2] [NAME…]      how much faster several threads are: N pairs of runs, in turns
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
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
    int pairs = 0;
};

/// What runs of one workload took together.
struct Sums {
    uint64_t hops = 0;
    double cpu = 0, wall = 0;
    size_t memory = 0;   ///< that the last one has needed at the most
    size_t waiting = 0;  ///< of that, packets that waited in switches
};

/// Builds a fabric, and runs it once.
void run_once(const Workload& w, const topologies::Topology& topology, const cc::CongestionControl& algorithm,
              unsigned threads, Sums& sums) {
    scenarios::run::FlowFabricConfig c;
    c.engine.threads = threads;
    c.cc = &algorithm;
    c.switches.buffer.total = 32 << 20;
    c.switches.buffer.lossless = 1 << 3;
    c.switches.ecn = {1 << 3, {400'000, 1'600'000, 0.2}, false};
    scenarios::run::FlowFabric fabric(topology, plan_of(w, static_cast<uint32_t>(topology.hosts.size())), c);
    const double before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID), began = cpu_seconds(CLOCK_MONOTONIC);
    const auto end = fabric.engine().run();
    sums.cpu += cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
    sums.wall += cpu_seconds(CLOCK_MONOTONIC) - began;
    if (end.end != sim::RunEnd::Idle || fabric.ended() != fabric.flows().size()) {
        fmt::print(stderr, "{}: {} of {} flows ended\n{}", w.name, fabric.ended(), fabric.flows().size(), end.dump);
        std::exit(1);
    }
    fabric.check_conservation();
    sums.hops += fabric.hops();
    sums.memory = fabric.memory();
    sums.waiting = fabric.engine().fifo_memory();
}

std::unique_ptr<cc::CongestionControl> algorithm_of(const Options& options) {
    const auto* const info = cc::find_algorithm(options.cc);
    if (info == nullptr) {
        fmt::print(stderr, "no algorithm {}\n", options.cc);
        std::exit(1);
    }
    return cc::make(*info, {});
}

void run(const Workload& w, const Options& options) {
    const topologies::Topology topology = topology_of(w);
    const auto algorithm = algorithm_of(options);
    Sums sums;
    while (sums.cpu < options.seconds) run_once(w, topology, *algorithm, options.threads, sums);
    const double over = options.threads == 1 ? sums.cpu : sums.wall;
    const auto kb_a_host = [&](size_t bytes) {
        return static_cast<double>(bytes) / static_cast<double>(topology.hosts.size()) / 1024;
    };
    fmt::print("{:<10} {:>12} hops {:>8.2f} s {:>8.2f} M hops/s {:>8.1f} KB a host {:>8.1f} of them packets waiting\n",
               w.name, sums.hops, over, static_cast<double>(sums.hops) / over / 1e6, kb_a_host(sums.memory),
               kb_a_host(sums.waiting));
}

/// Time of one thread over that of several, on the wall. The two sides of a pair run right after each other, now one
/// first, now the other: what else the machine does takes from both.
void compare(const Workload& w, const Options& options) {
    const topologies::Topology topology = topology_of(w);
    const auto algorithm = algorithm_of(options);
    const unsigned threads = std::max(options.threads, 2U);
    const auto seconds = [&](unsigned n) {
        Sums sums;
        while (sums.cpu < options.seconds / 2) run_once(w, topology, *algorithm, n, sums);
        return sums.wall / static_cast<double>(sums.hops);
    };
    std::vector<double> ratios;
    for (int i = 0; i < options.pairs; ++i) {
        const bool alone_first = i % 2 == 0;
        const double first = seconds(alone_first ? 1 : threads), second = seconds(alone_first ? threads : 1);
        ratios.push_back(alone_first ? first / second : second / first);
    }
    std::ranges::sort(ratios);
    fmt::print("{:<10} {} threads: x {:.2f} (median of {} pairs; {:.2f} to {:.2f})\n", w.name, threads,
               ratios[ratios.size() / 2], ratios.size(), ratios.front(), ratios.back());
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
        else if (a == "--pairs" && i + 1 < argc)
            options.pairs = std::atoi(argv[++i]);
        else
            names.push_back(a);
    }
    for (const Workload& w : kWorkloads) {
        const bool wanted = names.empty() ? options.pairs == 0 || w.k >= 16
                                          : std::find(names.begin(), names.end(), w.name) != names.end();
        if (wanted) options.pairs == 0 ? run(w, options) : compare(w, options);
        std::fflush(stdout);
    }
    return 0;
}
