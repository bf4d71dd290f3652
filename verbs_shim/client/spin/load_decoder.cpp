#include "verbs_shim/client/spin/load_decoder.hpp"

#include <cstring>

namespace simverbs::client::spin {

#if defined(__x86_64__)

namespace {

constexpr uint8_t kRexW = 8, kRexR = 4, kRexX = 2, kRexB = 1;

template <typename T>
T read_unaligned(const uint8_t* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

/// Sign-extended immediate of `bytes` bytes.
uint64_t immediate_at(const uint8_t* p, unsigned bytes) {
    switch (bytes) {
        case 1:
            return static_cast<uint64_t>(int64_t{read_unaligned<int8_t>(p)});
        case 2:
            return static_cast<uint64_t>(int64_t{read_unaligned<int16_t>(p)});
        default:
            return static_cast<uint64_t>(int64_t{read_unaligned<int32_t>(p)});
    }
}

uint64_t truncate(uint64_t v, unsigned bytes) {
    return bytes == 8 ? v : v & ((uint64_t{1} << (8 * bytes)) - 1);
}

uint64_t sign_extend(uint64_t v, unsigned bytes) {
    const unsigned shift = 64 - 8 * bytes;
    return static_cast<uint64_t>(static_cast<int64_t>(v << shift) >> shift);
}

uint64_t read_register(ucontext_t& c, const Load& l) {
    const auto full = static_cast<uint64_t>(general_register(c, l.reg));
    return truncate(l.high_byte ? full >> 8 : full, l.reg_size);
}

void write_register(ucontext_t& c, const Load& l, uint64_t value) {
    greg_t& r = general_register(c, l.reg);
    auto full = static_cast<uint64_t>(r);
    switch (l.reg_size) {
        case 1:
            full = l.high_byte ? (full & ~uint64_t{0xFF00}) | (value & 0xFF) << 8
                               : (full & ~uint64_t{0xFF}) | (value & 0xFF);
            break;
        case 2:
            full = (full & ~uint64_t{0xFFFF}) | (value & 0xFFFF);
            break;
        case 4:
            full = value & 0xFFFFFFFF;
            break;  // a 32-bit write clears the upper half
        default:
            full = value;
            break;
    }
    r = static_cast<greg_t>(full);
}

constexpr greg_t kArithmeticFlags = 0x8D5;  // CF PF AF ZF SF OF

// Past the red zone, which the compiler may be using.
#define SIMVERBS_COMPUTE(instruction)                                                                     \
    __asm__(instruction " %2, %0\n\tlea -128(%%rsp), %%rsp\n\tpushfq\n\tpopq %1\n\tlea 128(%%rsp), %%rsp" \
            : "+r"(a), "=&r"(f)                                                                           \
            : "r"(b)                                                                                      \
            : "cc")

/// Computes `a op b` in `bytes` bytes; the processor itself makes the flags.
template <typename T>
uint64_t compute(AluOp op, T a, T b, greg_t& flags) {
    uint64_t f = 0;
    switch (op) {
        case AluOp::Add:
            SIMVERBS_COMPUTE("add");
            break;
        case AluOp::Or:
            SIMVERBS_COMPUTE("or");
            break;
        case AluOp::And:
            SIMVERBS_COMPUTE("and");
            break;
        case AluOp::Sub:
        case AluOp::Cmp:
            SIMVERBS_COMPUTE("sub");
            break;
        case AluOp::Xor:
            SIMVERBS_COMPUTE("xor");
            break;
    }
    flags = (flags & ~kArithmeticFlags) | (static_cast<greg_t>(f) & kArithmeticFlags);
    return a;
}

#undef SIMVERBS_COMPUTE

uint64_t compute_sized(AluOp op, unsigned bytes, uint64_t a, uint64_t b, greg_t& flags) {
    switch (bytes) {
        case 1:
            return compute(op, static_cast<uint8_t>(a), static_cast<uint8_t>(b), flags);
        case 2:
            return compute(op, static_cast<uint16_t>(a), static_cast<uint16_t>(b), flags);
        case 4:
            return compute(op, static_cast<uint32_t>(a), static_cast<uint32_t>(b), flags);
        default:
            return compute(op, a, b, flags);
    }
}

bool is_decoded_alu(unsigned n) {
    return n == 0 || n == 1 || (n >= 4 && n <= 7);
}

/// Prefixes in front of the opcode; false if there is one that the decoder does not know.
struct Prefixes {
    bool operand_size = false;
    uint8_t rex = 0;
    uint8_t length = 0;
};
bool read_prefixes(const uint8_t* code, Prefixes& p) {
    const uint8_t* at = code;
    if (*at == 0x66) {
        p.operand_size = true;
        ++at;
    }
    if ((*at & 0xF0) == 0x40) p.rex = *at++;
    p.length = static_cast<uint8_t>(at - code);
    return *at != 0x66 && *at != 0x67 && *at != 0xF0 && *at != 0xF2 && *at != 0xF3 && *at != 0x64 && *at != 0x65;
}

/// Fills in what the opcode says; `imm` is the number of immediate bytes. False if it is not a load.
bool classify(const uint8_t* opcode, unsigned operand_bytes, uint8_t modrm_reg, Load& l, unsigned& imm) {
    imm = 0;
    l.size = l.reg_size = static_cast<uint8_t>(operand_bytes);
    const uint8_t op = opcode[0];
    if (op == 0x0F) {
        const bool zero = (opcode[1] & 0xFE) == 0xB6, sign = (opcode[1] & 0xFE) == 0xBE;
        if (!zero && !sign) return false;
        l.kind = zero ? LoadKind::MoveZero : LoadKind::MoveSign;
        l.size = (opcode[1] & 1) != 0 ? 2 : 1;
        return true;
    }
    if (op < 0x40 && is_decoded_alu(op >> 3)) {
        const unsigned form = op & 7;  // 0, 1: m ← m op r (only cmp does not store); 2, 3: r ← r op m
        if (form > 3) return false;
        l.kind = LoadKind::Alu;
        l.op = static_cast<AluOp>(op >> 3);
        l.memory_first = form < 2;
        if (l.memory_first && l.op != AluOp::Cmp) return false;
        if ((form & 1) == 0) l.size = l.reg_size = 1;
        return true;
    }
    switch (op) {
        case 0x8A:
            l.size = l.reg_size = 1;
            return true;
        case 0x8B:
            return true;
        case 0x63:
            l.kind = LoadKind::MoveSign;
            l.size = 4;
            return operand_bytes == 8;
        case 0x84:
            l.kind = LoadKind::Test;
            l.size = l.reg_size = 1;
            return true;
        case 0x85:
            l.kind = LoadKind::Test;
            return true;
        case 0x80:
        case 0x81:
        case 0x83:
            if ((modrm_reg & 7) != 7) return false;
            l.kind = LoadKind::Alu;
            l.op = AluOp::Cmp;
            l.memory_first = l.has_immediate = true;
            if (op == 0x80) l.size = l.reg_size = 1;
            imm = op == 0x81 ? (operand_bytes == 2 ? 2 : 4) : 1;
            return true;
        case 0xF6:
        case 0xF7:
            if ((modrm_reg & 6) != 0) return false;
            l.kind = LoadKind::Test;
            l.has_immediate = true;
            if (op == 0xF6) l.size = l.reg_size = 1;
            imm = op == 0xF6 ? 1 : (operand_bytes == 2 ? 2 : 4);
            return true;
        default:
            return false;
    }
}

}  // namespace

greg_t& general_register(ucontext_t& context, unsigned number) {
    static constexpr int kPlace[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return context.uc_mcontext.gregs[kPlace[number & 15]];
}

Operand decode_modrm(const ucontext_t& context, const uint8_t* modrm, uint8_t rex) {
    auto& c = const_cast<ucontext_t&>(context);
    Operand o;
    const uint8_t byte = *modrm;
    const unsigned mod = byte >> 6;
    const uint8_t* at = modrm + 1;
    o.reg = static_cast<uint8_t>(((byte >> 3) & 7) | ((rex & kRexR) != 0 ? 8 : 0));
    o.rm = static_cast<uint8_t>((byte & 7) | ((rex & kRexB) != 0 ? 8 : 0));
    o.is_memory = mod != 3;
    if (o.is_memory) {
        unsigned displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;
        uint64_t address = 0;
        if ((byte & 7) == 4) {
            const uint8_t sib = *at++;
            const unsigned index = ((sib >> 3) & 7) | ((rex & kRexX) != 0 ? 8U : 0U);
            const unsigned base = (sib & 7) | ((rex & kRexB) != 0 ? 8U : 0U);
            if ((sib & 7) == 5 && mod == 0)
                displacement = 4;
            else
                address = static_cast<uint64_t>(general_register(c, base));
            if (index != 4) address += static_cast<uint64_t>(general_register(c, index)) << (sib >> 6);
        } else if ((byte & 7) == 5 && mod == 0) {
            displacement = 4;
            o.rip_relative = true;
        } else {
            address = static_cast<uint64_t>(general_register(c, o.rm));
        }
        if (displacement != 0) address += immediate_at(at, displacement);
        at += displacement;
        o.address = address;
    }
    o.length = static_cast<uint8_t>(at - modrm);
    return o;
}

namespace {

/// A byte register without a REX prefix: 4 … 7 are AH CH DH BH.
bool is_high_byte(unsigned bytes, uint8_t rex, uint8_t number) {
    return bytes == 1 && rex == 0 && number >= 4 && number < 8;
}

/// The instruction at RIP; `operand` is what stands where a load has its memory operand.
std::optional<Load> decode(const ucontext_t& context, Prefixes& p, Operand& operand) {
    const auto* const code = reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
    if (!read_prefixes(code, p)) return std::nullopt;
    const uint8_t* const opcode = code + p.length;
    const uint8_t* const modrm = opcode + (opcode[0] == 0x0F ? 2 : 1);
    const unsigned operand_bytes = (p.rex & kRexW) != 0 ? 8 : p.operand_size ? 2 : 4;
    operand = decode_modrm(context, modrm, p.rex);
    Load l;
    unsigned imm = 0;
    if (!classify(opcode, operand_bytes, operand.reg, l, imm)) return std::nullopt;
    const uint8_t* const after = modrm + operand.length;
    if (l.has_immediate) l.immediate = immediate_at(after, imm);
    l.length = static_cast<uint8_t>(after + imm - code);
    l.address = operand.address;
    if (operand.rip_relative) l.address += static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]) + l.length;
    l.reg = operand.reg;
    if (is_high_byte(l.reg_size, p.rex, l.reg)) {
        l.high_byte = true;
        l.reg = static_cast<uint8_t>(l.reg - 4);
    }
    return l;
}

}  // namespace

std::optional<Load> decode_load(const ucontext_t& context) {
    Prefixes p;
    Operand operand;
    auto load = decode(context, p, operand);
    return load && operand.is_memory ? load : std::nullopt;
}

bool execute_on_registers(ucontext_t& context) {
    Prefixes p;
    Operand operand;
    const auto like_load = decode(context, p, operand);
    if (!like_load || operand.is_memory) return false;
    const bool high = is_high_byte(like_load->size, p.rex, operand.rm);
    const auto full = static_cast<uint64_t>(general_register(context, high ? operand.rm - 4U : operand.rm));
    execute_load(context, *like_load, high ? full >> 8 : full);
    return true;
}

void execute_load(ucontext_t& context, const Load& load, uint64_t value) {
    value = truncate(value, load.size);
    greg_t& flags = context.uc_mcontext.gregs[REG_EFL];
    switch (load.kind) {
        case LoadKind::Move:
        case LoadKind::MoveZero:
            write_register(context, load, value);
            break;
        case LoadKind::MoveSign:
            write_register(context, load, sign_extend(value, load.size));
            break;
        case LoadKind::Test:
            compute_sized(AluOp::And, load.size, value,
                          load.has_immediate ? load.immediate : read_register(context, load), flags);
            break;
        case LoadKind::Alu: {
            const uint64_t other = load.has_immediate ? load.immediate : read_register(context, load);
            const uint64_t result = load.memory_first ? compute_sized(load.op, load.size, value, other, flags)
                                                      : compute_sized(load.op, load.size, other, value, flags);
            if (load.op != AluOp::Cmp) write_register(context, load, result);
            break;
        }
    }
    context.uc_mcontext.gregs[REG_RIP] += load.length;
}

#else

std::optional<Load> decode_load(const ucontext_t&) {
    return std::nullopt;
}
void execute_load(ucontext_t&, const Load&, uint64_t) {}
bool execute_on_registers(ucontext_t&) {
    return false;
}

#endif

}  // namespace simverbs::client::spin
