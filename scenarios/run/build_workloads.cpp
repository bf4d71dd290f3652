#include "scenarios/run/build_workloads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/import/hpcc_flows.hpp"
#include "scenarios/import/hpcc_topology.hpp"
#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/workloads/all_to_all.hpp"
#include "scenarios/workloads/collective.hpp"
#include "scenarios/workloads/flow_list.hpp"
#include "scenarios/workloads/incast.hpp"
#include "scenarios/workloads/perftest_flows.hpp"
#include "scenarios/workloads/permutation.hpp"
#include "scenarios/workloads/poisson_flows.hpp"
#include "scenarios/workloads/size_distribution.hpp"

namespace simverbs::scenarios::run {

namespace {

using workloads::Problems;

/// perftest's defaults where neither messages nor a time are given.
constexpr int64_t kBandwidthIterations = 5000;
constexpr int64_t kLatencyIterations = 1000;

class WorkloadMaker {
  public:
    WorkloadMaker(const ScenarioSpec& spec, const BuiltTopology& topology,
                  const std::vector<AdapterPort>& adapter_ports, const WorkloadSpec& workload, Services& services,
                  BuiltWorkloads& built, DiagnosticSink& sink)
        : topology_(topology),
          adapter_ports_(adapter_ports),
          w_(workload),
          v_(workload.values),
          services_(services),
          built_(built),
          sink_(sink) {
        common_ = {w_.name, static_cast<uint32_t>(topology.topology.hosts.size()), spec.lab.seed, w_.start,
                   service(w_.priority, w_.dscp, w_.position, w_.path)};
        group_.name = w_.name;
        group_.kind = w_.kind;
    }

    void make() {
        const size_t first_flow = built_.plan.flows.size();
        const size_t before = sink_.reports();
        check_names();
        const bool can_append = w_.is_complete && sink_.reports() == before;
        if (can_append) {
            append();
            refuse_adapters(first_flow);
        }
        // Its name counts, whatever became of its flows.
        if (built_.plan.groups.size() == built_.groups.size()) built_.plan.groups.push_back(w_.name);
        built_.groups.push_back(group_);
        built_.is_left_out.push_back(!can_append || sink_.reports() != before);
    }

  private:
    void append() {
        const auto collective = workloads::collective_kind(w_.kind == "all_gather"              ? "ring_all_gather"
                                                           : w_.kind == "reduce_scatter"        ? "ring_reduce_scatter"
                                                           : w_.kind == "collective_all_to_all" ? "all_to_all"
                                                                                                : w_.kind);
        if (w_.kind == "all_to_all")
            all_to_all();
        else if (collective)
            this->collective(*collective);
        else if (w_.kind == "flows")
            flows();
        else if (w_.kind == "perftest")
            perftest();
        else if (w_.kind == "incast")
            incast();
        else if (w_.kind == "permutation")
            report(workloads::append_permutation(built_.plan, {common_, hosts(w_.hosts), v_.size("bytes"), jitter()}));
        else if (w_.kind == "pairs_file")
            pairs_file();
        else if (w_.kind == "poisson")
            poisson();
        else if (w_.kind == "hpcc_flow_file")
            hpcc_flow_file();
        else
            sink_.add(w_.position, w_.path, fmt::format("workloads of kind '{}' cannot be run", w_.kind),
                      "one that 'simverbs explain-schema' lists");
    }

    /// Every host that it names.
    void check_names() {
        const auto check = [&](const std::optional<PlaceRef>& place) {
            if (place && !place->text.empty()) check_host(*place);
        };
        check(w_.src);
        check(w_.dst);
        check(w_.receiver);
        for (const HostSet* set : {&w_.hosts, &w_.senders})
            for (const PlaceRef& place : set->hosts) check(place);
        for (const FlowEntry& f : w_.flows) {
            check(f.src);
            check(f.dst);
        }
    }
    void check_host(const PlaceRef& place) {
        const auto found = topology_.find_host(place.text);
        if (!found) {
            report_unknown_place(topology_, place, "host", sink_);
        } else if (!may_have_flows(*found)) {
            refuse_adapter(*found, place.position, place.path);
        }
    }
    /// Once for each host of programs.
    void refuse_adapter(flow::HostIndex host, const SourcePosition& position, const std::string& path) {
        if (std::ranges::find(refused_, host) != refused_.end()) return;
        refused_.push_back(host);
        sink_.add(position, path,
                  fmt::format("'{}' runs programs and cannot have flows too", topology_.topology.hosts[host].name),
                  "another host for the flows, or for the programs",
                  "where a workload says 'all', hosts of programs are left out");
    }

    void refuse_adapters(size_t first_flow) {
        for (size_t i = first_flow; i < built_.plan.flows.size(); ++i) {
            for (const flow::HostIndex host : {built_.plan.flows[i].src, built_.plan.flows[i].dst}) {
                if (!may_have_flows(host)) refuse_adapter(host, w_.position, w_.path);
            }
        }
    }

    void report(const Problems& problems) {
        for (const Diagnostic& d : problems) {
            const CheckedValue* value = v_.find(d.path);
            sink_.add(value != nullptr ? value->position : w_.position,
                      d.path.empty() ? w_.path : w_.path + "." + d.path, d.problem, d.expected, d.hint);
        }
    }
    [[nodiscard]] sim::SimTime jitter() const { return v_.has("jitter") ? v_.time("jitter") : sim::SimTime(); }

    uint8_t service(int priority, const std::optional<int>& dscp, const SourcePosition& position,
                    const std::string& path) {
        if (!dscp) return static_cast<uint8_t>(priority);
        if (const auto number = services_.number_of_dscp(*dscp)) return *number;
        sink_.add(position, path + ".dscp", fmt::format("DSCP {} is one too many", *dscp),
                  "at most 8 DSCPs in a scenario that are not 0, 8, 16, … 56");
        return 0;
    }
    [[nodiscard]] flow::HostIndex host(const PlaceRef& place) const {
        return topology_.find_host(place.text).value_or(0);
    }
    /// Empty: all.
    std::vector<flow::HostIndex> hosts(const HostSet& set) {
        std::vector<flow::HostIndex> out;
        for (const PlaceRef& place : set.hosts) out.push_back(host(place));
        if (!out.empty()) return out;
        // Without programs, an empty list says all: no need for a long one.
        const bool is_all = set.count == 0;
        if (is_all && adapter_ports_.empty()) return out;
        for (flow::HostIndex i = 0; i < common_.host_count; ++i)
            if (may_have_flows(i) && (is_all || static_cast<int64_t>(out.size()) < set.count)) out.push_back(i);
        return out;
    }
    [[nodiscard]] bool may_have_flows(flow::HostIndex host) const {
        return adapter_ports_.empty() || adapter_ports_[host].port == 0;
    }

    void flows() {
        workloads::FlowListParameters p{common_, {}};
        for (const FlowEntry& f : w_.flows) {
            workloads::ListedFlow flow{host(f.src), host(f.dst), f.bytes, f.start, {}};
            if (f.priority || f.dscp) flow.priority = service(f.priority.value_or(0), f.dscp, f.position, f.path);
            p.flows.push_back(flow);
        }
        report(workloads::append_flow_list(built_.plan, p));
    }
    void perftest() {
        workloads::PerftestParameters p;
        p.common = common_;
        const bool latency = v_.text("test") == "latency";
        p.kind = latency ? workloads::PerftestKind::Latency : workloads::PerftestKind::Bandwidth;
        p.src = host(*w_.src);
        p.dst = host(*w_.dst);
        p.message_bytes = v_.size("bytes");
        p.duration = v_.has("duration") ? v_.time("duration") : sim::SimTime();
        p.iterations = v_.has("iterations") ? v_.integer("iterations")
                       : v_.has("duration") ? 0
                                            : (latency ? kLatencyIterations : kBandwidthIterations);
        p.rate = rate_of(p.src);
        p.tx_depth = v_.integer("tx_depth");
        p.qps = v_.integer("qps");
        p.is_bidirectional = v_.flag("bidirectional");
        report(workloads::append_perftest(built_.plan, p));
    }
    void incast() {
        workloads::IncastParameters p;
        p.common = common_;
        p.target = host(*w_.receiver);
        for (const PlaceRef& place : w_.senders.hosts) p.senders.push_back(host(place));
        const auto wanted = w_.senders.is_all ? common_.host_count - 1 : static_cast<uint32_t>(w_.senders.count);
        for (flow::HostIndex i = 0; i < common_.host_count && p.senders.size() < wanted; ++i)
            if (i != p.target && may_have_flows(i)) p.senders.push_back(i);
        p.bytes = v_.size("bytes");
        p.jitter = jitter();
        p.bursts = v_.integer("bursts");
        p.period = v_.has("period") ? v_.time("period") : sim::SimTime();
        report(workloads::append_incast(built_.plan, p));
    }
    void all_to_all() {
        workloads::AllToAllParameters p;
        p.common = common_;
        p.hosts = hosts(w_.hosts);
        p.bytes = v_.size("bytes");
        report(workloads::append_all_to_all(built_.plan, p));
    }
    void pairs_file() {
        const auto text = read_text(w_.file, w_.position, w_.path + ".file", sink_);
        if (text)
            report(workloads::append_flow_list(built_.plan, {common_, workloads::read_pairs(*text, w_.file, sink_)}));
    }
    void poisson() {
        workloads::PoissonParameters p;
        p.common = common_;
        p.common.start = v_.time("from");
        p.hosts = hosts(w_.hosts);
        if (const auto* known = workloads::find_distribution(v_.text("cdf")); known != nullptr && w_.file.empty()) {
            p.sizes.assign(known->points.begin(), known->points.end());
        } else {
            const auto text = read_text(w_.file, w_.position, w_.path + ".cdf", sink_);
            auto points = text ? imports::read_cdf(*text, w_.file, sink_) : std::nullopt;
            if (!points) return;
            p.sizes = std::move(*points);
        }
        group_.size_distribution = w_.file.empty() ? v_.text("cdf") : w_.file;
        p.load = v_.number("load");
        p.link_rate = rate_of(p.hosts.empty() ? 0 : p.hosts.front());
        p.until = v_.time("until");
        report(workloads::append_poisson(built_.plan, p));
    }
    void collective(workloads::CollectiveKind kind) {
        workloads::CollectiveParameters p;
        p.common = common_;
        p.kind = kind;
        p.ranks = hosts(w_.hosts);
        p.bytes = v_.size("bytes");
        p.channels = static_cast<uint32_t>(v_.integer("channels"));
        p.chunk_bytes = v_.size("chunk");
        p.slots = static_cast<uint32_t>(v_.integer("slots"));
        p.iterations = static_cast<uint32_t>(v_.integer("iterations"));
        if (v_.has("peers_at_once")) p.peers_at_once = static_cast<uint32_t>(v_.integer("peers_at_once"));
        group_.iterations = p.iterations;
        group_.rank_bytes = p.bytes;
        group_.ranks = p.ranks.empty() ? common_.host_count : static_cast<uint32_t>(p.ranks.size());
        group_.bus_bandwidth_factor = workloads::bus_bandwidth_factor(kind, group_.ranks);
        report(workloads::append_collective(built_.plan, p));
    }
    void hpcc_flow_file() {
        const auto text = read_text(w_.file, w_.position, w_.path + ".file", sink_);
        if (!text) return;
        imports::HpccTopology numbers;
        numbers.topology = topology_.topology;
        numbers.nodes = topology_.hpcc_nodes;
        if (numbers.nodes.empty())
            for (uint32_t i = 0; i < common_.host_count; ++i) numbers.nodes.push_back({false, i});
        auto read = imports::read_hpcc_flows(*text, w_.file, numbers, sink_);
        if (!read) return;
        imports::start_at_zero(read->flows);
        report(workloads::append_flow_list(built_.plan, {common_, std::move(read->flows)}));
    }
    [[nodiscard]] sim::BitRate rate_of(flow::HostIndex host) const {
        for (const topologies::Link& l : topology_.topology.links)
            for (const topologies::LinkEnd& end : {l.a, l.b})
                if (!end.node.is_switch && end.node.index == host) return l.rate;
        return {};
    }

    const BuiltTopology& topology_;
    const std::vector<AdapterPort>& adapter_ports_;
    const WorkloadSpec& w_;
    const Values& v_;
    Services& services_;
    BuiltWorkloads& built_;
    DiagnosticSink& sink_;
    workloads::WorkloadCommon common_;
    GroupRecord group_;
    std::vector<flow::HostIndex> refused_;
};

}  // namespace

bool BuiltWorkloads::has_all(std::string_view workload) const {
    if (workload.empty()) return has_all();
    for (size_t g = 0; g < groups.size(); ++g)
        if (groups[g].name == workload) return !is_left_out[g];
    return true;
}

BuiltWorkloads build_workloads(const ScenarioSpec& spec, const BuiltTopology& topology, const BuiltAdapters& adapters,
                               Services& services, DiagnosticSink& sink) {
    BuiltWorkloads built;
    const auto adapter_ports = run::adapter_ports(adapters.adapters, topology.topology.hosts.size());
    for (const WorkloadSpec& w : spec.workloads)
        WorkloadMaker(spec, topology, adapter_ports, w, services, built, sink).make();
    for (flow::FlowSpec& f : built.plan.flows) {
        const auto on_the_wire = services.on_the_wire(f.priority, f.src);
        if (!on_the_wire) {
            sink.add(spec.topology.position, spec.topology.path,
                     "the NICs' dscp_maps give the scenario's DSCPs too many different PCPs",
                     "at most 8 pairs of DSCP and PCP in a scenario that are not DSCP 8 P with PCP P");
            break;
        }
        f.priority = *on_the_wire;
    }
    return built;
}

}  // namespace simverbs::scenarios::run
