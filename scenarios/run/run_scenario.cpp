#include "scenarios/run/run_scenario.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "scenarios/run/collect_inside.hpp"
#include "scenarios/run/collect_result.hpp"

namespace simverbs::scenarios::run {

using sim::SimTime;

namespace {

/// Between two looks at whether anything comes forward.
constexpr SimTime kLook = SimTime::ms(1);
/// Wall time between two calls of Progress.
constexpr std::chrono::milliseconds kProgressEvery{200};
constexpr int64_t kTimeoutsUntilStuck = 100;

bool is_named(const std::vector<PlaceRef>& places, const std::string& port, const std::string& node) {
    return std::ranges::any_of(places, [&](const PlaceRef& p) { return p.text == port || p.text == node; });
}

void make_unique(std::vector<uint32_t>& numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// What `outputs.series` asks for, beside what expectations need.
Sampling with_series(const ScenarioSpec& spec, const RunResult& parts, Sampling sampling) {
    if (spec.outputs.series) {
        const SeriesSpec& series = *spec.outputs.series;
        const auto asks = [&](const char* what) { return std::ranges::find(series.what, what) != series.what.end(); };
        if (sampling.interval == SimTime::zero() || series.interval < sampling.interval)
            sampling.interval = series.interval;
        const bool of_ports = asks("queue") || asks("utilisation") || asks("pauses") || asks("marks");
        for (uint32_t i = 0; of_ports && i < parts.ports.size(); ++i) {
            const PortRecord& p = parts.ports[i];
            const std::string& node = p.is_switch ? parts.switches[p.node].name : parts.hosts[p.node].name;
            if (series.is_everywhere || is_named(series.at, p.name, node)) sampling.ports.push_back(i);
        }
        for (uint32_t i = 0; asks("buffer") && i < parts.switches.size(); ++i)
            if (series.is_everywhere || is_named(series.at, parts.switches[i].name, parts.switches[i].name))
                sampling.switches.push_back(i);
        for (uint32_t i = 0; asks("rate") && i < std::min<size_t>(parts.flows.size(), kMostSampledFlows); ++i)
            sampling.flows.push_back(i);
    }
    make_unique(sampling.ports);
    make_unique(sampling.switches);
    make_unique(sampling.flows);
    return sampling;
}

class Runner final : public sim::Watcher {
  public:
    Runner(const ScenarioSpec& spec, BuiltScenario& built, RunResult parts, const Sampling& sampling,
           const RunHooks& hooks)
        : spec_(spec),
          built_(built),
          fabric_(*built.fabric),
          hooks_(hooks),
          limit_(spec.run.until.value_or(SimTime::max())),
          result_(std::move(parts)),
          sampling_(with_series(spec, result_, sampling)) {}

    RunResult run() {
        choose_samples();
        open_captures();
        const auto began = std::chrono::steady_clock::now();
        if (!sampling_.empty()) sample(SimTime::zero());
        if (!hooks_.programs || hooks_.programs(*this)) go();
        if (!sampling_.empty() && result_.sample_times.back() < fabric_.engine().frontier())
            sample(fabric_.engine().frontier());
        finish();
        result_.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        for (const auto& capture : captures_) tell(capture->close());
        result_.simulated_time = end_time();
        fabric_.check_conservation();
        collect_end(spec_, built_, result_);
        return std::move(result_);
    }

    // sim::Watcher
    [[nodiscard]] SimTime next_look() const override { return std::min(next_own_look(), next_beside()); }
    void look() override {
        const SimTime now = next_look();
        if (now == next_own_look()) sample(now);
        if (now == next_beside()) hooks_.beside->look();
    }

  private:
    void choose_samples() {
        for (const uint32_t i : sampling_.ports) result_.port_samples.push_back({i, {}, {}});
        for (const uint32_t i : sampling_.switches) result_.switch_samples.push_back({i, {}});
        for (const uint32_t i : sampling_.flows) result_.flow_samples.push_back({i, {}, {}, {}});
    }

    /// One for each port that `outputs.pcap` names, by itself or by its node.
    void open_captures() {
        if (sampling_.capture_folder.empty()) return;
        for (const PortRecord& p : result_.ports) {
            const std::string& node = p.is_switch ? result_.switches[p.node].name : result_.hosts[p.node].name;
            if (!is_named(spec_.outputs.pcap, p.name, node)) continue;
            const topologies::Link& link = fabric_.topology().links[p.link];
            const bool is_a = link.a.node == topologies::NodeRef{p.is_switch, p.node} && link.a.port == p.port;
            CapturedPort port;
            port.layer = fabric_.config().layer;
            port.byte_time = sim::ByteTime(p.rate);
            port.codes = built_.codes;
            port.out_vls = fabric_.classes_of(is_a ? link.a.node : link.b.node);
            port.in_vls = fabric_.classes_of(is_a ? link.b.node : link.a.node);
            captures_.push_back(std::make_unique<FlowCapture>(port, fabric_.flows()));
            std::string file = p.name;
            std::ranges::replace(file, '/', '-');
            tell(captures_.back()->open(sampling_.capture_folder + "/" + file + ".pcap"));
            if (p.is_switch)
                fabric_.fabric_switch(p.node).set_observer(p.port, captures_.back().get());
            else
                fabric_.nic(p.node).set_observer(captures_.back().get());
        }
    }

    void tell(std::string problem) {
        if (!problem.empty()) result_.warnings.push_back("a capture: " + std::move(problem));
    }

    [[nodiscard]] SimTime next_sample(SimTime now) const {
        if (sampling_.empty()) return SimTime::max();
        SimTime next = SimTime::max();
        if (sampling_.interval > SimTime::zero())
            next = sampling_.interval * (now.in_ps() / sampling_.interval.in_ps() + 1);
        for (const SimTime t : sampling_.instants)
            if (t > now) next = std::min(next, t);
        return next;
    }

    [[nodiscard]] SimTime next_own_look() const {
        return sampling_.empty() ? SimTime::max() : next_sample(result_.sample_times.back());
    }
    [[nodiscard]] SimTime next_beside() const {
        return hooks_.beside == nullptr ? SimTime::max() : hooks_.beside->next_look();
    }

    void sample(SimTime now) {
        result_.sample_times.push_back(now);
        const bool is_bound = std::ranges::binary_search(sampling_.instants, now);
        for (PortSamples& s : result_.port_samples) {
            s.counts.push_back(counts_of(built_, result_.ports[s.port]));
            s.delays.emplace_back();
            if (is_bound) s.delays.back() = delays_of(built_, result_.ports[s.port]);
        }
        for (SwitchSamples& s : result_.switch_samples)
            s.buffer.push_back(fabric_.fabric_switch(s.node).buffered_bytes());
        for (FlowSamples& s : result_.flow_samples) {
            const flow::FlowNic& nic = fabric_.nic(fabric_.flows().spec(s.flow).src);
            s.rate.push_back(nic.rate_of(s.flow));
            s.delivered.push_back(fabric_.bytes_received(s.flow));
            if (nic.config().measures_rtt) s.rtt.push_back(nic.rtt_of(s.flow));
        }
    }

    /// Until nothing is scheduled, the time is over, everything has ended, or nothing comes forward.
    void go() {
        sim::Engine& engine = fabric_.engine();
        const SimTime patience = std::max(kStuckAfter, spec_.transport.retransmission_timeout * kTimeoutsUntilStuck);
        uint64_t progress = fabric_.progress();
        SimTime progressed = engine.frontier();
        programs_ended_ = progressed;
        auto told = std::chrono::steady_clock::now();
        for (SimTime now = progressed; now < limit_;) {
            const SimTime next = engine.next_event_time();
            if (next == SimTime::max()) break;
            const bool all_ended = fabric_.ended() == fabric_.flows().size();
            if (all_ended && spec_.run.stop_when == StopWhen::AllFlowsDone) break;
            const SimTime wanted = next_look();
            const SimTime to = std::min({std::max(now, next) + kLook, wanted, limit_});
            engine.run_until(to);
            now = to;
            for (const auto& capture : captures_) capture->write_before(now);
            if (now == wanted) look();
            if (const uint64_t p = fabric_.progress(); p != progress) {
                progress = p;
                progressed = now;
            }
            if (fabric_.outstanding() && now - progressed > patience && fabric_.next_start() > now) {
                result_.ending = RunEnding::Stuck;
                break;
            }
            if (!hooks_.progress || std::chrono::steady_clock::now() - told < kProgressEvery) continue;
            told = std::chrono::steady_clock::now();
            if (hooks_.progress(now, fabric_.ended(), fabric_.flows().size())) continue;
            result_.ending = RunEnding::Interrupted;
            break;
        }
    }

    void finish() {
        const bool all_ended = fabric_.ended() == fabric_.flows().size();
        if (all_ended) return;
        const bool over = fabric_.engine().frontier() >= limit_;
        const bool idle = fabric_.engine().next_event_time() == SimTime::max();
        if (result_.ending == RunEnding::Interrupted) return;
        if (result_.ending != RunEnding::Stuck) result_.ending = idle && !over ? RunEnding::Stuck : RunEnding::Until;
        if (result_.ending == RunEnding::Stuck || !fabric_.pause_cycle().empty())
            result_.stuck_dump = fabric_.engine().stuck_dump();
    }

    /// The last thing that happened, if everything ended; else where the run was stopped.
    [[nodiscard]] SimTime end_time() const {
        if (result_.ending != RunEnding::Done || fabric_.flows().size() == 0) return fabric_.engine().frontier();
        if (spec_.run.stop_when == StopWhen::Until) return fabric_.engine().frontier();
        SimTime last = programs_ended_;
        for (uint32_t i = 0; i < fabric_.flows().size(); ++i)
            last = std::max(last, fabric_.flows().result(i).acknowledged);
        return last;
    }

    const ScenarioSpec& spec_;
    BuiltScenario& built_;
    FlowFabric& fabric_;
    const RunHooks& hooks_;
    SimTime programs_ended_;
    SimTime limit_;
    RunResult result_;
    Sampling sampling_;
    std::vector<std::unique_ptr<FlowCapture>> captures_;
};

}  // namespace

namespace {

/// A host that sends flows while others run programs: whatever its platform is.
void warn_of_idle_platforms(const ScenarioSpec& spec, const BuiltScenario& built, RunResult& result) {
    if (spec.workloads.empty()) return;
    const HostSpec* idle = spec.topology.is_fabric && spec.topology.host.inside != nullptr &&
                                   built.adapters.host_of_complex.size() < result.hosts.size()
                               ? &spec.topology.host
                               : nullptr;
    for (uint32_t h = 0; h < spec.lab.hosts.size() && idle == nullptr; ++h) {
        const bool runs_programs =
            std::ranges::find(built.adapters.host_of_complex, h) != built.adapters.host_of_complex.end();
        if (spec.lab.hosts[h].inside != nullptr && !runs_programs) idle = &spec.lab.hosts[h];
    }
    if (idle == nullptr) return;
    result.warnings.push_back("flows are sent by ideal hosts: the platform '" + idle->inside->spec.name +
                              "' counts for hosts that run programs alone");
}

}  // namespace

RunResult describe(const ScenarioSpec& spec, const BuiltScenario& built) {
    RunResult result;
    result.scenario = spec.lab.name;
    result.description = spec.lab.description;
    result.run_name = spec.run_name;
    result.settings = spec.settings;
    result.seed = spec.lab.seed;
    result.algorithm = spec.cc.algorithm;
    result.is_infiniband = built.topology.layer == link::LinkLayer::InfiniBand;
    result.measure_from = spec.run.measure_from;
    result.measure_until = spec.run.measure_until;
    result.groups = built.groups;
    if (!spec.programs.empty() && spec.cc.algorithm != "none" && !hca::CongestionConfig::is_understood(*built.cc))
        result.warnings.push_back("programs' queue pairs have no congestion control with '" + spec.cc.algorithm +
                                  "': adapters understand only what CNPs tell, as with dcqcn");
    describe_parts(spec, built, result);
    warn_of_idle_platforms(spec, built, result);
    return result;
}

RunResult describe_names(const ScenarioSpec& spec, const ScenarioPlan& plan) {
    RunResult result;
    result.groups = plan.workloads().groups;
    if (plan.topology() != nullptr) name_parts(*plan.topology(), result);
    name_insides(plan.adapters(), result);
    name_flows(spec, plan.workloads().plan, result);
    return result;
}

RunResult run_scenario(const ScenarioSpec& spec, BuiltScenario& built, RunResult parts, const Sampling& sampling,
                       const RunHooks& hooks) {
    return Runner(spec, built, std::move(parts), sampling, hooks).run();
}

}  // namespace simverbs::scenarios::run
