#include "scenarios/workloads/permutation.hpp"

#include <numeric>
#include <utility>

#include "sim/check.hpp"

namespace simverbs::scenarios::workloads {

std::vector<uint32_t> random_derangement(uint32_t n, const sim::Draws& draws) {
    SIM_CHECK(n > 1, n);
    std::vector<uint32_t> image(n);
    uint64_t ordinal = 0;
    // A shuffle (Fisher, Yates) is a derangement with a probability of about 1/e, so that e tries do on average;
    // throwing the others away keeps derangements equally likely.
    while (true) {
        std::iota(image.begin(), image.end(), 0U);
        bool is_derangement = true;
        for (uint32_t i = n - 1; i > 0; --i) {
            std::swap(image[i], image[draws.below(uint64_t{i} + 1, ordinal++)]);
            is_derangement = is_derangement && image[i] != i;
        }
        if (is_derangement && image[0] != 0) return image;
    }
}

Problems append_permutation(flow::FlowPlan& plan, const PermutationParameters& p) {
    PlanWriter writer(plan, p.common);
    const std::vector<flow::HostIndex> hosts = p.hosts.empty() ? host_range(0, p.common.host_count) : p.hosts;
    writer.check_hosts("hosts", hosts, 2);
    writer.check_positive("bytes", p.bytes);
    writer.check_not_negative("jitter", p.jitter);
    writer.check_size("hosts", static_cast<double>(hosts.size()));
    if (writer.has_problems()) return writer.problems();
    writer.begin(hosts.size());
    const auto to = random_derangement(static_cast<uint32_t>(hosts.size()), workload_draws(p.common, "derangement"));
    const sim::Draws jitter = workload_draws(p.common, "jitter");
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto range = static_cast<uint64_t>(p.jitter.in_ps());
        const auto later = range == 0 ? 0 : static_cast<int64_t>(jitter.below(range, i));
        writer.add(hosts[i], hosts[to[i]], p.bytes, p.common.start + sim::SimTime::ps(later));
    }
    return {};
}

}  // namespace simverbs::scenarios::workloads
