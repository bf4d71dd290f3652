#include "scenarios/check/check_draft.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "scenarios/expect/evaluate.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "scenarios/run/run_scenario.hpp"

namespace simverbs::scenarios {

namespace {

/// What these say, no other part depends on.
constexpr std::array<std::string_view, 7> kPartsOfTheirOwn{"programs", "faults", "expectations", "outputs",
                                                           "run",      "name",   "description"};

std::string_view first_key(std::string_view path) {
    return path.substr(0, path.find_first_of(".["));
}

/// "faults[1].kill" lies inside "faults[1]".
bool lies_inside(std::string_view path, std::string_view outer) {
    if (!path.starts_with(outer)) return false;
    return path.size() == outer.size() || path[outer.size()] == '.' || path[outer.size()] == '[';
}

bool has_values(const DiagnosticSink& errors) {
    return std::ranges::all_of(errors.kept(), [](const Diagnostic& error) {
        const std::string_view key = first_key(error.path);
        return std::ranges::find(kPartsOfTheirOwn, key) != kPartsOfTheirOwn.end();
    });
}

}  // namespace

void add_news(const DiagnosticSink& found, const DiagnosticSink& known, DiagnosticSink& sink) {
    for (const Diagnostic& d : found.kept()) {
        const bool is_known = std::ranges::any_of(known.kept(), [&](const Diagnostic& k) {
            if (d.file != k.file) return false;
            const bool at_same_place = d.line > 0 && d.line == k.line && d.column == k.column;
            // Each word of an expectation has its own mistakes.
            if (d.path == k.path && first_key(d.path) == "expectations") return at_same_place;
            return at_same_place || (!d.path.empty() && lies_inside(k.path, d.path));
        });
        if (!is_known) sink.add(d);
    }
}

void check_draft(const ScenarioDraft& draft, DiagnosticSink& sink) {
    if (draft.errors.is_full()) return;
    DiagnosticSink found;
    const run::ScenarioPlan plan(draft.spec, {draft.has_network, has_values(draft.errors)}, found);
    const run::BuiltWorkloads& workloads = plan.workloads();
    // Names of workloads that are left out, and numbers of flows that are not made, tell nothing.
    const auto is_known = [&](const Selector& selector) {
        switch (selector.kind) {
            case SelectorKind::Group:
                return draft.has_workloads && plan.topology() != nullptr;
            case SelectorKind::Flow:
                return draft.has_workloads && plan.topology() != nullptr && workloads.has_all(selector.name);
            case SelectorKind::Run:
            case SelectorKind::Host:
            case SelectorKind::Switch:
            case SelectorKind::Link:
            case SelectorKind::Port:
            case SelectorKind::Queue:
            case SelectorKind::Slot:
                break;
        }
        return plan.topology() != nullptr;
    };
    const run::RunResult names = run::describe_names(draft.spec, plan);
    expect::check_names(draft.spec.expectations, names, found, is_known);
    expect::check_names(draft.names_of_wrong_expectations, names, found, is_known);
    add_news(found, draft.errors, sink);
}

}  // namespace simverbs::scenarios
