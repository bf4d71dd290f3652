#include "scenarios/output/flow_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/output/csv.hpp"

namespace simverbs::scenarios::output {

namespace {

constexpr std::string_view kFlowsHeader =
    "flow,group,number,src,dst,priority,bytes,planned_ps,started_ps,received_ps,acknowledged_ps,status,fct_ps,ideal_ps,"
    "slowdown,delivered_bytes,retransmissions,timeouts,naks,cnps,measured\n";

// As the HPCC artifact's flow generator and simulation script have them.
constexpr uint32_t kFirstSourcePort = 10'000;
constexpr uint32_t kFlowPort = 100;
constexpr uint32_t kIncastPort = 200;
constexpr int64_t kPsPerNs = 1'000;

/// Node i of the artifact is 11.(i / 256).(i % 256).1; hosts come first in its topologies.
uint32_t artifact_address(uint32_t host) {
    constexpr uint32_t kFirst = 0x0b000001;
    return kFirst + (host << 8U);
}

std::string delivered_text(const run::FlowRecord& flow) {
    if (flow.received != sim::SimTime::max()) return fmt::format("{}", flow.bytes);
    return flow.delivered ? fmt::format("{}", *flow.delivered) : "";
}

}  // namespace

const char* status_text(flow::FlowStatus status) noexcept {
    switch (status) {
        case flow::FlowStatus::Pending:
            return "pending";
        case flow::FlowStatus::Success:
            return "success";
        case flow::FlowStatus::RetryExceeded:
            return "retry_exceeded";
    }
    return "";
}

std::string flows_csv(const run::RunResult& result) {
    std::string out(kFlowsHeader);
    auto to = std::back_inserter(out);
    for (std::size_t i = 0; i < result.flows.size(); ++i) {
        const run::FlowRecord& flow = result.flows[i];
        fmt::format_to(to, "{},{},{},{},{},{},{},{},{},{},{},{},", i, csv_field(result.groups[flow.group].name),
                       flow.number, csv_field(result.hosts[flow.src].name), csv_field(result.hosts[flow.dst].name),
                       flow.priority, flow.bytes, csv_time(flow.planned), csv_time(flow.started),
                       csv_time(flow.received), csv_time(flow.acknowledged), status_text(flow.status));
        if (flow.status == flow::FlowStatus::Success) {
            const int64_t fct = (flow.acknowledged - flow.started).in_ps();
            const int64_t ideal = flow.ideal.in_ps();
            fmt::format_to(to, "{},{},", fct, ideal);
            if (ideal > 0) fmt::format_to(to, "{}", static_cast<double>(fct) / static_cast<double>(ideal));
        } else {
            fmt::format_to(to, ",{},", flow.ideal.in_ps());
        }
        fmt::format_to(to, ",{},{},{},{},{},{}\n", delivered_text(flow), flow.retransmitted, flow.timeouts, flow.naks,
                       flow.cnps, flow.is_measured ? 1 : 0);
    }
    return out;
}

std::string hpcc_fct(const run::RunResult& result) {
    std::vector<uint32_t> source_port;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> next_port;
    std::vector<uint32_t> completed;
    for (std::size_t i = 0; i < result.flows.size(); ++i) {
        const run::FlowRecord& flow = result.flows[i];
        source_port.push_back(kFirstSourcePort + next_port[{flow.src, flow.dst}]++);
        if (flow.status == flow::FlowStatus::Success) completed.push_back(static_cast<uint32_t>(i));
    }
    std::stable_sort(completed.begin(), completed.end(), [&](uint32_t a, uint32_t b) {
        return result.flows[a].acknowledged < result.flows[b].acknowledged;
    });
    std::string out;
    for (const uint32_t number : completed) {
        const run::FlowRecord& flow = result.flows[number];
        const bool is_incast = result.groups[flow.group].kind == "incast";
        fmt::format_to(std::back_inserter(out), "{:08x} {:08x} {} {} {} {} {} {}\n", artifact_address(flow.src),
                       artifact_address(flow.dst), source_port[number], is_incast ? kIncastPort : kFlowPort, flow.bytes,
                       flow.started.in_ps() / kPsPerNs, (flow.acknowledged - flow.started).in_ps() / kPsPerNs,
                       // Scripts divide by it.
                       std::max<int64_t>(flow.ideal.in_ps() / kPsPerNs, 1));
    }
    return out;
}

}  // namespace simverbs::scenarios::output
