#include "tools/simverbs/checked_scenarios.hpp"

#include <string_view>
#include <utility>

#include "scenarios/check/check_draft.hpp"
#include "tools/simverbs/user_error.hpp"

namespace simverbs::tools {

using scenarios::DiagnosticSink;
using scenarios::ScenarioSpec;

std::vector<ProgramCommand> parse_commands(const ScenarioSpec& spec, DiagnosticSink& sink) {
    std::vector<ProgramCommand> commands;
    for (const scenarios::ProgramSpec& program : spec.programs) {
        if (program.arguments.empty() && program.command_line.empty()) continue;  // has been reported
        try {
            commands.push_back(program.arguments.empty() ? parse_program(std::string_view(program.command_line))
                                                         : parse_program(program.arguments));
        } catch (const UserError& error) {
            sink.add(program.command_position, program.path + ".command", error.what());
        }
    }
    return commands;
}

std::optional<std::vector<ScenarioSpec>> load_checked(const std::string& file,
                                                      const scenarios::ScenarioOptions& options, DiagnosticSink& sink) {
    const std::size_t before = sink.reports();
    std::vector<scenarios::ScenarioDraft> drafts = scenarios::load_drafts(file, options, sink);
    for (const scenarios::ScenarioDraft& draft : drafts) {
        if (sink.is_full()) break;
        scenarios::check_draft(draft, sink);
        DiagnosticSink of_programs;
        (void)parse_commands(draft.spec, of_programs);
        scenarios::add_news(of_programs, draft.errors, sink);
    }
    if (sink.reports() != before) return std::nullopt;
    std::vector<ScenarioSpec> specs;
    specs.reserve(drafts.size());
    for (scenarios::ScenarioDraft& draft : drafts) specs.push_back(std::move(draft.spec));
    return specs;
}

}  // namespace simverbs::tools
