#include "models/flow/flow_table.hpp"

#include <algorithm>
#include <utility>

#include "sim/check.hpp"

namespace simverbs::flow {

namespace {

/// Where each host's part begins, from how many flows it has.
std::vector<uint32_t> prefix_sums(std::vector<uint32_t> counts) {
    uint32_t sum = 0;
    for (uint32_t& c : counts) sum += std::exchange(c, sum);
    counts.push_back(sum);
    return counts;
}

}  // namespace

FlowTable::FlowTable(FlowPlan plan, uint32_t hosts) : plan_(std::move(plan)), results_(plan_.flows.size()) {
    const auto flows = static_cast<FlowIndex>(plan_.flows.size());
    std::vector<uint32_t> out(hosts, 0), in(hosts, 0);
    for (const FlowSpec& f : plan_.flows) {
        SIM_CHECK(f.src < hosts && f.dst < hosts && f.src != f.dst, f.src, f.dst);
        ++out[f.src];
        ++in[f.dst];
    }
    leaving_at_ = prefix_sums(std::move(out));
    arriving_at_ = prefix_sums(std::move(in));
    leaving_.resize(flows);
    arriving_.resize(flows);
    source_number_.resize(flows);
    destination_number_.resize(flows);
    std::vector<FlowIndex> order(flows);
    for (FlowIndex i = 0; i < flows; ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [this](FlowIndex i) { return plan_.flows[i].start; });
    std::vector<uint32_t> next_out(leaving_at_), next_in(arriving_at_);
    for (const FlowIndex i : order) {
        const FlowSpec& f = plan_.flows[i];
        source_number_[i] = next_out[f.src] - leaving_at_[f.src];
        leaving_[next_out[f.src]++] = i;
        destination_number_[i] = next_in[f.dst] - arriving_at_[f.dst];
        arriving_[next_in[f.dst]++] = i;
    }
    for (const std::string& name : plan_.groups) group_ids_.push_back(sim::component_id(name));
    number_in_group_.resize(flows);
    std::vector<uint32_t> so_far(plan_.groups.size(), 0);
    for (FlowIndex i = 0; i < flows; ++i)
        if (plan_.flows[i].group < so_far.size()) number_in_group_[i] = so_far[plan_.flows[i].group]++;
    if (plan_.dependencies.empty()) return;
    pending_.resize(flows, 0);
    std::vector<uint32_t> counts(flows, 0);
    for (const FlowDependency& d : plan_.dependencies) {
        const FlowSpec& before = plan_.flows[d.before];
        const FlowSpec& after = plan_.flows[d.after];
        SIM_CHECK(after.src == before.dst || after.src == before.src, d.before, d.after);
        ++pending_[d.after];
        ++counts[d.before];
    }
    dependents_at_ = prefix_sums(std::move(counts));
    dependents_.resize(plan_.dependencies.size());
    std::vector<uint32_t> next(dependents_at_);
    for (const FlowDependency& d : plan_.dependencies) dependents_[next[d.before]++] = d.after;
}

size_t FlowTable::memory() const noexcept {
    const auto bytes = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    return bytes(plan_.flows) + bytes(plan_.dependencies) + bytes(results_) + bytes(source_number_) +
           bytes(destination_number_) + bytes(group_ids_) + bytes(number_in_group_) + bytes(leaving_) +
           bytes(arriving_) + bytes(leaving_at_) + bytes(arriving_at_) + bytes(pending_) + bytes(dependents_) +
           bytes(dependents_at_);
}

}  // namespace simverbs::flow
