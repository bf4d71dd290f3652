// The platforms of scenarios/library/platforms, which every simverbs has in it.
#pragma once

#include <vector>

#include "scenarios/lang/lab_loader.hpp"

namespace simverbs::scenarios {

/// By name.
[[nodiscard]] std::vector<KnownPlatform> built_in_platforms();

}  // namespace simverbs::scenarios
