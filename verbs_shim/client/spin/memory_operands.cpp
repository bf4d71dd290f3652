#include "verbs_shim/client/spin/memory_operands.hpp"

#include "verbs_shim/client/spin/load_decoder.hpp"

namespace simverbs::client::spin {

#if defined(__x86_64__)

namespace {

enum class Map : uint8_t { One, Two, Three8, ThreeA };

/// How an opcode's operands are encoded.
struct Shape {
    bool known = true;
    bool modrm = false;
    uint8_t immediate = 0;
    bool stack = false;  ///< pushes or pops
};

constexpr uint8_t kFs = 0x64;

/// Base of the segment that thread-local variables are reached by: its first word points to itself (the psABI's TLS).
uint64_t thread_pointer() {
    return reinterpret_cast<uint64_t>(__builtin_thread_pointer());
}

Shape one_byte(uint8_t op, uint8_t modrm, bool small) {
    const uint8_t wide = small ? 2 : 4;
    const unsigned group = (modrm >> 3) & 7;
    if (op < 0x40) {
        switch (op & 7) {
            case 0:
            case 1:
            case 2:
            case 3:
                return {true, true, 0, false};
            case 4:
                return {true, false, 1, false};
            case 5:
                return {true, false, wide, false};
            default:
                return {false};
        }
    }
    if (op >= 0x50 && op <= 0x5F) return {true, false, 0, true};
    if (op >= 0x70 && op <= 0x7F) return {true, false, 1, false};
    if ((op >= 0x84 && op <= 0x8B) || op == 0x8D || op == 0x63) return {true, true, 0, false};
    if (op >= 0x90 && op <= 0x99) return {true, false, 0, false};
    if (op >= 0xB0 && op <= 0xB7) return {true, false, 1, false};
    if (op >= 0xB8 && op <= 0xBF) return {true, false, wide, false};
    if (op >= 0xE0 && op <= 0xE3) return {true, false, 1, false};
    if (op >= 0xD0 && op <= 0xD3) return {true, true, 0, false};
    switch (op) {
        case 0x68:
            return {true, false, 4, true};
        case 0x6A:
            return {true, false, 1, true};
        case 0x69:
            return {true, true, wide, false};
        case 0x6B:
        case 0x80:
        case 0x83:
        case 0xC0:
        case 0xC1:
        case 0xC6:
            return {true, true, 1, false};
        case 0x81:
        case 0xC7:
            return {true, true, wide, false};
        case 0xA8:
            return {true, false, 1, false};
        case 0xA9:
            return {true, false, wide, false};
        case 0xC2:
            return {true, false, 2, true};
        case 0xC3:
        case 0xC9:
            return {true, false, 0, true};
        case 0xE8:
            return {true, false, 4, true};
        case 0xE9:
            return {true, false, 4, false};
        case 0xEB:
            return {true, false, 1, false};
        case 0xF6:
            return {true, true, static_cast<uint8_t>(group < 2 ? 1 : 0), false};
        case 0xF7:
            return {true, true, static_cast<uint8_t>(group < 2 ? wide : 0), false};
        case 0xFE:
            return {true, true, 0, false};
        case 0xFF:
            return {true, true, 0, group == 2 || group == 6};
        default:
            return {false};
    }
}

Shape two_bytes(uint8_t op) {
    if (op == 0x05 || op == 0x0B || op == 0x31 || op == 0x34 || op == 0xA2 || op == 0xAE || op == 0xC7 || op == 0x01)
        return {op == 0xAE, true, 0, false};  // fences pass; system calls, counters, cpuid don't
    if (op >= 0x80 && op <= 0x8F) return {true, false, 4, false};
    if (op >= 0xC8 && op <= 0xCF) return {true, false, 0, false};
    if (op == 0x77) return {true, false, 0, false};
    const bool immediate = (op >= 0x70 && op <= 0x73) || op == 0xA4 || op == 0xAC || op == 0xBA || op == 0xC2 ||
                           (op >= 0xC4 && op <= 0xC6);
    return {true, true, static_cast<uint8_t>(immediate ? 1 : 0), false};
}

}  // namespace

bool find_memory_operands(const ucontext_t& context, MemoryOperands& out) {
    const auto& g = context.uc_mcontext.gregs;
    const auto* const code = reinterpret_cast<const uint8_t*>(g[REG_RIP]);
    const uint8_t* at = code;
    bool small = false;
    uint64_t segment = 0;
    for (; *at == 0x66 || *at == 0xF2 || *at == 0xF3 || *at == 0xF0 || *at == 0x2E || *at == 0x3E || *at == kFs; ++at) {
        small = small || *at == 0x66;
        if (*at == kFs) segment = thread_pointer();
    }
    uint8_t rex = 0;
    if ((*at & 0xF0) == 0x40) rex = *at++;
    if ((rex & 8) != 0) small = false;
    Map map = Map::One;
    if (*at == 0xC5) {
        rex = static_cast<uint8_t>((at[1] & 0x80) != 0 ? 0 : 4);
        map = Map::Two;
        at += 2;
    } else if (*at == 0xC4) {
        rex = static_cast<uint8_t>((~at[1] >> 5) & 7);
        const uint8_t m = at[1] & 0x1F;
        if (m < 1 || m > 3) return false;
        map = m == 1 ? Map::Two : m == 2 ? Map::Three8 : Map::ThreeA;
        at += 3;
    } else if (*at == 0x0F) {
        map = at[1] == 0x38 ? Map::Three8 : at[1] == 0x3A ? Map::ThreeA : Map::Two;
        at += map == Map::Two ? 1 : 2;
    }
    const uint8_t op = *at++;
    Shape shape;
    switch (map) {
        case Map::One:
            shape = one_byte(op, *at, small);
            break;
        case Map::Two:
            shape = two_bytes(op);
            break;
        case Map::Three8:
            shape = {true, true, 0, false};
            break;
        case Map::ThreeA:
            shape = {true, true, 1, false};
            break;
    }
    if (!shape.known) return false;
    out.count = 0;
    if (shape.modrm) {
        const Operand operand = decode_modrm(context, at, rex);
        at += operand.length;
        const bool is_address_only = map == Map::One && op == 0x8D;                          // lea
        const bool is_hint = map == Map::Two && (op == 0x0D || (op >= 0x18 && op <= 0x1F));  // prefetch, nop
        if (operand.is_memory && !is_address_only && !is_hint) {
            const uint64_t next =
                static_cast<uint64_t>(at + shape.immediate - code) + static_cast<uint64_t>(g[REG_RIP]);
            out.address[out.count++] = segment + operand.address + (operand.rip_relative ? next : 0);
        }
    }
    if (shape.stack) out.address[out.count++] = static_cast<uint64_t>(g[REG_RSP]) - 8;
    return true;
}

#else

bool find_memory_operands(const ucontext_t&, MemoryOperands&) {
    return false;
}

#endif

}  // namespace simverbs::client::spin
