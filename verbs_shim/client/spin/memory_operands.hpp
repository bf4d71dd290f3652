// Which memory an instruction touches: enough of an x86-64 decoder for proving loops.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace simverbs::client::spin {

struct MemoryOperands {
    uint64_t address[2] = {};
    unsigned count = 0;
};

/// Addresses of the memory operands of the instruction at RIP (explicit and stack). False if the instruction is one
/// whose effects are not known here: system calls, string instructions, segment overrides, what is rare.
bool find_memory_operands(const ucontext_t& context, MemoryOperands& out);

}  // namespace simverbs::client::spin
