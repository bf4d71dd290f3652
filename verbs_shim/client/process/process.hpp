// Threads, children and randomness of a lab's processes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simverbs::client::process {

/// Bytes that getrandom(), /dev/urandom and /dev/random give: from the lab's seed, the program's place on the command
/// line and the ordinal of the draw in this process, so that two runs see the same.
void random_bytes(void* buffer, size_t bytes);

/// Marks calls on a child's end: the shared object that waitpid() waits for.
uint64_t exit_key(uint32_t process);

}  // namespace simverbs::client::process
