#include "scenarios/expect/result_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "scenarios/expect/value_text.hpp"
#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::scenarios::expect {

namespace {

constexpr std::string_view kBetweenEnds = " - ";

Selection everything(std::size_t count) {
    Selection out;
    out.numbers.resize(count);
    std::iota(out.numbers.begin(), out.numbers.end(), 0U);
    return out;
}

template <typename Records>
void number_names(std::unordered_map<std::string_view, uint32_t>& numbers, const Records& records) {
    numbers.reserve(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) numbers.emplace(records[i].name, static_cast<uint32_t>(i));
}

bool contains_number(const Selection& selection, uint32_t number) {
    return std::find(selection.numbers.begin(), selection.numbers.end(), number) != selection.numbers.end();
}

}  // namespace

ResultIndex::ResultIndex(const run::RunResult& result) : result_(result) {
    number_names(groups_, result.groups);
    number_names(hosts_, result.hosts);
    number_names(switches_, result.switches);
    number_names(ports_, result.ports);
    number_names(pcie_links_, result.pcie_links);
    for (std::size_t i = 0; i < result.port_samples.size(); ++i) port_samples_.emplace(result.port_samples[i].port, i);
    for (std::size_t i = 0; i < result.flow_samples.size(); ++i) flow_samples_.emplace(result.flow_samples[i].flow, i);
    for (std::size_t i = 0; i < result.switch_samples.size(); ++i) {
        switch_samples_.emplace(result.switch_samples[i].node, i);
    }
}

std::vector<std::string_view> ResultIndex::names_of(SelectorKind kind) const {
    std::vector<std::string_view> out;
    const auto add = [&](const auto& records) {
        for (const auto& record : records) out.push_back(record.name);
    };
    switch (kind) {
        case SelectorKind::Run:
            break;
        case SelectorKind::Group:
        case SelectorKind::Flow:
            add(result_.groups);
            break;
        case SelectorKind::Host:
            add(result_.hosts);
            break;
        case SelectorKind::Switch:
            add(result_.switches);
            break;
        case SelectorKind::Slot:
            add(result_.pcie_links);
            break;
        case SelectorKind::Link:
        case SelectorKind::Port:
        case SelectorKind::Queue:
            add(result_.hosts);
            add(result_.switches);
            add(result_.ports);
            break;
    }
    return out;
}

Selection ResultIndex::unknown(SelectorKind kind, std::string_view name) const {
    const std::string_view noun = kind == SelectorKind::Group   ? "workload"
                                  : kind == SelectorKind::Queue ? "port"
                                                                : selector_name(kind);
    std::string problem = fmt::format("there is no {} {}", noun, in_quotes(name));
    const std::string hint = did_you_mean(name, names_of(kind));
    if (!hint.empty()) problem += "; " + hint;
    return {{}, std::move(problem)};
}

Selection ResultIndex::one_flow(const Selector& selector) const {
    const auto number = static_cast<uint64_t>(selector.index.value_or(0));
    if (selector.name.empty()) {
        if (number < result_.flows.size()) return {{static_cast<uint32_t>(number)}, {}};
        return {{}, fmt::format("there is no flow {}: the run has {}", number, result_.flows.size())};
    }
    const auto group = groups_.find(selector.name);
    if (group == groups_.end()) return unknown(SelectorKind::Group, selector.name);
    uint32_t count = 0;
    for (std::size_t i = 0; i < result_.flows.size(); ++i) {
        const run::FlowRecord& flow = result_.flows[i];
        if (flow.group != group->second) continue;
        if (flow.number == number) return {{static_cast<uint32_t>(i)}, {}};
        ++count;
    }
    return {{}, fmt::format("there is no flow {} in '{}', which has {}", number, selector.name, count)};
}

Selection ResultIndex::flows(const Selector& selector) const {
    if (selector.kind == SelectorKind::Flow) {
        Selection out = one_flow(selector);
        if (!out.numbers.empty() && !result_.flows[out.numbers[0]].is_measured) {
            return {{}, selector_text(selector) + " does not start in the time that is measured"};
        }
        return out;
    }
    uint32_t group = run::kNone;
    uint32_t host = run::kNone;
    if (selector.kind == SelectorKind::Group) {
        const auto found = groups_.find(selector.name);
        if (found == groups_.end()) return unknown(SelectorKind::Group, selector.name);
        group = found->second;
    }
    if (selector.kind == SelectorKind::Host) {
        const auto found = hosts_.find(selector.name);
        if (found == hosts_.end()) return unknown(SelectorKind::Host, selector.name);
        host = found->second;
    }
    Selection out;
    for (std::size_t i = 0; i < result_.flows.size(); ++i) {
        const run::FlowRecord& flow = result_.flows[i];
        if (!flow.is_measured || (group != run::kNone && flow.group != group)) continue;
        if (host != run::kNone && flow.src != host && flow.dst != host) continue;
        out.numbers.push_back(static_cast<uint32_t>(i));
    }
    return out;
}

Selection ResultIndex::ports_of(uint32_t node, bool is_switch) const {
    if (is_switch) return {result_.switches[node].ports, {}};
    Selection out;
    for (std::size_t i = 0; i < result_.ports.size(); ++i) {
        const run::PortRecord& port = result_.ports[i];
        if (!port.is_switch && port.node == node) out.numbers.push_back(static_cast<uint32_t>(i));
    }
    return out;
}

Selection ResultIndex::place(std::string_view name) const {
    if (const auto host = hosts_.find(name); host != hosts_.end()) return ports_of(host->second, false);
    if (const auto node = switches_.find(name); node != switches_.end()) return ports_of(node->second, true);
    if (const auto port = ports_.find(name); port != ports_.end()) return {{port->second}, {}};
    return unknown(SelectorKind::Port, name);
}

Selection ResultIndex::ports(const Selector& selector) const {
    switch (selector.kind) {
        case SelectorKind::Run:
            return everything(result_.ports.size());
        case SelectorKind::Link: {
            const Selection found = links(selector);
            Selection out{{}, found.problem};
            for (const uint32_t link : found.numbers) {
                out.numbers.push_back(result_.links[link].a);
                out.numbers.push_back(result_.links[link].b);
            }
            return out;
        }
        case SelectorKind::Host:
            if (!hosts_.contains(selector.name)) return unknown(SelectorKind::Host, selector.name);
            return place(selector.name);
        case SelectorKind::Switch:
            if (!switches_.contains(selector.name)) return unknown(SelectorKind::Switch, selector.name);
            return place(selector.name);
        case SelectorKind::Group:
        case SelectorKind::Flow:
        case SelectorKind::Port:
        case SelectorKind::Queue:
        case SelectorKind::Slot:
            break;
    }
    return place(selector.name);
}

Selection ResultIndex::links(const Selector& selector) const {
    const std::string_view name = selector.name;
    const std::size_t between = name.find(kBetweenEnds);
    const Selection first = place(name.substr(0, between));
    if (!first.problem.empty()) return first;
    Selection second;
    if (between != std::string_view::npos) second = place(name.substr(between + kBetweenEnds.size()));
    if (!second.problem.empty()) return second;
    Selection out;
    for (std::size_t i = 0; i < result_.links.size(); ++i) {
        const run::LinkRecord& link = result_.links[i];
        const auto joins = [&](uint32_t here, uint32_t there) {
            return contains_number(first, here) &&
                   (between == std::string_view::npos || contains_number(second, there));
        };
        if (joins(link.a, link.b) || joins(link.b, link.a)) out.numbers.push_back(static_cast<uint32_t>(i));
    }
    if (out.numbers.empty()) out.problem = fmt::format("there is no link {}", in_quotes(name));
    return out;
}

Selection ResultIndex::pcie_links(const Selector& selector) const {
    if (result_.pcie_links.empty()) return {{}, "no host with programs has a platform"};
    if (selector.kind == SelectorKind::Run) return everything(result_.pcie_links.size());
    if (selector.kind == SelectorKind::Slot) {
        const auto found = pcie_links_.find(selector.name);
        if (found == pcie_links_.end()) return unknown(SelectorKind::Slot, selector.name);
        return {{found->second}, {}};
    }
    Selection out;
    for (uint32_t i = 0; i < result_.pcie_links.size(); ++i)
        if (result_.insides[result_.pcie_links[i].inside].host == selector.name) out.numbers.push_back(i);
    if (out.numbers.empty())
        out.problem = fmt::format("no host {} has programs and a platform", in_quotes(selector.name));
    return out;
}

Selection ResultIndex::switches(const Selector& selector) const {
    if (selector.kind == SelectorKind::Run) return everything(result_.switches.size());
    const auto found = switches_.find(selector.name);
    if (found == switches_.end()) return unknown(SelectorKind::Switch, selector.name);
    return {{found->second}, {}};
}

Selection ResultIndex::groups(const Selector& selector) const {
    if (selector.kind == SelectorKind::Run) return everything(result_.groups.size());
    const auto found = groups_.find(selector.name);
    if (found == groups_.end()) return unknown(SelectorKind::Group, selector.name);
    return {{found->second}, {}};
}

const run::PortSamples* ResultIndex::port_samples(uint32_t port) const {
    const auto found = port_samples_.find(port);
    return found == port_samples_.end() ? nullptr : &result_.port_samples[found->second];
}

const run::SwitchSamples* ResultIndex::switch_samples(uint32_t node) const {
    const auto found = switch_samples_.find(node);
    return found == switch_samples_.end() ? nullptr : &result_.switch_samples[found->second];
}

const run::FlowSamples* ResultIndex::flow_samples(uint32_t flow) const {
    const auto found = flow_samples_.find(flow);
    return found == flow_samples_.end() ? nullptr : &result_.flow_samples[found->second];
}

std::optional<std::size_t> ResultIndex::sample_at(sim::SimTime time) const {
    const auto& times = result_.sample_times;
    const auto found = std::lower_bound(times.begin(), times.end(), time);
    if (found == times.end() || *found != time) return std::nullopt;
    return static_cast<std::size_t>(found - times.begin());
}

std::string ResultIndex::flow_text(uint32_t flow) const {
    const run::FlowRecord& record = result_.flows[flow];
    return fmt::format("flow {}[{}], {} → {}, {}", result_.groups[record.group].name, record.number,
                       result_.hosts[record.src].name, result_.hosts[record.dst].name,
                       value_text(MetricUnit::Size, static_cast<double>(record.bytes)));
}

}  // namespace simverbs::scenarios::expect
