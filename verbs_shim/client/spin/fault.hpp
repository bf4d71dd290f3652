// Where the signal handlers of the shim hand over to memory spinning and the time stamp counter.
#pragma once

#include <signal.h>

namespace simverbs::client::spin {

/// SIGSEGV and SIGTRAP. True if the fault was the shim's doing and has been dealt with.
bool handle_fault(int signal_number, const siginfo_t* info, void* context);

/// The server's question to a thread that burns CPU: is this a spin loop? (Rules 7, 8 and 13.)
void handle_probe(void* context);

}  // namespace simverbs::client::spin
