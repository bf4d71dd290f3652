// Proves by single steps that a thread is in a loop that nothing but somebody else's write can end: it comes back to
// the same instruction with the same registers, and every memory cell that the round used is as it was.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace simverbs::client::spin {

/// Starts stepping the interrupted thread.
void begin_step_proof(ucontext_t& context);

/// SIGTRAP: true if it was ours.
bool on_step(ucontext_t& context);

/// Lets one instruction run that the decoder does not know, on a page that is open for it; `page` is protected again
/// after it.
void step_over_load(ucontext_t& context, uintptr_t page);

}  // namespace simverbs::client::spin
