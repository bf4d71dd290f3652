// The page of a timeline: one file that opens without a network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/timeline/timeline.hpp"

namespace simverbs::scenarios::timeline {

/// What the page says beside the timeline itself.
struct TimelineFacts {
    std::string title;                                          ///< the lab's or the scenario's name
    std::vector<std::pair<std::string, std::string>> facts;     ///< "seed" → "1"
    std::vector<std::pair<std::string, std::string>> programs;  ///< "h0" → its command
    std::string how_to_keep_more;                               ///< "--timeline-packets": followed by a number
};

[[nodiscard]] std::string render_timeline(const simverbs::timeline::Timeline& timeline, const TimelineFacts& facts);

/// What of the run the page does not have, in whole sentences; "" if it has everything.
[[nodiscard]] std::string left_out_text(const simverbs::timeline::Timeline& timeline,
                                        const std::string& how_to_keep_more);

}  // namespace simverbs::scenarios::timeline
