#include "scenarios/run/build_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/cc/register_algorithms.hpp"
#include "scenarios/build/complex_hosts.hpp"
#include "scenarios/build/known_profiles.hpp"
#include "scenarios/build/lab_builder.hpp"
#include "scenarios/lang/metric_table.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/run/build_faults.hpp"
#include "scenarios/run/services.hpp"

namespace simverbs::scenarios::run {

namespace {

/// Does an expectation speak of a metric that costs time to measure?
bool asks_for(const ScenarioSpec& spec, std::string_view metric) {
    const auto speaks = [&](const MetricExpression& expression) { return expression.metric->name == metric; };
    return std::ranges::any_of(spec.expectations, [&](const ExpectationSpec& e) {
        const auto* claim = std::get_if<MetricExpectation>(&e.statement);
        if (claim == nullptr) return false;
        const auto* right = std::get_if<MetricExpression>(&claim->right);
        return speaks(claim->left) || (right != nullptr && speaks(*right));
    });
}

/// Weights of DWRR are in full frames.
constexpr uint32_t kQuantumFrame = 4096 + 82;
/// IBA, IB CC: threshold 15 marks soonest, 1 last, 0 never.
constexpr int kFecnSteps = 16;

cc::Parameters parameters_of(const CcSpec& spec) {
    cc::Parameters given;
    for (const auto& [name, value] : spec.values.all()) {
        if (!value.is_written) continue;
        if (const auto* whole = std::get_if<int64_t>(&value.value))
            given[name] = static_cast<double>(*whole);
        else if (const auto* real = std::get_if<double>(&value.value))
            given[name] = *real;
        else if (const auto* flag = std::get_if<bool>(&value.value))
            given[name] = *flag ? 1 : 0;
    }
    return given;
}

class FabricConfigurer {
  public:
    FabricConfigurer(const ScenarioSpec& spec, const BuiltTopology& topology, DiagnosticSink& sink)
        : spec_(spec), topology_(topology), sink_(sink) {}

    std::unique_ptr<cc::CongestionControl> make_cc() {
        info_ = cc::find_algorithm(spec_.cc.algorithm);
        if (info_ == nullptr) {
            sink_.add(spec_.cc.position, spec_.cc.path, fmt::format("there is no algorithm '{}'", spec_.cc.algorithm));
            return nullptr;
        }
        if (!spec_.cc.is_complete) return nullptr;
        const size_t before = sink_.reports();
        cc::Parameters given = parameters_of(spec_.cc);
        preset_ = spec_.cc.preset.empty() ? nullptr : cc::find_preset(*info_, spec_.cc.preset);
        if (preset_ != nullptr) given = cc::with_preset(*preset_, given);
        for (const cc::ParameterProblem& p : cc::check_parameters(*info_, given)) {
            const CheckedValue* value = spec_.cc.values.find(p.parameter);
            sink_.add(value != nullptr ? value->position : spec_.cc.position, spec_.cc.path + "." + p.parameter,
                      p.problem, p.expected, p.hint);
        }
        return sink_.reports() == before ? cc::make(*info_, given) : nullptr;
    }

    FlowFabricConfig configure(const cc::CongestionControl& algorithm, const Services& services) {
        FlowFabricConfig c;
        c.engine.seed = spec_.lab.seed;
        c.engine.threads = static_cast<unsigned>(spec_.run.threads);
        if (spec_.run.window) c.engine.window = *spec_.run.window;
        c.layer = topology_.layer;
        c.cc = &algorithm;
        const bool measures_delays = asks_for(spec_, "queueing_delay");
        for (uint32_t i = 0; i < topology_.switches.size(); ++i) {
            c.per_switch.push_back(switch_config(*topology_.switches[i]));
            c.per_switch.back().classes = services.of_switch(i);
            c.per_switch.back().measures_delays = measures_delays;
        }
        for (flow::HostIndex h = 0; h < topology_.host_ports.size(); ++h) c.nic_classes.push_back(services.of_host(h));
        c.vlan = services.are_tagged();
        if (topology_.switch_template->queueing.path_policy == PathPolicy::UpDown)
            c.routing = topologies::RoutingPolicy::UpDown;
        set_port_rules(c);
        c.nics.payload_bytes = static_cast<uint32_t>(spec_.transport.payload);
        c.nics.measures_rtt = asks_for(spec_, "rtt");
        c.nics.ack_every = static_cast<uint32_t>(spec_.transport.ack_every);
        c.nics.retransmission_timeout = spec_.transport.retransmission_timeout;
        c.nics.retry_cnt = static_cast<uint8_t>(spec_.transport.retry_cnt);
        c.nics.recovery = spec_.transport.loss_recovery == LossRecovery::SelectiveRepeat
                              ? flow::LossRecovery::SelectiveRepeat
                              : flow::LossRecovery::GoBackN;
        if (spec_.transport.window == WindowKind::Fixed) c.nics.window_bytes = spec_.transport.window_bytes;
        c.nics.window_of_bdp = spec_.transport.window == WindowKind::Bdp;
        c.uniform_base_rtt = spec_.cc.preset == "hpcc-ns3";
        if (!topology_.switches.empty()) c.nics.vl_buffer = queueing(*topology_.switches.front()).vl_buffer;
        if (c.layer == link::LinkLayer::InfiniBand)
            c.nics.vl_arbitration = vl_arbitration(topology_.switch_template->queueing.vl_arbitration);
        return c;
    }

  private:
    [[nodiscard]] static const SwitchQueueing& queueing(const SwitchSpec& s) { return s.queueing; }

    static uint16_t mask_of(const std::vector<int>& priorities) {
        uint16_t mask = 0;
        for (const int p : priorities) mask |= static_cast<uint16_t>(1U << p);
        return mask;
    }

    fabric::SwitchConfig switch_config(const SwitchSpec& s) const {
        const SwitchQueueing& q = queueing(s);
        fabric::SwitchConfig c;
        c.forwarding = s.forwarding == Forwarding::StoreAndForward ? fabric::Forwarding::StoreAndForward
                                                                   : fabric::Forwarding::CutThrough;
        c.pipeline_latency = s.latency;
        c.buffer.total = s.buffer > 0 ? s.buffer : fabric::BufferConfig::kUnlimited;
        c.buffer.cell = q.cell;
        c.buffer.alpha = q.a_shift ? std::ldexp(1.0, -*q.a_shift) : q.alpha;
        c.trimming = q.trims;
        c.telemetry = q.adds_int.value_or(false);
        c.balancing = static_cast<fabric::LoadBalancing>(q.load_balancing);
        c.flowlet_gap = q.flowlet_gap;
        if (topology_.layer == link::LinkLayer::InfiniBand) {
            c.vl_buffer = q.vl_buffer;
            c.buffer.total = fabric::BufferConfig::kUnlimited;
            c.vl_arbitration = vl_arbitration(q.vl_arbitration);
            c.scheduler.strict = 1U << link::kManagementVl;
            set_fecn(q, c);
            return c;
        }
        if (q.pfc.is_enabled) {
            c.buffer.lossless = mask_of(q.pfc.priorities);
            c.buffer.headroom = q.pfc.headroom.value_or(0);
            c.buffer.is_headroom_given = q.pfc.headroom.has_value();
            c.buffer.reserve = q.pfc.reserve;
            c.buffer.xon_offset = q.pfc.xon_offset;
            c.pfc.quanta = static_cast<uint32_t>(q.pfc.quanta);
            if (q.pfc.watchdog) c.pfc.watchdog = *q.pfc.watchdog;
        }
        c.lossy_alpha = s.buffer > 0 ? q.alpha : 0;
        if (q.ecn.is_enabled)
            c.ecn = {mask_of(q.ecn.priorities), {q.ecn.kmin, q.ecn.kmax, q.ecn.pmax}, q.ecn.at == EcnPoint::Enqueue, 0};
        c.scheduler.strict = mask_of(q.scheduler.strict);
        c.scheduler.quantum.fill(kQuantumFrame);
        for (const auto& [priority, weight] : q.scheduler.dwrr)
            c.scheduler.quantum[static_cast<size_t>(priority)] = static_cast<uint32_t>(weight) * kQuantumFrame;
        return c;
    }

    /// VLs that neither table names are in the low one.
    static link::VlArbitration vl_arbitration(const VlArbitrationSpec& spec) {
        constexpr uint8_t kUsualWeight = 64;
        link::VlArbitration to;
        to.low.fill(kUsualWeight);
        to.low[link::kManagementVl] = 0;
        to.high_limit = static_cast<uint8_t>(spec.high_limit);
        for (const auto& [vl, weight] : spec.high) {
            to.high[static_cast<size_t>(vl)] = static_cast<uint8_t>(weight);
            to.low[static_cast<size_t>(vl)] = 0;
        }
        for (const auto& [vl, weight] : spec.low) to.low[static_cast<size_t>(vl)] = static_cast<uint8_t>(weight);
        return to;
    }
    static void set_fecn(const SwitchQueueing& q, fabric::SwitchConfig& c) {
        if (!q.fecn.is_enabled || q.fecn.threshold == 0) return;
        const sim::ByteCount threshold = q.vl_buffer * (kFecnSteps - q.fecn.threshold) / kFecnSteps;
        c.ecn = {0x7FFF,
                 {threshold, threshold, 1.0, 1.0 / (1 + q.fecn.marking_rate)},
                 false,
                 static_cast<uint32_t>(q.fecn.packet_size)};
    }

    /// Where the file gives no thresholds, a preset's hold, scaled to each port's speed; and HPCC's switches give
    /// faster ports more of the buffer.
    void set_port_rules(FlowFabricConfig& c) const {
        if (preset_ != nullptr && preset_->ecn.given()) {
            const cc::EcnMarking marking = preset_->ecn;
            c.red = [marking](sim::BitRate rate) {
                const cc::EcnMarking m = marking.scaled_to(rate);
                return ecn::RedParams{m.kmin, m.kmax, m.pmax};
            };
        }
        sim::BitRate slowest = sim::BitRate::gbps(1'000'000);
        for (const topologies::Link& l : topology_.topology.links)
            if (!l.a.node.is_switch || !l.b.node.is_switch) slowest = std::min(slowest, l.rate);
        c.host_rate = slowest;
        c.own_red.resize(topology_.switches.size());
        c.shifts.resize(topology_.switches.size());
        for (size_t i = 0; i < topology_.switches.size(); ++i) {
            c.own_red[i] = queueing(*topology_.switches[i]).ecn.has_own_thresholds;
            c.shifts[i] = queueing(*topology_.switches[i]).a_shift;
        }
    }

    const ScenarioSpec& spec_;
    const BuiltTopology& topology_;
    DiagnosticSink& sink_;
    const cc::AlgorithmInfo* info_ = nullptr;
    const cc::Preset* preset_ = nullptr;
};

FieldKind kind_of(cc::ParameterKind kind) {
    switch (kind) {
        case cc::ParameterKind::Rate:
            return FieldKind::Rate;
        case cc::ParameterKind::Time:
            return FieldKind::Time;
        case cc::ParameterKind::Size:
            return FieldKind::Size;
        case cc::ParameterKind::Fraction:
            return FieldKind::Number;
        case cc::ParameterKind::Integer:
            return FieldKind::Integer;
        case cc::ParameterKind::Flag:
            return FieldKind::Flag;
    }
    return FieldKind::Number;
}

/// A default or a limit as a user would write it.
std::string text_of(cc::ParameterKind kind, double value) {
    switch (kind) {
        case cc::ParameterKind::Rate:
            return format_quantity(QuantityKind::Rate, static_cast<int64_t>(value));
        case cc::ParameterKind::Time:
            return format_quantity(QuantityKind::Time, static_cast<int64_t>(value));
        case cc::ParameterKind::Size:
            return format_quantity(QuantityKind::Size, static_cast<int64_t>(value));
        case cc::ParameterKind::Fraction:
            return fmt::format("{}", value);
        case cc::ParameterKind::Integer:
            return fmt::format("{}", static_cast<int64_t>(value));
        case cc::ParameterKind::Flag:
            return value != 0 ? "true" : "false";
    }
    return {};
}

KnownParameter known_parameter(const cc::ParameterInfo& p) {
    const bool limited = p.kind != cc::ParameterKind::Flag;
    return {std::string(p.name),
            kind_of(p.kind),
            text_of(p.kind, p.default_value),
            limited ? text_of(p.kind, p.least) : "",
            limited ? text_of(p.kind, p.most) : "",
            std::string(p.help)};
}

/// Where programs run, their adapters' ports; without programs a port is captured by what it sees (run_scenario).
std::vector<CapturedAdapterPort> captured_ports(const ScenarioSpec& spec, const BuiltTopology& topology,
                                                const BuiltAdapters& adapters, DiagnosticSink& sink) {
    std::vector<CapturedAdapterPort> out;
    // Without hosts: something is wrong already, and has been said.
    if (spec.programs.empty() || adapters.hosts.empty()) return out;
    const bool knows_hosts = std::ranges::all_of(
        spec.programs, [&](const ProgramSpec& program) { return topology.find_host(program.host.text).has_value(); });
    for (const PlaceRef& place : spec.outputs.pcap) {
        bool found = false;
        bool is_host = false;
        for (uint32_t i = 0; i < topology.host_ports.size(); ++i) {
            const HostPort& at = topology.host_ports[i];
            const ProgramHost& host = adapters.hosts[at.host];
            if (!topology.is_called({{false, i}, 0}, place.text)) continue;
            is_host = true;
            if (host.nics.empty()) continue;
            found = true;
            const ProgramHost::Nic& nic = host.nics[at.nic];
            out.push_back({host.name, nic.device, nic.adapter, at.port});
        }
        if (!found && (knows_hosts || !is_host))
            sink.add(place.position, place.path, fmt::format("the packets of '{}' cannot be captured", place.text),
                     "a host that runs programs, or a port of its NICs", "beside programs, flows are not captured");
    }
    return out;
}

/// After the flows' DSCPs have their numbers.
void choose_services_of_programs(Services& services, const ScenarioSpec& spec, BuiltAdapters& adapters,
                                 DiagnosticSink& sink) {
    for (FabricAdapter& adapter : adapters.adapters) {
        for (size_t p = 0; p < adapter.hosts.size(); ++p) {
            if (adapter.hosts[p] == FabricAdapter::kNoCable) continue;
            if (const auto chosen = services.of_programs(adapter.hosts[p])) {
                adapter.nic.ports[p].service_of_dscp = *chosen;
                continue;
            }
            sink.add(spec.topology.position, spec.topology.path,
                     "the dscp_maps tell more DSCPs apart than programs and flows can use in one scenario",
                     "maps of switches and NICs that agree, or flows of fewer DSCPs beside 0, 8, 16, … 56");
            return;
        }
    }
}

bool names_vl(const NumberPairs& table, uint32_t vl) {
    return std::ranges::any_of(table, [vl](const auto& entry) { return entry.first == static_cast<int>(vl); });
}

/// The key that is to be mended.
KeyPlace place_of_problem(const FabricProblem& problem, const ScenarioSpec& spec, const BuiltTopology& topology,
                          const FlowFabricConfig& config) {
    const KeyPlace of_topology{spec.topology.path, spec.topology.position};
    const auto written = [&](const KeyPlace& place) { return place.path.empty() ? of_topology : place; };
    switch (problem.about) {
        case FabricProblem::About::Topology:
            return of_topology;
        case FabricProblem::About::Storm:
            for (const AddressedFaultSpec& fault : spec.faults)
                if (fault.name == config.storms[problem.index].name)
                    return {fault.link->a.path, fault.link->a.position};
            return of_topology;
        case FabricProblem::About::Buffer: {
            const SwitchSpec& s = *topology.switches[problem.index];
            return written(s.buffer_place.path.empty() ? s.queueing.pfc.headroom_place : s.buffer_place);
        }
        case FabricProblem::About::VlBuffer:
            return written(topology.switches.empty() ? KeyPlace{}
                                                     : topology.switches.front()->queueing.vl_buffer_place);
        case FabricProblem::About::VlArbitration: {
            const VlArbitrationSpec& tables = topology.switches[problem.index]->queueing.vl_arbitration;
            return written(names_vl(tables.low, problem.vl) ? tables.low_place : tables.high_place);
        }
    }
    return of_topology;
}

}  // namespace

ScenarioPlan::ScenarioPlan(const ScenarioSpec& spec, const KnownParts& known, DiagnosticSink& sink)
    : spec_(spec), reports_before_(sink.reports()), sink_(sink) {
    check_profiles(spec.lab, sink);
    if (spec.topology.is_fabric) check_profiles_of(spec.topology.host, sink);
    if (known.has_network) topology_ = build_topology(spec, sink);
    if (!topology_) {
        // Whatever does not lie in the network is looked at all the same.
        if (spec.cc.is_complete) (void)FabricConfigurer(spec, BuiltTopology(), sink).make_cc();
        return;
    }
    if (spec.outputs.timeline && spec.programs.empty())
        sink.add(spec.outputs.timeline_position, spec.outputs.timeline_path,
                 "a timeline shows programs' queue pairs, and this scenario has no programs",
                 "also 'programs', or outputs.perfetto for flows");
    // Beside programs only adapters' ports are captured: captured_ports() says what is none.
    if (spec.programs.empty()) check_places(*topology_, spec.outputs.pcap, sink);
    if (spec.outputs.series) check_places(*topology_, spec.outputs.series->at, sink);
    Services services(*topology_);
    built_.adapters = build_adapters(spec, *topology_, sink);
    built_.captures = captured_ports(spec, *topology_, built_.adapters, sink);
    workloads_ = build_workloads(spec, *topology_, built_.adapters, services, sink);
    FabricConfigurer configurer(spec, *topology_, sink);
    built_.cc = configurer.make_cc();
    BuiltFaults faults = build_faults(spec, *topology_, built_.adapters, workloads_, sink);
    if (spec.workloads.empty() && spec.programs.empty()) check_hosts(sink);
    check_use_of_platforms(sink);
    built_.faults = std::move(faults.records);
    built_.faulty_ports = std::move(faults.ports);
    built_.slot_faults = std::move(faults.slots);
    if (!known.has_values || !workloads_.has_all() || built_.cc == nullptr) return;
    choose_services_of_programs(services, spec, built_.adapters, sink);
    built_.config = configurer.configure(*built_.cc, services);
    built_.config.faults = std::move(faults.links);
    built_.config.storms = std::move(faults.storms);
    built_.config.adapters = std::move(built_.adapters.adapters);
    built_.config.complex_hosts = std::move(built_.adapters.complex_hosts);
    // Programs take turns with the fabric, in one thread.
    if (!spec.programs.empty()) built_.config.engine.threads = 1;
    built_.codes = services.codes();
    for (FabricProblem& problem : FlowFabric::problems_with(topology_->topology, workloads_.plan, built_.config)) {
        const KeyPlace place = place_of_problem(problem, spec, *topology_, built_.config);
        sink.add(place.position, place.path, std::move(problem.text));
    }
}

/// A platform counts for programs alone: flows have no host in which they could wait.
void ScenarioPlan::check_use_of_platforms(DiagnosticSink& sink) const {
    if (!spec_.programs.empty() || spec_.workloads.empty()) return;
    const auto refuse = [&](const HostSpec& host) {
        if (host.inside != nullptr)
            sink.add(host.inside->position, host.inside->path,
                     "nothing passes this platform: flows are sent by an ideal host", "a scenario with 'programs'",
                     "remove it, or let programs such as ib_write_bw send what the workloads do");
    };
    for (const HostSpec& host : spec_.lab.hosts) refuse(host);
    if (spec_.topology.is_fabric) refuse(spec_.topology.host);
}

/// A lab without programs has adapters all the same.
void ScenarioPlan::check_hosts(DiagnosticSink& sink) const {
    std::vector<fabric::NicSpec> nics;
    std::vector<std::unique_ptr<hca::DeviceProfile>> profiles;
    for (uint32_t i = 0; i < spec_.lab.hosts.size(); ++i) {
        (void)add_adapters(spec_.lab.hosts[i], i, nics, profiles, sink);
        check_inside(spec_.lab.hosts[i], sink);
    }
}

std::optional<BuiltScenario> ScenarioPlan::take() {
    if (sink_.reports() != reports_before_ || !topology_) return std::nullopt;
    built_.groups = std::move(workloads_.groups);
    built_.plan = std::move(workloads_.plan);
    built_.topology = std::move(*topology_);
    return std::move(built_);
}

std::optional<BuiltScenario> plan_scenario(const ScenarioSpec& spec, DiagnosticSink& sink) {
    return ScenarioPlan(spec, {}, sink).take();
}

void make_fabric(BuiltScenario& built, const ProgramSide& programs) {
    for (uint32_t h = 0; h < built.adapters.hosts.size() && programs.sink; ++h) {
        const ProgramHost& host = built.adapters.hosts[h];
        for (uint32_t n = 0; n < host.nics.size(); ++n)
            built.config.adapters[host.nics[n].adapter].nic.sink = programs.sink(h, n);
    }
    built.fabric =
        std::make_unique<FlowFabric>(built.topology.topology, std::move(built.plan), built.config, programs.memory);
    for (const SlotFault& fault : built.slot_faults) schedule(fault, built.fabric->adapters());
}

std::optional<BuiltScenario> build_scenario(const ScenarioSpec& spec, DiagnosticSink& sink) {
    auto built = plan_scenario(spec, sink);
    if (built) make_fabric(*built);
    return built;
}

ScenarioOptions scenario_options() {
    ScenarioOptions options;
    options.lab = lab_options();
    for (const cc::AlgorithmInfo* info : cc::algorithms()) {
        if (info->name == "none") continue;
        KnownAlgorithm known;
        known.name = info->name;
        known.help = info->summary;
        for (const cc::Preset& preset : info->presets) known.presets.emplace_back(preset.name);
        for (const cc::ParameterInfo& p : info->parameters) known.parameters.push_back(known_parameter(p));
        options.algorithms.push_back(std::move(known));
    }
    return options;
}

}  // namespace simverbs::scenarios::run
