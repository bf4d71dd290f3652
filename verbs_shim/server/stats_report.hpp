// The table of --stats: what zero copy and kernel bypass mean, in numbers.
#pragma once

#include <string>
#include <vector>

#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {

/// One column per program, named as in `names` (by its place on the command line). Call it before the lab ends.
[[nodiscard]] std::string stats_table(Lab& lab, const std::vector<std::string>& names);

}  // namespace simverbs::server
