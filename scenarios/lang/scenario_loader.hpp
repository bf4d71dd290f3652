// From a scenario file to checked ScenarioSpecs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/lab_loader.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/lang/schema.hpp"

namespace simverbs::scenarios {

/// One parameter of an algorithm; default and limits as a user would write them, "" = none.
struct KnownParameter {
    std::string name;
    FieldKind kind = FieldKind::Number;  ///< of a single value
    std::string default_text;
    std::string least;
    std::string most;
    std::string help;

    /// As the readers want it; refers to this.
    [[nodiscard]] Field field() const {
        return {.key = name, .kind = kind, .default_text = default_text, .help = help, .least = least, .most = most};
    }
};

/// What the language must know of a congestion control algorithm. The models hand these in, as they do with
/// KnownProfile.
struct KnownAlgorithm {
    std::string name;
    std::string help;
    std::vector<std::string> presets;
    std::vector<KnownParameter> parameters;
};

struct ScenarioOptions {
    LabOptions lab;
    /// The algorithms that exist, without "none", which always does. Empty: every name is accepted, and parameters are
    /// kept as texts.
    std::vector<KnownAlgorithm> algorithms;
    /// "key=value" as given with --set, in order: a parameter, or a path such as "cc.algorithm" or "workloads[0].load".
    std::vector<std::string> settings;
};

/// One run of a scenario file as far as the file could be understood, so that the rest can be checked too: what is
/// wrong is left out of the spec, or is there as if the file said nothing about it.
struct ScenarioDraft {
    ScenarioSpec spec;
    DiagnosticSink errors;    ///< what was wrong with it
    bool has_network = true;  ///< hosts, switches and cables are what the file means, if perhaps not all they are like
    bool has_workloads = true;  ///< no workload is left out
    /// What is named in expectations that are wrong otherwise, one each.
    std::vector<ExpectationSpec> names_of_wrong_expectations{};
};

/// Sweeps that make more runs are refused.
inline constexpr std::size_t kMaxRuns = 10'000;

/// Reads a scenario file with all that it includes: one ScenarioSpec for each run of its sweep, or one. Every mistake
/// is added to `sink`; nullopt if there was any.
[[nodiscard]] std::optional<std::vector<ScenarioSpec>> load_scenario(const std::string& path,
                                                                     const ScenarioOptions& options,
                                                                     DiagnosticSink& sink);

/// The same from a text; what it includes is looked for beside `file_name`.
[[nodiscard]] std::optional<std::vector<ScenarioSpec>> parse_scenario(std::string_view text, std::string_view file_name,
                                                                      const ScenarioOptions& options,
                                                                      DiagnosticSink& sink);

/// The same, but what could be read of a wrong file, too.
[[nodiscard]] std::vector<ScenarioDraft> load_drafts(const std::string& path, const ScenarioOptions& options,
                                                     DiagnosticSink& sink);
[[nodiscard]] std::vector<ScenarioDraft> parse_drafts(std::string_view text, std::string_view file_name,
                                                      const ScenarioOptions& options, DiagnosticSink& sink);

/// The parameters of congestion control for the reference manual, in Markdown: what describe_schema() cannot know.
[[nodiscard]] std::string describe_algorithms(std::span<const KnownAlgorithm> algorithms);

/// One line of what `simverbs check` says about a right scenario: "incast: 20 hosts, 2 workloads, 5 expectations".
[[nodiscard]] std::string summary_of(const std::vector<ScenarioSpec>& runs);

}  // namespace simverbs::scenarios
