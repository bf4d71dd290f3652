// Scenario files for `run` and `check`: both find the same mistakes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/scenario_loader.hpp"
#include "tools/simverbs/program_command.hpp"

namespace simverbs::tools {

/// The runs of a scenario file. Everything that keeps one of them from being run is added to `sink`; nullopt if there
/// was anything.
[[nodiscard]] std::optional<std::vector<scenarios::ScenarioSpec>> load_checked(
    const std::string& file, const scenarios::ScenarioOptions& options, scenarios::DiagnosticSink& sink);

/// The programs of a scenario as they are started; reports those that cannot be.
[[nodiscard]] std::vector<ProgramCommand> parse_commands(const scenarios::ScenarioSpec& spec,
                                                         scenarios::DiagnosticSink& sink);

}  // namespace simverbs::tools
