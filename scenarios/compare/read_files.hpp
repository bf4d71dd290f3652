// The files of a run's folder that a comparison reads, each for itself.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/compare/compared_run.hpp"
#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios::compare {

// `file` is the name for diagnostics; what is wrong is reported with its place and what was expected there.

/// result.json: everything but flows and samples. A file of another format or version is read no further.
void read_result(std::string_view text, const std::string& file, ComparedRun& run, DiagnosticSink& sink);

/// flows.csv: `result.flows` and their hosts. The groups must be there already.
void read_flows(std::string_view text, const std::string& file, run::RunResult& result, DiagnosticSink& sink);

/// series.csv: samples of ports and switches, and of those flows that are there already.
void read_series(std::string_view text, const std::string& file, run::RunResult& result, DiagnosticSink& sink);

}  // namespace simverbs::scenarios::compare
