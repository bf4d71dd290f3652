// A fault of scenarios: a thread that is about to arm an empty CQ is held until a completion is there.
#pragma once

#include "verbs_shim/client/verbs/objects.hpp"

namespace simverbs::client::verbs {

/// Waits, without the CQ's lock, until the empty CQ has a completion or patience ends. Only where RingHeader::aux asks.
void hold_arming(Cq& cq);

}  // namespace simverbs::client::verbs
