#include "tools/systemc/hosted_scenario.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "models/host/complex.hpp"
#include "models/host/part_model.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "sim/check.hpp"
#include "sim/watcher.hpp"
#include "tools/simverbs/checked_scenarios.hpp"
#include "tools/simverbs/scenario_job.hpp"
#include "tools/simverbs/signals.hpp"

namespace simverbs::systemc {

namespace {

class PacedWatcher final : public sim::Watcher {
  public:
    explicit PacedWatcher(Pacer& pacer) : pacer_(pacer) {}
    [[nodiscard]] sim::SimTime next_look() const override { return sim::SimTime::ps(pacer_.next_stop()); }
    void look() override { pacer_.wait_there(); }

  private:
    Pacer& pacer_;
};

/// A part of a host, and who is in its place.
class ReplacedPart final : public host::PartModel {
  public:
    ReplacedPart(std::string host, std::string part, PartTiming& timing)
        : host_(std::move(host)), part_(std::move(part)), timing_(timing) {}
    sim::SimTime pass(const host::PartTransfer& t) override {
        return sim::SimTime::ps(timing_.pass(t.is_write, t.address, t.bytes, t.arrival.in_ps()));
    }
    static_assert(PartTiming::kNoAddress == host::DmaTarget::kAnyAddress);

    /// Puts itself into its host, when that is made.
    void enter(std::vector<fabric::HostSpec>& hosts) {
        for (fabric::HostSpec& h : hosts) {
            if (h.path != host_) continue;
            h.make_complex = [this, make = h.make_complex] {
                std::unique_ptr<host::HostComplex> made = make();
                auto* const inside = dynamic_cast<host::Complex*>(made.get());
                SIM_CHECK(inside != nullptr && inside->replace(part_, this));
                return made;
            };
            is_used_ = true;
        }
    }
    [[nodiscard]] bool is_used() const noexcept { return is_used_; }
    [[nodiscard]] std::string name() const { return host_ + "/" + part_; }

  private:
    std::string host_, part_;
    PartTiming& timing_;
    bool is_used_ = false;
};

std::string joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
}

}  // namespace

struct HostedScenario::State {
    std::string file;
    scenarios::ScenarioSpec spec;
    tools::ScenarioJob job;
    std::vector<std::unique_ptr<ReplacedPart>> parts;
};

HostedScenario::HostedScenario(const std::string& file, const std::vector<std::string>& settings)
    : state_(std::make_unique<State>()) {
    scenarios::ScenarioOptions language = scenarios::run::scenario_options();
    language.settings = settings;
    scenarios::DiagnosticSink sink;
    auto runs = tools::load_checked(file, language, sink);
    if (!runs) throw std::invalid_argument(sink.to_string());
    if (runs->size() != 1)
        throw std::invalid_argument(fmt::format(
            "{}: describes {} runs; a SystemC design has time for one: choose it with settings, such as seed=1", file,
            runs->size()));
    state_->file = file;
    state_->spec = std::move(runs->front());
    if (state_->spec.run.threads != 1)
        throw std::invalid_argument(fmt::format(
            "{}: run.threads is {}; inside a SystemC design a scenario has one thread: set run.threads to 1", file,
            state_->spec.run.threads));
}

HostedScenario::~HostedScenario() = default;

void HostedScenario::replace(const std::string& part, PartTiming& timing) {
    const size_t slash = part.find('/');
    const std::string host = part.substr(0, slash), name = slash == std::string::npos ? "" : part.substr(slash + 1);
    std::string known;
    for (const scenarios::HostSpec& h : state_->spec.lab.hosts) {
        if (h.inside == nullptr) continue;
        const host::Complex inside(h.inside->spec);
        for (const host::PartView& p : inside.parts()) {
            if (h.name == host && p.name == name) {
                state_->parts.push_back(std::make_unique<ReplacedPart>(host, name, timing));
                return;
            }
            known += "\n  " + h.name + "/" + p.name;
        }
    }
    throw std::invalid_argument(fmt::format("{}: there is no part of a host '{}'; {}", state_->file, part,
                                            known.empty()
                                                ? "no host has a platform: give it one, such as platform: two_socket"
                                                : "expected one of:" + known));
}

void HostedScenario::run(Pacer& pacer, const std::string& folder) {
    tools::ScenarioJob& job = state_->job;
    if (job.was_run) throw std::runtime_error(state_->file + ": has been run; a scenario runs once");
    tools::catch_stop_signals();
    job.spec = &state_->spec;
    job.folder = folder;
    PacedWatcher watcher(pacer);
    tools::execute(job, {.beside = &watcher, .on_plan = [&](scenarios::run::BuiltScenario& built) {
                             for (const auto& part : state_->parts) part->enter(built.config.complex_hosts);
                         }});
    for (const auto& part : state_->parts)
        if (job.problems.empty() && !part->is_used())
            throw std::runtime_error(part->name() + ": a host has an inside where programs run; none does there");
    if (!job.problems.empty()) throw std::runtime_error(job.problems);
    if (!job.write_errors.empty()) throw std::runtime_error(joined(job.write_errors));
}

bool HostedScenario::passed() const noexcept {
    return state_->job.was_run && state_->job.problems.empty() && state_->job.code == tools::kSuccess;
}

int64_t HostedScenario::simulated_time() const noexcept {
    return state_->job.result.simulated_time.in_ps();
}

const std::string& HostedScenario::summary() const noexcept {
    return state_->job.summary;
}

}  // namespace simverbs::systemc
