#include "tools/systemc/hosted_scenario.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "scenarios/run/build_fabric.hpp"
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

void HostedScenario::run(Pacer& pacer, const std::string& folder) {
    tools::ScenarioJob& job = state_->job;
    if (job.was_run) throw std::runtime_error(state_->file + ": has been run; a scenario runs once");
    tools::catch_stop_signals();
    job.spec = &state_->spec;
    job.folder = folder;
    PacedWatcher watcher(pacer);
    tools::execute(job, {.beside = &watcher});
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
