// Timelines of runs that never were, for tests of their page: plausible at a glance, the same every time.
#pragma once

#include "models/timeline/timeline.hpp"
#include "scenarios/timeline/timeline_page.hpp"

namespace simverbs::scenarios::timeline {

/// A connection by CM MADs and forty messages to and fro: one lost and sent again after a timeout, one NAK, one RNR
/// NAK, a corrupt and a delayed packet, at the end an error.
[[nodiscard]] simverbs::timeline::Timeline rich_timeline();
/// One host, nothing else.
[[nodiscard]] simverbs::timeline::Timeline empty_timeline();
/// Four hosts, eighty queue pairs, `packets` packets back to back, of which more were sent.
[[nodiscard]] simverbs::timeline::Timeline large_timeline(uint32_t packets);
/// Names and texts with markup, quotes, bytes that are not UTF-8; queue pairs without packets, packets without queue
/// pairs.
[[nodiscard]] simverbs::timeline::Timeline hostile_timeline();

[[nodiscard]] TimelineFacts sample_facts();

}  // namespace simverbs::scenarios::timeline
