// Decodes the x86-64 instructions with which programs load from memory in a polling loop, and executes them on a value
// that was read some other way. What it does not know is single-stepped instead.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <optional>

namespace simverbs::client::spin {

enum class LoadKind : uint8_t {
    Move,      ///< mov r, m
    MoveZero,  ///< movzx
    MoveSign,  ///< movsx, movsxd
    Alu,       ///< add or adc sbb and sub xor cmp with the memory operand as a source; adc, sbb are not decoded
    Test,      ///< test m, r / test m, imm
};

/// The /n of x86's arithmetic group.
enum class AluOp : uint8_t { Add = 0, Or = 1, And = 4, Sub = 5, Xor = 6, Cmp = 7 };

struct Load {
    LoadKind kind = LoadKind::Move;
    AluOp op = AluOp::Cmp;
    uint8_t length = 0;    ///< of the instruction
    uint8_t size = 0;      ///< of the memory operand: 1, 2, 4, 8
    uint8_t reg_size = 0;  ///< of the register operand
    uint8_t reg = 0;       ///< 0…15; with high_byte: AH CH DH BH
    bool high_byte = false;
    bool memory_first = false;  ///< cmp m, r / cmp m, imm
    bool has_immediate = false;
    uint64_t immediate = 0;
    uint64_t address = 0;
};

/// The load at the context's RIP; nullopt for everything else (stores, SSE, string instructions, segment overrides).
std::optional<Load> decode_load(const ucontext_t& context);

/// Executes it: the memory operand has this value. Advances RIP.
void execute_load(ucontext_t& context, const Load& load, uint64_t value);

/// The same kinds of instruction between registers (mov, movzx, cmp, test, …): executes the one at RIP and advances
/// RIP. False, and nothing has happened, for every other instruction.
bool execute_on_registers(ucontext_t& context);

/// A general register by its number in the instruction set.
greg_t& general_register(ucontext_t& context, unsigned number);

/// The memory operand of a ModRM byte.
struct Operand {
    bool is_memory = false;
    uint8_t reg = 0, rm = 0;    ///< with REX bits
    uint8_t length = 0;         ///< ModRM, SIB and displacement
    bool rip_relative = false;  ///< `address` lacks the address of the next instruction
    uint64_t address = 0;
};
Operand decode_modrm(const ucontext_t& context, const uint8_t* modrm, uint8_t rex);

}  // namespace simverbs::client::spin
