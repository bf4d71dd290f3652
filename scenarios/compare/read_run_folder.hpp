// Folders of runs, read back.
#pragma once

#include <string>
#include <vector>

#include "scenarios/compare/compared_run.hpp"
#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios::compare {

/// Reads the folders of runs that have ended, as docs/result_format.md describes them: result.json, and flows.csv and
/// series.csv where they are. A folder with one run in it stands for that run. Every mistake in every folder is
/// reported; then the runs are not to be used.
[[nodiscard]] std::vector<ComparedRun> read_run_folders(std::vector<std::string> folders, DiagnosticSink& sink);

/// "A" for the first run, "B" for the second, …
[[nodiscard]] std::string column_name(std::size_t run);

}  // namespace simverbs::scenarios::compare
