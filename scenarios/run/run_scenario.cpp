#include "scenarios/run/run_scenario.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "scenarios/run/collect_result.hpp"

namespace simverbs::scenarios::run {

using sim::SimTime;

namespace {

/// Between two looks at whether anything comes forward.
constexpr SimTime kLook = SimTime::ms(1);
/// Wall time between two calls of Progress.
constexpr std::chrono::milliseconds kProgressEvery{200};
constexpr int64_t kTimeoutsUntilStuck = 100;

bool names(const std::vector<std::string>& wanted, const std::string& port, const std::string& node) {
    return std::ranges::find(wanted, port) != wanted.end() || std::ranges::find(wanted, node) != wanted.end();
}

/// What `outputs.series` asks for, beside what expectations need.
Sampling with_series(const ScenarioSpec& spec, Sampling sampling) {
    if (!spec.outputs.series) return sampling;
    const SeriesSpec& series = *spec.outputs.series;
    const auto asks = [&](const char* what) { return std::ranges::find(series.what, what) != series.what.end(); };
    if (sampling.interval == SimTime::zero() || series.interval < sampling.interval)
        sampling.interval = series.interval;
    const bool of_ports = asks("queue") || asks("utilisation") || asks("pauses") || asks("marks");
    const bool of_switches = asks("buffer");
    if (asks("rate")) sampling.all_flows = true;
    sampling.all_ports = sampling.all_ports || (of_ports && series.is_everywhere);
    sampling.all_switches = sampling.all_switches || (of_switches && series.is_everywhere);
    for (const PlaceRef& place : series.at) {
        if (of_ports) sampling.ports.push_back(place.text);
        if (of_switches) sampling.switches.push_back(place.text);
    }
    return sampling;
}

class Runner {
  public:
    Runner(const ScenarioSpec& spec, BuiltScenario& built, const Sampling& sampling, const Progress& progress)
        : spec_(spec),
          built_(built),
          fabric_(*built.fabric),
          sampling_(with_series(spec, sampling)),
          progress_(progress),
          limit_(spec.run.until.value_or(SimTime::max())) {}

    RunResult run() {
        result_.scenario = spec_.lab.name;
        result_.description = spec_.lab.description;
        result_.run_name = spec_.run_name;
        result_.settings = spec_.settings;
        result_.seed = spec_.lab.seed;
        result_.algorithm = spec_.cc.algorithm;
        result_.measure_from = spec_.run.measure_from;
        result_.measure_until = spec_.run.measure_until;
        result_.groups = built_.groups;
        describe_parts(built_, result_);
        choose_samples();
        const auto began = std::chrono::steady_clock::now();
        go();
        result_.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        result_.simulated_time = end_time();
        fabric_.check_conservation();
        collect_end(spec_, built_, result_);
        return std::move(result_);
    }

  private:
    void choose_samples() {
        if (sampling_.empty()) return;
        for (uint32_t i = 0; i < result_.ports.size(); ++i) {
            const PortRecord& p = result_.ports[i];
            const std::string& node = p.is_switch ? result_.switches[p.node].name : result_.hosts[p.node].name;
            const bool wanted = sampling_.all_ports || names(sampling_.ports, p.name, node) ||
                                names(sampling_.ports, result_.links[p.link].name, p.name);
            if (wanted) result_.port_samples.push_back({i, {}});
        }
        // A link's utilisation is asked by one of its ends: the other direction belongs to it.
        for (size_t n = result_.port_samples.size(), i = 0; i < n && !sampling_.all_ports; ++i) {
            const LinkRecord& l = result_.links[result_.ports[result_.port_samples[i].port].link];
            for (const uint32_t other : {l.a, l.b})
                if (std::ranges::none_of(result_.port_samples, [&](const auto& s) { return s.port == other; }))
                    result_.port_samples.push_back({other, {}});
        }
        for (uint32_t i = 0; i < result_.switches.size(); ++i)
            if (sampling_.all_switches || names(sampling_.switches, result_.switches[i].name, ""))
                result_.switch_samples.push_back({i, {}});
        std::vector<uint32_t> flows = sampling_.flows;
        for (uint32_t i = 0; sampling_.all_flows && i < fabric_.flows().size() && i < kMostSampledFlows; ++i)
            flows.push_back(i);
        std::ranges::sort(flows);
        flows.erase(std::unique(flows.begin(), flows.end()), flows.end());
        if (flows.size() > kMostSampledFlows) flows.resize(kMostSampledFlows);
        for (const uint32_t f : flows)
            if (f < fabric_.flows().size()) result_.flow_samples.push_back({f, {}, {}});
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

    void sample(SimTime now) {
        result_.sample_times.push_back(now);
        for (PortSamples& s : result_.port_samples) s.counts.push_back(counts_of(built_, result_.ports[s.port]));
        for (SwitchSamples& s : result_.switch_samples)
            s.buffer.push_back(fabric_.fabric_switch(s.node).buffered_bytes());
        for (FlowSamples& s : result_.flow_samples) {
            const flow::FlowNic& nic = fabric_.nic(fabric_.flows().spec(s.flow).src);
            s.rate.push_back(nic.rate_of(s.flow));
            s.delivered.push_back(fabric_.bytes_received(s.flow));
        }
    }

    /// Until nothing is scheduled, the time is over, everything has ended, or nothing comes forward.
    void go() {
        sim::Engine& engine = fabric_.engine();
        const SimTime patience = std::max(kStuckAfter, spec_.transport.retransmission_timeout * kTimeoutsUntilStuck);
        uint64_t progress = fabric_.progress();
        SimTime progressed;
        auto told = std::chrono::steady_clock::now();
        if (!sampling_.empty()) sample(SimTime::zero());
        for (SimTime now; now < limit_;) {
            const SimTime next = engine.next_event_time();
            if (next == SimTime::max()) break;
            const bool all_ended = fabric_.ended() == fabric_.flows().size();
            if (all_ended && spec_.run.stop_when == StopWhen::AllFlowsDone) break;
            const SimTime wanted = next_sample(now);
            const SimTime to = std::min({std::max(now, next) + kLook, wanted, limit_});
            engine.run_until(to);
            now = to;
            if (now == wanted) sample(now);
            if (const uint64_t p = fabric_.progress(); p != progress) {
                progress = p;
                progressed = now;
            }
            if (fabric_.outstanding() && now - progressed > patience && fabric_.next_start() > now) {
                result_.ending = RunEnding::Stuck;
                break;
            }
            if (!progress_ || std::chrono::steady_clock::now() - told < kProgressEvery) continue;
            told = std::chrono::steady_clock::now();
            if (!progress_(now, fabric_.ended(), fabric_.flows().size())) break;
        }
        if (!sampling_.empty() && result_.sample_times.back() < engine.frontier()) sample(engine.frontier());
        finish();
    }

    void finish() {
        const bool all_ended = fabric_.ended() == fabric_.flows().size();
        if (all_ended) return;
        const bool over = fabric_.engine().frontier() >= limit_;
        const bool idle = fabric_.engine().next_event_time() == SimTime::max();
        if (result_.ending != RunEnding::Stuck) result_.ending = idle && !over ? RunEnding::Stuck : RunEnding::Until;
        if (result_.ending == RunEnding::Stuck || !fabric_.pause_cycle().empty())
            result_.stuck_dump = fabric_.engine().stuck_dump();
    }

    /// The last thing that happened, if everything ended; else where the run was stopped.
    [[nodiscard]] SimTime end_time() const {
        if (result_.ending != RunEnding::Done || fabric_.flows().size() == 0) return fabric_.engine().frontier();
        if (spec_.run.stop_when == StopWhen::Until) return fabric_.engine().frontier();
        SimTime last;
        for (uint32_t i = 0; i < fabric_.flows().size(); ++i)
            last = std::max(last, fabric_.flows().result(i).acknowledged);
        return last;
    }

    const ScenarioSpec& spec_;
    BuiltScenario& built_;
    FlowFabric& fabric_;
    Sampling sampling_;
    const Progress& progress_;
    SimTime limit_;
    RunResult result_;
};

}  // namespace

RunResult run_scenario(const ScenarioSpec& spec, BuiltScenario& built, const Sampling& sampling,
                       const Progress& progress) {
    return Runner(spec, built, sampling, progress).run();
}

}  // namespace simverbs::scenarios::run
