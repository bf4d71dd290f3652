// Taking completions out of a CQ's ring, and what an empty CQ means for the turn.
#pragma once

#include "verbs_shim/client/verbs/objects.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::verbs {

/// The next completion, or null. The caller holds the CQ's lock. Completions of destroyed QPs are skipped.
const protocol::CqSlot* peek_completion(Cq& cq) noexcept;
/// Takes the completion that peek_completion gave: frees the places of the WQEs that it retires.
void take_completion(Cq& cq, const protocol::CqSlot& slot) noexcept;
/// Gives the ring's places back to the HCA, once a call.
void return_places(Cq& cq) noexcept;

/// A poll found nothing (the lock is not held). Charges its cost; the second time in a row without a post or anything
/// new to see, waits until there is something (rule 5 of the turn protocol). Returns false if there will never be
/// anything: the server has gone.
bool on_empty_poll(Cq& cq);
/// Before a poll looks: lets others run if the thread has reached its horizon.
void before_poll(Cq& cq);

}  // namespace simverbs::client::verbs
