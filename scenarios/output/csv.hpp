// Fields of comma-separated values (RFC 4180, lines end by a newline alone).
#pragma once

#include <string>
#include <string_view>

#include "sim/sim_time.hpp"

namespace simverbs::scenarios::output {

/// `text`, in quotation marks if it needs them.
[[nodiscard]] std::string csv_field(std::string_view text);

/// In ps; "" for SimTime::max(), which is never.
[[nodiscard]] std::string csv_time(sim::SimTime time);

}  // namespace simverbs::scenarios::output
