// The threads of a process that take part in the turn protocol.
#pragma once

#include <cstdint>

namespace simverbs::client::process {

void remember_main_thread(uint32_t slot);
/// Slot of the main thread: the same in every run, so it tells processes of one program apart.
uint32_t main_slot();

/// In the child of fork(): only the calling thread is left.
void forget_other_threads();

/// Which thread of the process gets a signal that is meant for all of it: the main thread unless it has ended or
/// blocks the signal, else the calling one.
int thread_for_signal(int pid, int self, int signal_number);

}  // namespace simverbs::client::process
