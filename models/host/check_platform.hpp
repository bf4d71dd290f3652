// What is wrong with a platform, before it is built.
#pragma once

#include <string>
#include <vector>

#include "models/host/platform_spec.hpp"

namespace simverbs::host {

/// A mistake in a PlatformSpec.
struct PlatformProblem {
    std::string where;    ///< "gpus[3].slot"
    std::string problem;  ///< what is wrong, and what was expected
};

/// All of them; a platform without any can be built.
[[nodiscard]] std::vector<PlatformProblem> check_platform(const PlatformSpec& platform);

}  // namespace simverbs::host
