// A proven spinner's wait.
#pragma once

#include <cstdint>

namespace simverbs::client::spin {

/// Gives up the turn until something becomes visible to the process, or another of its threads has run. `address` is
/// for the stall report.
void wait_for_change(uint64_t rip, uint64_t address);

}  // namespace simverbs::client::spin
