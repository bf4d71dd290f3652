#include "scenarios/output/result_json.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "scenarios/expect/result_index.hpp"
#include "scenarios/output/group_summary.hpp"

namespace simverbs::scenarios::output {

std::string_view ending_text(run::RunEnding ending) {
    switch (ending) {
        case run::RunEnding::Done:
            return "done";
        case run::RunEnding::Until:
            return "until";
        case run::RunEnding::Stuck:
            return "stuck";
        case run::RunEnding::Interrupted:
            return "interrupted";
    }
    return "";
}

std::string_view unit_text(MetricUnit unit) {
    switch (unit) {
        case MetricUnit::Count:
            return "count";
        case MetricUnit::Number:
            return "number";
        case MetricUnit::Ratio:
            return "ratio";
        case MetricUnit::Time:
            return "ps";
        case MetricUnit::Size:
            return "bytes";
        case MetricUnit::Rate:
            return "bit/s";
    }
    return "";
}

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json distribution_json(const expect::Distribution& d) {
    if (d.count == 0) return nullptr;
    return {{"count", d.count}, {"mean", d.mean}, {"min", d.min}, {"p50", d.p50},
            {"p95", d.p95},     {"p99", d.p99},   {"max", d.max}};
}

void add_flow_counts(const GroupSummary& summary, Json& out) {
    out["flows"] = summary.flows;
    out["measured"] = summary.measured;
    out["completed"] = summary.completed;
    out["unfinished"] = summary.unfinished;
    out["errors"] = summary.errors;
    out["delivered_bytes"] = summary.delivered;
    out["retransmissions"] = summary.retransmissions;
    out["timeouts"] = summary.timeouts;
    out["naks"] = summary.naks;
    out["cnps"] = summary.cnps;
}

void add_counts(const run::PortCounts& counts, Json& out) {
    out["tx_packets"] = counts.tx_packets;
    out["tx_bytes"] = counts.tx_bytes;
    out["rx_packets"] = counts.rx_packets;
    out["rx_bytes"] = counts.rx_bytes;
    out["drops"] = counts.drops;
    out["lossless_drops"] = counts.lossless_drops;
    out["watchdog_drops"] = counts.watchdog_drops;
    out["other_drops"] = counts.other_drops;
    out["corrupted"] = counts.corrupted;
    out["trims"] = counts.trims;
    out["ecn_marks"] = counts.marks;
    out["pfc_pauses_sent"] = counts.pauses_sent;
    out["pfc_pauses_received"] = counts.pauses_received;
    out["pause_storms"] = counts.pause_storms;
    out["paused_ps"] = counts.paused_time.in_ps();
}

Json totals_json(const expect::ResultIndex& index) {
    const run::RunResult& result = index.result();
    const Totals totals = totals_of(index);
    Json out{{"hosts", result.hosts.size()}, {"switches", result.switches.size()}, {"links", result.links.size()}};
    add_flow_counts(totals.flows, out);
    out["throughput_bps"] = or_null(totals.throughput);
    add_counts(totals.ports, out);
    out["max_queue_bytes"] = totals.max_queue;
    out["max_queue_at"] = totals.max_queue_at;
    out["max_buffer_bytes"] = totals.max_buffer;
    out["max_buffer_at"] = totals.max_buffer_at;
    return out;
}

Json group_json(const expect::ResultIndex& index, uint32_t number) {
    const run::GroupRecord& group = index.result().groups[number];
    const GroupSummary summary = summary_of_group(index, number);
    Json out{{"name", group.name}, {"kind", group.kind}};
    if (!group.size_distribution.empty()) out["size_distribution"] = group.size_distribution;
    add_flow_counts(summary, out);
    out["fct_ps"] = distribution_json(summary.fct);
    out["slowdown"] = distribution_json(summary.slowdown);
    out["goodput_bps"] = distribution_json(summary.goodput);
    out["fairness"] = or_null(summary.fairness);
    if (group.ranks > 0) {
        out["ranks"] = group.ranks;
        out["rank_bytes"] = group.rank_bytes;
        out["iterations"] = group.iterations;
        out["bus_bandwidth_bps"] = distribution_json(summary.bus_bandwidth);
    }
    out["by_size"] = Json::array();
    for (const SizeBin& bin : summary.by_size) {
        out["by_size"].push_back({{"above_bytes", bin.above},
                                  {"up_to_bytes", bin.up_to},
                                  {"fct_ps", distribution_json(bin.fct)},
                                  {"slowdown", distribution_json(bin.slowdown)}});
    }
    return out;
}

Json ports_json(const run::RunResult& result) {
    Json out = Json::array();
    for (const run::PortRecord& port : result.ports) {
        Json entry{{"name", port.name},
                   {"node", port.is_switch ? result.switches[port.node].name : result.hosts[port.node].name},
                   {"link", port.link == run::kNone ? Json(nullptr) : Json(result.links[port.link].name)},
                   {"rate_bps", port.rate.in_bps()}};
        add_counts(port.end, entry);
        entry["max_queue_bytes"] = port.max_queue;
        out.push_back(std::move(entry));
    }
    return out;
}

std::string_view kind_text(run::InsideKind kind) {
    switch (kind) {
        case run::InsideKind::NumaNode:
            return "NUMA node";
        case run::InsideKind::HostBridge:
            return "host bridge";
        case run::InsideKind::Switch:
            return "PCIe switch";
        case run::InsideKind::Adapter:
            return "adapter";
        case run::InsideKind::Gpu:
            return "GPU";
    }
    return "";
}

double share_of_run(const run::RunResult& result, const run::InsidePart& part) {
    if (result.simulated_time <= sim::SimTime::zero()) return 0;
    return static_cast<double>(part.busy.in_ps()) / static_cast<double>(result.simulated_time.in_ps());
}

Json inside_json(const run::RunResult& result, const run::HostInsideRecord& inside) {
    Json devices = Json::array();
    for (const run::InsideDevice& device : inside.devices) {
        const bool has_parent = device.parent != run::InsideDevice::kNone;
        devices.push_back({{"name", device.name},
                           {"kind", kind_text(device.kind)},
                           {"what", device.what},
                           {"parent", has_parent ? Json(inside.devices[device.parent].name) : Json(nullptr)},
                           {"link", device.link.empty() ? Json(nullptr) : Json(device.link)}});
    }
    Json parts = Json::array();
    for (const run::InsidePart& part : inside.parts) {
        if (part.tlps == 0 && part.bytes == 0 && part.busy == sim::SimTime::zero()) continue;
        parts.push_back({{"name", part.name},
                         {"kind", part.kind},
                         {"rate_bps", part.rate.in_bps()},
                         {"bytes", part.bytes},
                         {"wire_bytes", part.wire_bytes},
                         {"tlps", part.tlps},
                         {"utilisation", share_of_run(result, part)}});
    }
    return {{"host", inside.host}, {"platform", inside.platform}, {"devices", devices}, {"parts", parts}};
}

Json switches_json(const run::RunResult& result) {
    Json out = Json::array();
    for (const run::SwitchRecord& node : result.switches) {
        out.push_back({{"name", node.name},
                       {"buffer_bytes", node.buffer},
                       {"max_buffer_bytes", node.max_buffer},
                       {"headroom_bytes", node.headroom},
                       {"max_headroom_bytes", node.max_headroom}});
    }
    return out;
}

Json expectation_json(const expect::ExpectationVerdict& verdict) {
    Json out{{"name", verdict.name},
             {"statement", verdict.text},
             {"outcome", expect::to_string(verdict.outcome)},
             {"measured", or_null(verdict.measured)},
             {"wanted", or_null(verdict.wanted_value)},
             {"unit", unit_text(verdict.unit)},
             {"wanted_text", verdict.wanted},
             {"sentence", verdict.sentence},
             {"implicit", verdict.is_implicit}};
    if (!verdict.path.empty()) out["path"] = verdict.path;
    return out;
}

void add_run(const run::RunResult& result, Json& out) {
    out["format"] = kResultFormat;
    out["version"] = kResultVersion;
    out["scenario"] = result.scenario;
    out["description"] = result.description;
    out["run"] = result.run_name;
    out["settings"] = Json::object();
    for (const auto& [key, value] : result.settings) out["settings"][key] = value;
    out["seed"] = result.seed;
    out["algorithm"] = result.algorithm;
    out["link_layer"] = result.is_infiniband ? "InfiniBand" : "Ethernet";
    out["ending"] = ending_text(result.ending);
    out["stuck_dump"] = result.stuck_dump;
    out["deadlocks"] = result.deadlocks;
    out["simulated_time_ps"] = result.simulated_time.in_ps();
    out["measure_from_ps"] = result.measure_from.in_ps();
    out["measure_until_ps"] = result.measure_until ? Json(result.measure_until->in_ps()) : Json(nullptr);
    out["packet_hops"] = result.packet_hops;
    out["memory_bytes"] = result.memory_bytes;
}

/// The top level spread out, long lists with an entry a line: easy to read and to compare, and a third of the size that
/// it has when everything is spread out.
std::string written(const Json& result) {
    const auto compact = [](const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); };
    std::string out = "{";
    bool is_first = true;
    for (const auto& [key, value] : result.items()) {
        out += is_first ? "\n " : ",\n ";
        is_first = false;
        out += compact(key) + ": ";
        if (!value.is_array() || value.empty()) {
            out += compact(value);
            continue;
        }
        for (std::size_t i = 0; i < value.size(); ++i) out += (i == 0 ? "[\n  " : ",\n  ") + compact(value[i]);
        out += "\n ]";
    }
    return out + "\n}\n";
}

}  // namespace

std::string result_json(const run::RunResult& result, const std::vector<expect::ExpectationVerdict>& verdicts) {
    const expect::ResultIndex index(result);
    Json out;
    add_run(result, out);
    out["passed"] = expect::all_passed(verdicts);
    out["expectations"] = Json::array();
    for (const expect::ExpectationVerdict& verdict : verdicts) out["expectations"].push_back(expectation_json(verdict));
    out["programs"] = Json::array();
    for (const run::ProgramRecord& program : result.programs) {
        out["programs"].push_back({{"name", program.name},
                                   {"host", program.host},
                                   {"command", program.command},
                                   {"started_ps", program.was_started ? Json(program.started.in_ps()) : Json(nullptr)},
                                   {"exit_code", or_null(program.exit_code)},
                                   {"problem", program.problem}});
    }
    out["faults"] = Json::array();
    for (const run::FaultRecord& fault : result.faults) {
        const bool has_fired = fault.fired > 0;
        out["faults"].push_back({{"name", fault.name},
                                 {"fired", fault.fired},
                                 {"must_fire", fault.must_fire},
                                 {"first_ps", has_fired ? Json(fault.first.in_ps()) : Json(nullptr)},
                                 {"last_ps", has_fired ? Json(fault.last.in_ps()) : Json(nullptr)},
                                 {"silence", has_fired ? std::string() : fault.silence}});
    }
    out["warnings"] = warnings_of(index);
    out["totals"] = totals_json(index);
    out["groups"] = Json::array();
    for (uint32_t i = 0; i < result.groups.size(); ++i) out["groups"].push_back(group_json(index, i));
    out["switches"] = switches_json(result);
    out["ports"] = ports_json(result);
    out["insides"] = Json::array();
    for (const run::HostInsideRecord& inside : result.insides) out["insides"].push_back(inside_json(result, inside));
    out["wall_seconds"] = result.wall_seconds;
    out["wall_setup_seconds"] = result.wall_setup_seconds;
    return written(out);
}

}  // namespace simverbs::scenarios::output
