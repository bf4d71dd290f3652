#include "scenarios/workloads/all_to_all.hpp"

#include <fmt/format.h>

namespace simverbs::scenarios::workloads {

Problems append_all_to_all(flow::FlowPlan& plan, const AllToAllParameters& p) {
    PlanWriter writer(plan, p.common);
    const std::vector<flow::HostIndex> hosts = p.hosts.empty() ? host_range(0, p.common.host_count) : p.hosts;
    const std::size_t n = hosts.size();
    writer.check_hosts("hosts", hosts, 2);
    writer.check_positive("bytes", p.bytes);
    writer.check_not_negative("jitter", p.jitter);
    if (p.at_once < 0) writer.add_problem("at_once", fmt::format("{} is negative", p.at_once), "0 (all) or more");
    const double flows = static_cast<double>(n) * (static_cast<double>(n) - 1);
    writer.check_size("hosts", flows, p.at_once == 0 ? 0 : flows);
    if (writer.has_problems()) return writer.problems();
    writer.begin(n * (n - 1));
    const sim::Draws draws = workload_draws(p.common, "jitter");
    const auto at_once = static_cast<std::size_t>(p.at_once);
    for (std::size_t i = 0; i < n; ++i) {
        const auto range = static_cast<uint64_t>(p.jitter.in_ps());
        const auto later = range == 0 ? 0 : static_cast<int64_t>(draws.below(range, i));
        for (std::size_t k = 0; k + 1 < n; ++k) {
            const flow::FlowIndex flow =
                writer.add(hosts[i], hosts[(i + 1 + k) % n], p.bytes, p.common.start + sim::SimTime::ps(later));
            if (at_once > 0 && k >= at_once) writer.add_dependency(flow - static_cast<flow::FlowIndex>(at_once), flow);
        }
    }
    return {};
}

}  // namespace simverbs::scenarios::workloads
