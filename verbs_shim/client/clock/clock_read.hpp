// One read of a clock by the program.
#pragma once

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::clock {

/// The thread's clock in picoseconds after charging the read. From the second read in a row on it may yield (rule 6).
/// `place` is where in the program it is: a loop that reads the clock at one place over and over waits for a time to
/// come, and each read costs more (clock.cpp). Inside the shim it only reads.
int64_t read_clock(int64_t cost_ps, protocol::Stat counter, const void* place);

/// Clock of a thread (process) since it (its first thread) began: what CPU-time clocks show.
int64_t thread_time_ps();
int64_t process_time_ps();

/// True if clocks of this process are simulated: in a lab with a virtual clock, also after its server's end.
bool is_simulated();

}  // namespace simverbs::client::clock
