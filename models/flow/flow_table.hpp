// All flows of a simulation: what they are, what has become of them, what waits for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "sim/rng.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::flow {

/// How a flow ended.
enum class FlowStatus : uint8_t {
    Pending,        ///< not yet
    Success,        ///< everything was acknowledged
    RetryExceeded,  ///< the requester gave up (IBV_WC_RETRY_EXC_ERR)
};

/// What has become of a flow. `received` is written by the destination's node, all else by the source's.
struct FlowResult {
    sim::SimTime started = sim::SimTime::max();       ///< when its source could begin
    sim::SimTime received = sim::SimTime::max();      ///< last byte at the destination
    sim::SimTime acknowledged = sim::SimTime::max();  ///< last ACK at the source
    uint32_t retransmitted = 0;                       ///< packets sent again
    uint32_t naks = 0;                                ///< that the source received
    uint32_t cnps = 0;
    uint16_t timeouts = 0;
    FlowStatus status = FlowStatus::Pending;
};

/// Shared by the NICs of all hosts. A flow's source and destination touch different fields, so nodes may run in
/// different threads.
class FlowTable {
  public:
    /// `plan`'s indices must be sound: hosts in range, dependencies as FlowDependency says.
    FlowTable(FlowPlan plan, uint32_t hosts);

    [[nodiscard]] const FlowPlan& plan() const noexcept { return plan_; }
    [[nodiscard]] const FlowSpec& spec(FlowIndex flow) const noexcept { return plan_.flows[flow]; }
    [[nodiscard]] FlowResult& result(FlowIndex flow) noexcept { return results_[flow]; }
    [[nodiscard]] const FlowResult& result(FlowIndex flow) const noexcept { return results_[flow]; }
    [[nodiscard]] size_t size() const noexcept { return plan_.flows.size(); }

    /// Number of the flow among those of its source (the requester's QP number), and of its destination (the
    /// responder's).
    [[nodiscard]] uint32_t source_number(FlowIndex flow) const noexcept { return source_number_[flow]; }
    [[nodiscard]] uint32_t destination_number(FlowIndex flow) const noexcept { return destination_number_[flow]; }
    /// Flows that leave `host`, by start time, then number; those that wait for others count from when they may start.
    [[nodiscard]] std::span<const FlowIndex> leaving(HostIndex host) const noexcept {
        return part(leaving_, leaving_at_, host);
    }
    [[nodiscard]] std::span<const FlowIndex> arriving(HostIndex host) const noexcept {
        return part(arriving_, arriving_at_, host);
    }
    /// What keys the flow's hashes: its group's name and its number there, so that other workloads change nothing.
    [[nodiscard]] uint64_t identity(FlowIndex flow) const noexcept {
        const uint32_t group = plan_.flows[flow].group;
        return group < group_ids_.size() ? sim::mix64(group_ids_[group] ^ number_in_group_[flow]) : flow;
    }
    /// Does the flow wait for others still?
    [[nodiscard]] bool waits(FlowIndex flow) const noexcept { return !pending_.empty() && pending_[flow] != 0; }

    /// `flow` has arrived at `host`, or (its source) has been acknowledged there. Calls `may_start(flow)` for each flow
    /// of that host which waited for nothing else.
    template <class F>
    void release_dependents(FlowIndex flow, HostIndex host, F&& may_start) {
        if (pending_.empty()) return;
        for (uint32_t i = dependents_at_[flow]; i != dependents_at_[flow + 1]; ++i) {
            const FlowIndex after = dependents_[i];
            if (plan_.flows[after].src == host && --pending_[after] == 0) may_start(after);
        }
    }

    /// Bytes that the table takes.
    [[nodiscard]] size_t memory() const noexcept;

  private:
    [[nodiscard]] static std::span<const FlowIndex> part(const std::vector<FlowIndex>& all,
                                                         const std::vector<uint32_t>& at, HostIndex host) noexcept {
        return std::span(all).subspan(at[host], at[host + 1] - at[host]);
    }
    FlowPlan plan_;
    std::vector<FlowResult> results_;
    std::vector<uint32_t> source_number_, destination_number_;
    std::vector<uint64_t> group_ids_;
    std::vector<uint32_t> number_in_group_;
    std::vector<FlowIndex> leaving_, arriving_;
    std::vector<uint32_t> leaving_at_, arriving_at_;  ///< by host: where its part begins
    std::vector<uint32_t> pending_;                   ///< by flow: how many it waits for; empty if none does
    std::vector<FlowIndex> dependents_;
    std::vector<uint32_t> dependents_at_;
};

}  // namespace simverbs::flow
