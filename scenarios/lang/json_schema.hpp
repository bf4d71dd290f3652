// A JSON Schema of the scenario language, so that editors complete and check scenario files.
#pragma once

#include <span>
#include <string>

#include "scenarios/lang/scenario_loader.hpp"

namespace simverbs::scenarios {

/// JSON Schema, draft 2020-12, from the tables that files are checked against; with `algorithms`, also the parameters
/// of congestion control. What only the loader can tell (names that exist, limits of quantities) is not in it.
[[nodiscard]] std::string json_schema(std::span<const KnownAlgorithm> algorithms);

}  // namespace simverbs::scenarios
