#include "scenarios/workloads/poisson_flows.hpp"

#include <fmt/format.h>

#include <cmath>

namespace simverbs::scenarios::workloads {

namespace {

constexpr double kPsPerSecond = 1e12;
constexpr uint64_t kDrawsPerFlow = 3;  // gap, destination, size
constexpr double kMaxLoad = 100;       // of an overload experiment; more is a percentage given as a share

void check_poisson(PlanWriter& writer, const PoissonParameters& p, const std::vector<flow::HostIndex>& hosts) {
    writer.check_hosts("hosts", hosts, 2);
    for (const CdfProblem& problem : check_cdf(p.sizes)) {
        writer.add_problem(fmt::format("sizes[{}]", problem.point), problem.problem, problem.expected);
    }
    if (!(p.load > 0 && p.load < kMaxLoad)) {
        writer.add_problem("load", fmt::format("a load of {:g} makes no sense", p.load),
                           "a share of the link's rate, such as 0.5");
    }
    writer.check_positive("link_rate", p.link_rate.in_bps());
    if (p.until <= p.common.start) {
        writer.add_problem("until", "it ends before it starts",
                           fmt::format("a time after the start, {} ps", p.common.start.in_ps()));
    }
    if (writer.has_problems()) return;
    const double seconds = (p.until - p.common.start).in_s();
    writer.check_size("until", poisson_rate(p) * seconds * static_cast<double>(hosts.size()));
}

void add_host_flows(PlanWriter& writer, const PoissonParameters& p, const std::vector<flow::HostIndex>& hosts,
                    std::size_t source, const SizeDistribution& sizes) {
    const sim::Draws draws = workload_draws(p.common, fmt::format("h{}", hosts[source]));
    const double mean_gap_ps = kPsPerSecond / poisson_rate(p);
    const double length_ps = static_cast<double>((p.until - p.common.start).in_ps());
    double time_ps = 0;
    for (uint64_t ordinal = 0;; ordinal += kDrawsPerFlow) {
        time_ps += -std::log1p(-draws.unit(ordinal)) * mean_gap_ps;
        if (!(time_ps < length_ps)) return;
        std::size_t to = draws.below(hosts.size() - 1, ordinal + 1);
        if (to >= source) ++to;
        writer.add(hosts[source], hosts[to], sizes.size_at(draws.unit(ordinal + 2)),
                   p.common.start + sim::SimTime::ps(static_cast<int64_t>(time_ps)));
    }
}

}  // namespace

double poisson_rate(const PoissonParameters& p) {
    return p.load * static_cast<double>(p.link_rate.in_bps()) / 8 / SizeDistribution(p.sizes).mean_bytes();
}

Problems append_poisson(flow::FlowPlan& plan, const PoissonParameters& p) {
    PlanWriter writer(plan, p.common);
    const std::vector<flow::HostIndex> hosts = p.hosts.empty() ? host_range(0, p.common.host_count) : p.hosts;
    check_poisson(writer, p, hosts);
    if (writer.has_problems()) return writer.problems();
    const SizeDistribution sizes(p.sizes);
    const double seconds = (p.until - p.common.start).in_s();
    writer.begin(static_cast<std::size_t>(poisson_rate(p) * seconds * static_cast<double>(hosts.size())));
    for (std::size_t i = 0; i < hosts.size(); ++i) add_host_flows(writer, p, hosts, i, sizes);
    return {};
}

}  // namespace simverbs::scenarios::workloads
