// What a reader of a timeline looks for: faults and what the protocol made of them.
#pragma once

#include <vector>

#include "models/timeline/timeline.hpp"
#include "models/timeline/work_record.hpp"

namespace simverbs::timeline {

/// By time. Packets and work requests must be in their final order.
[[nodiscard]] std::vector<Event> find_events(const Timeline& timeline,
                                             const std::vector<WorkRecord::Trouble>& troubles);

}  // namespace simverbs::timeline
