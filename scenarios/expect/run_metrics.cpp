// Metrics of the run as a whole.
#include <fmt/format.h>

#include <array>
#include <span>

#include "scenarios/expect/metric_rules.hpp"

namespace simverbs::scenarios::expect {

namespace {

template <typename Read>
void collect_once(const Question& question, Measurement& out, Read read) {
    if (question.expression.from || question.expression.until) {
        out.problem = fmt::format("'{}' is known only of the whole run", question.expression.metric->name);
        return;
    }
    out.value = static_cast<double>(read(question.result()));
}

void collect_deadlocks(const Question& question, Measurement& out) {
    collect_once(question, out, [](const run::RunResult& result) { return result.deadlocks; });
}

void collect_simulated_time(const Question& question, Measurement& out) {
    collect_once(question, out, [](const run::RunResult& result) { return result.simulated_time.in_ps(); });
}

void collect_packet_hops(const Question& question, Measurement& out) {
    collect_once(question, out, [](const run::RunResult& result) { return result.packet_hops; });
}

constexpr std::array kRunRules{
    MetricRule{"deadlocks", SampleNeed::Nothing, false, collect_deadlocks},
    MetricRule{"simulated_time", SampleNeed::Nothing, false, collect_simulated_time},
    MetricRule{"packet_hops", SampleNeed::Nothing, false, collect_packet_hops},
};

}  // namespace

std::span<const MetricRule> run_rules() noexcept {
    return kRunRules;
}

}  // namespace simverbs::scenarios::expect
