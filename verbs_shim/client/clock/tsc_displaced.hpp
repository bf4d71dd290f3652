// Which instruction after an rdtsc may run at another address: what a jump over the rdtsc displaces.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simverbs::client::clock {

/// Bytes of `mov`, `lea` or an arithmetic instruction between registers and memory, or of a shift of a 64-bit register
/// by a constant, at `code`; 0 for every other instruction, and for those that address memory relative to themselves.
/// Reads at most four bytes.
constexpr size_t displaceable_length(const uint8_t* code) {
    size_t length = 0;
    const bool rex = (code[0] & 0xF0) == 0x40;
    if (rex) ++length;
    const uint8_t opcode = code[length++];
    const uint8_t modrm = code[length++];
    const unsigned mod = modrm >> 6, rm = modrm & 7;
    if (opcode == 0xC1) {  // shl, shr r64, imm8
        const bool shift = (modrm & 0xF8) == 0xE0 || (modrm & 0xF8) == 0xE8;
        return rex && (code[0] & 8) != 0 && shift ? length + 1 : 0;
    }
    switch (opcode) {
        case 0x01:  // add
        case 0x03:
        case 0x09:  // or
        case 0x0B:
        case 0x29:  // sub
        case 0x2B:
        case 0x31:  // xor
        case 0x33:
        case 0x39:  // cmp
        case 0x3B:
        case 0x89:  // mov
        case 0x8B:
        case 0x8D:  // lea
            break;
        default:
            return 0;
    }
    if (mod == 3) return opcode == 0x8D ? 0 : length;
    if (mod == 0 && rm == 5) return 0;  // relative to RIP
    bool no_base = false;
    if (rm == 4) {  // SIB
        const uint8_t sib = code[length++];
        no_base = mod == 0 && (sib & 7) == 5;
    }
    if (mod == 1) return length + 1;
    return mod == 2 || no_base ? length + 4 : length;
}

}  // namespace simverbs::client::clock
