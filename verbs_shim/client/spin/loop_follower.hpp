// Executes the few instructions between two loads of a polling loop inside the fault handler, so that one trap serves
// several loads.
#pragma once

#include <ucontext.h>

namespace simverbs::client::spin {

/// Goes on from the context's RIP through comparisons, moves between registers, branches and loads from accessible
/// memory, to the next load from a protected page. False if something else comes first: the context stands before it.
bool follow_to_load(ucontext_t& context);

}  // namespace simverbs::client::spin
