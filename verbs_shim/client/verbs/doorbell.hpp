// Telling the HCA that something was posted.
#pragma once

#include <cstdint>

#include "verbs_shim/client/verbs/objects.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::verbs {

/// Announces `count` WQEs of `object`, stamped with the thread's clock. Waits while the doorbell ring is full; if the
/// server has gone it returns at once.
void ring_doorbell(const Context& context, uint32_t object, protocol::DoorbellKind kind, uint32_t count);

/// Doorbells of this process so far: two empty polls with the same value had no post between them.
uint64_t doorbells_rung() noexcept;

}  // namespace simverbs::client::verbs
