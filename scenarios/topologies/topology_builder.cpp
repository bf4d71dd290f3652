#include "scenarios/topologies/topology_builder.hpp"

#include <fmt/format.h>

#include <utility>

namespace simverbs::scenarios::topologies {

NodeRef TopologyBuilder::add_host(uint32_t pod, uint32_t server, uint32_t rail) {
    const auto index = static_cast<uint32_t>(topology_.hosts.size());
    topology_.hosts.push_back({fmt::format("h{}", index), pod, server, rail, 0});
    host_ports_.push_back(0);
    return {false, index};
}

NodeRef TopologyBuilder::add_switch(std::string_view prefix, SwitchTier tier, uint32_t level, uint32_t pod) {
    auto found = used_names_.find(prefix);
    if (found == used_names_.end()) found = used_names_.emplace(prefix, 0).first;
    const auto index = static_cast<uint32_t>(topology_.switches.size());
    topology_.switches.push_back({fmt::format("{}{}", prefix, found->second++), tier, level, pod, 0});
    switch_ports_.push_back(0);
    return {true, index};
}

uint32_t TopologyBuilder::next_port(NodeRef node) {
    return (node.is_switch ? switch_ports_ : host_ports_)[node.index]++;
}

void TopologyBuilder::connect(NodeRef a, NodeRef b, const LinkParameters& link, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t port_a = next_port(a);
        topology_.links.push_back({{a, port_a}, {b, next_port(b)}, link.rate, link.delay, 0});
    }
}

void ParameterChecks::add(std::string parameter, std::string problem, std::string expected, std::string hint) {
    sink_.add({}, std::move(parameter), std::move(problem), std::move(expected), std::move(hint));
}

void ParameterChecks::check_count(std::string_view parameter, uint64_t value, uint64_t least) {
    if (value < least) {
        add(std::string(parameter), fmt::format("{} is too small", value), fmt::format("at least {}", least));
    } else if (value > kMaxHosts) {
        add(std::string(parameter), fmt::format("{} is too large", value), fmt::format("at most {}", kMaxHosts));
    }
}

void ParameterChecks::check_link(std::string_view parameter, const LinkParameters& link) {
    if (link.rate.in_bps() <= 0) {
        add(fmt::format("{}.rate", parameter), fmt::format("a rate of {} b/s", link.rate.in_bps()), "more than 0");
    }
    if (link.delay < sim::SimTime::zero()) {
        add(fmt::format("{}.delay", parameter), fmt::format("a delay of {} ps", link.delay.in_ps()), "0 or more");
    }
}

void ParameterChecks::check_size(double hosts, double switches, double links) {
    const auto check = [&](std::string_view what, double count, uint64_t most) {
        if (count <= static_cast<double>(most)) return;
        add("", fmt::format("{:g} {} are too many", count, what), fmt::format("at most {}", most));
    };
    check("hosts", hosts, kMaxHosts);
    check("switches", switches, kMaxSwitches);
    check("links", links, kMaxLinks);
}

}  // namespace simverbs::scenarios::topologies
