// An rdtsc that traps again and again becomes a jump to a stub that asks for the clock without a trap (2.8 us).
//
// The jump takes the place of the rdtsc and of the first bytes of the instruction behind it, which the stub executes
// before it jumps back. The stub lies where the jump's third byte, the address of that instruction, reads as `hlt`: who
// comes there (a branch of the program, a thread that was interrupted between the two) faults and is led into the stub.
// Only code in private, read-only file mappings is touched. All else keeps the trap.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace simverbs::client::clock {

/// The rdtsc at `site` has trapped and been answered. Patches it if it has done so often enough and can be patched.
/// Only for a thread that has the turn.
void note_tsc_trap(const uint8_t* site);

/// True if the fault was the `hlt` of a patch: the context goes on in the stub.
bool enter_stub(ucontext_t* context);

}  // namespace simverbs::client::clock
