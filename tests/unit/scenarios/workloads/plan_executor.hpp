// Executes a plan's dependencies without a network, in an order drawn by chance, and checks the contract of each.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "sim/rng.hpp"

namespace simverbs::scenarios::workloads {

/// What happens to a flow, in this order.
enum class FlowEvent { Start, Arrive, Acknowledge };

/// Each dependency names flows that exist and obeys FlowDependency: what the host of `after` waits for happens there.
inline void expect_contract(const flow::FlowPlan& plan) {
    std::size_t broken = 0;
    for (const auto& [before, after] : plan.dependencies) {
        if (before >= plan.flows.size() || after >= plan.flows.size() || before == after) {
            ++broken;
            continue;
        }
        const flow::FlowSpec& earlier = plan.flows[before];
        const flow::FlowSpec& later = plan.flows[after];
        if (later.src != earlier.dst && later.src != earlier.src) ++broken;
    }
    EXPECT_EQ(broken, 0U);
    for (const flow::FlowSpec& flow : plan.flows) {
        ASSERT_NE(flow.src, flow.dst);
        ASSERT_GT(flow.bytes, 0);
        ASSERT_LT(flow.group, plan.groups.size());
    }
}

/// Calls `on_event(flow, event)` for every event of every flow: at each moment any of those that may happen does. A
/// flow that waits for an arrival at its host starts after Arrive, one that waits for an acknowledgement after that.
/// False if flows remain that can never start.
template <class OnEvent>
bool execute_plan(const flow::FlowPlan& plan, uint64_t seed, OnEvent on_event) {
    std::vector<std::vector<flow::FlowIndex>> on_arrival(plan.flows.size());
    std::vector<std::vector<flow::FlowIndex>> on_ack(plan.flows.size());
    std::vector<uint32_t> awaited(plan.flows.size());
    for (const auto& [before, after] : plan.dependencies) {
        const bool is_arrival = plan.flows[after].src == plan.flows[before].dst;
        (is_arrival ? on_arrival : on_ack)[before].push_back(after);
        ++awaited[after];
    }
    struct Ready {
        flow::FlowIndex flow;
        FlowEvent event;
    };
    std::vector<Ready> ready;
    for (flow::FlowIndex i = 0; i < plan.flows.size(); ++i) {
        if (awaited[i] == 0) ready.push_back({i, FlowEvent::Start});
    }
    std::size_t done = 0;
    for (uint64_t ordinal = 0; !ready.empty(); ++ordinal) {
        const auto pick = sim::draw_u64(seed, 0, sim::DrawPurpose::Other, ordinal) % ready.size();
        const Ready now = ready[pick];
        ready[pick] = ready.back();
        ready.pop_back();
        on_event(now.flow, now.event);
        const auto release = [&](const std::vector<flow::FlowIndex>& flows) {
            for (const flow::FlowIndex flow : flows) {
                if (--awaited[flow] == 0) ready.push_back({flow, FlowEvent::Start});
            }
        };
        if (now.event == FlowEvent::Start) ready.push_back({now.flow, FlowEvent::Arrive});
        if (now.event == FlowEvent::Arrive) {
            release(on_arrival[now.flow]);
            ready.push_back({now.flow, FlowEvent::Acknowledge});
        }
        if (now.event == FlowEvent::Acknowledge) {
            release(on_ack[now.flow]);
            ++done;
        }
    }
    return done == plan.flows.size();
}

inline bool is_executable(const flow::FlowPlan& plan) {
    return execute_plan(plan, 1, [](flow::FlowIndex, FlowEvent) {});
}

}  // namespace simverbs::scenarios::workloads
