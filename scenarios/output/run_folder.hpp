// The folder of a run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/expect/verdict.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::scenarios::output {

/// Writes a file under another name and renames it, so that nobody ever reads half of it; makes its folder. "" or what
/// is wrong: where, what, what to do.
[[nodiscard]] std::string write_file(const std::filesystem::path& path, std::string_view text);

struct WrittenFiles {
    std::vector<std::filesystem::path> files;
    std::vector<std::string> errors;
};

/// Makes the folder and takes the result.json of an earlier run out of it: where one is, the run that wrote it has
/// ended. "" or what is wrong.
[[nodiscard]] std::string begin_run_folder(const std::filesystem::path& folder);

/// result.json, as the last, and before it of flows.csv, counters.csv, series.csv, fct.txt and trace.json those that
/// are asked for. Each is tried, whatever becomes of the others. report.html and captures are not made here.
[[nodiscard]] WrittenFiles write_run_folder(const std::filesystem::path& folder, const run::RunResult& result,
                                            const std::vector<expect::ExpectationVerdict>& verdicts,
                                            const OutputsSpec& outputs);

}  // namespace simverbs::scenarios::output
