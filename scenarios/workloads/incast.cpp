#include "scenarios/workloads/incast.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace simverbs::scenarios::workloads {

namespace {

void check_incast(PlanWriter& writer, const IncastParameters& p) {
    writer.check_hosts("senders", p.senders, 1);
    writer.check_host("target", p.target);
    if (std::find(p.senders.begin(), p.senders.end(), p.target) != p.senders.end()) {
        writer.add_problem("target", fmt::format("host {} is also a sender", p.target), "a host that does not send");
    }
    writer.check_positive("bytes", p.bytes);
    writer.check_not_negative("jitter", p.jitter);
    writer.check_positive("bursts", p.bursts);
    writer.check_not_negative("period", p.period);
    if (p.bursts > 1 && p.period == sim::SimTime::zero()) {
        writer.add_problem("period", "several bursts at the same time", "the time from burst to burst");
    }
    writer.check_size("senders", static_cast<double>(p.senders.size()) * static_cast<double>(p.bursts));
}

}  // namespace

Problems append_incast(flow::FlowPlan& plan, const IncastParameters& p) {
    PlanWriter writer(plan, p.common);
    check_incast(writer, p);
    if (writer.has_problems()) return writer.problems();
    writer.begin(p.senders.size() * static_cast<std::size_t>(p.bursts));
    const sim::Draws draws = workload_draws(p.common, "jitter");
    uint64_t ordinal = 0;
    for (int64_t burst = 0; burst < p.bursts; ++burst) {
        for (const flow::HostIndex sender : p.senders) {
            const auto jitter_ps = static_cast<uint64_t>(p.jitter.in_ps());
            const auto later = jitter_ps == 0 ? 0 : static_cast<int64_t>(draws.below(jitter_ps, ordinal));
            ++ordinal;
            writer.add(sender, p.target, p.bytes, p.common.start + p.period * burst + sim::SimTime::ps(later));
        }
    }
    return {};
}

}  // namespace simverbs::scenarios::workloads
