// The time stamp counter as programs see it: rdtsc faults (PR_SET_TSC) and the handler answers with the thread's clock.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace simverbs::client::clock {

/// Makes rdtsc and rdtscp fault in the calling thread; released before an exec, whose loader reads the counter.
void trap_tsc();
void release_tsc();

/// If the instruction that faulted is rdtsc or rdtscp: executes it on simulated time and returns true. One that traps
/// often is patched (tsc_patch.hpp).
bool emulate_tsc(ucontext_t* context);

/// The counter's value at the thread's clock; a read costs what the instruction does, and may yield (rule 6). `place`
/// as in clock_read.hpp.
uint64_t read_tsc(const void* place);

}  // namespace simverbs::client::clock
