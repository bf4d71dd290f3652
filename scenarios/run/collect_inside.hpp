// From the platforms of a run's hosts to what its result says of them.
#pragma once

#include "scenarios/run/build_adapters.hpp"
#include "scenarios/run/run_result.hpp"

namespace simverbs::fabric {
class Adapters;
}

namespace simverbs::scenarios::run {

/// Names of devices and links; nothing is measured yet.
void name_insides(const BuiltAdapters& adapters, RunResult& result);
/// At the end: how busy each part was, up to the result's simulated time.
void collect_insides(const fabric::Adapters& adapters, RunResult& result);

}  // namespace simverbs::scenarios::run
