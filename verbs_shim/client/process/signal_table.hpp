// The program's signal handlers. In a virtual-clock lab the kernel calls ours, which runs the program's only while its
// thread has the turn and is not inside the shim; otherwise the signal waits until the thread leaves the shim.
#pragma once

#include <signal.h>

#include <cstdint>

namespace simverbs::client::process {

/// Installs what the shim itself needs: SIGSEGV (time stamp counter, memory spinning) and the server's probe signal.
void install_handlers();

/// Runs the program's handler of `info.si_signo` as the kernel would (mask, SA_RESETHAND). Returns true if the handler
/// asks for interrupted calls to be restarted, and if there is no handler any more.
bool run_program_handler(const siginfo_t& info);

/// True if the program has a handler of its own for the signal.
bool has_program_handler(int signal_number);

/// Sends a signal that a simulated timer raises: to the main thread unless it blocks it, else to the calling one.
void raise_from_timer(int signal_number, int si_code, int64_t value);

/// A fault that is not ours: the program's handler, or death as without the shim.
void forward_fault(int signal_number, siginfo_t* info, void* context);

}  // namespace simverbs::client::process
