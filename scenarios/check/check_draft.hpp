// Finds everything that keeps a scenario from being run, in one go.
#pragma once

#include "scenarios/lang/scenario_loader.hpp"

namespace simverbs::scenarios {

/// Adds to `sink`, after what the language has found in the draft, whatever only the network, the flows and the
/// adapters show that it describes. What follows from an error that the draft has already is left out. Nothing is built
/// that a run would need.
void check_draft(const ScenarioDraft& draft, DiagnosticSink& sink);

/// Adds those of `found` that speak of a place in the file where `known` has nothing wrong.
void add_news(const DiagnosticSink& found, const DiagnosticSink& known, DiagnosticSink& sink);

}  // namespace simverbs::scenarios
