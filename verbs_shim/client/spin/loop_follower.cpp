#include "verbs_shim/client/spin/loop_follower.hpp"

#include <cstring>

#include "verbs_shim/client/spin/dma_pages.hpp"
#include "verbs_shim/client/spin/load_decoder.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"

namespace simverbs::client::spin {

#if defined(__x86_64__)

namespace {

/// A polling loop is short; whatever is longer goes on by itself.
constexpr int kMaxInstructions = 12;

/// No instruction is longer; the decoder may look that far.
constexpr uintptr_t kLongestInstruction = 15;

constexpr greg_t kCarry = 1, kParity = 4, kZero = 0x40, kSign = 0x80, kTrap = 0x100, kOverflow = 0x800;

/// The condition code of Jcc (Intel SDM 1, appendix B), odd ones negated.
bool holds(unsigned code, greg_t flags) {
    const bool sign = (flags & kSign) != 0, overflow = (flags & kOverflow) != 0;
    bool yes = false;
    switch (code >> 1) {
        case 0:
            yes = overflow;
            break;
        case 1:
            yes = (flags & kCarry) != 0;
            break;
        case 2:
            yes = (flags & kZero) != 0;
            break;
        case 3:
            yes = (flags & (kCarry | kZero)) != 0;
            break;
        case 4:
            yes = sign;
            break;
        case 5:
            yes = (flags & kParity) != 0;
            break;
        case 6:
            yes = sign != overflow;
            break;
        default:
            yes = (flags & kZero) != 0 || sign != overflow;
            break;
    }
    return yes != ((code & 1) != 0);
}

/// Reads memory that is accessible if it is there at all: the stack is. Nothing is unmapped while the thread keeps to
/// its own code, so that another page which has been read once is read directly until the next call.
bool read_accessible(const ucontext_t& context, uint64_t address, void* out, size_t bytes) {
    thread_local uintptr_t page __attribute__((tls_model("initial-exec"))) = 0;
    thread_local uint32_t stretch __attribute__((tls_model("initial-exec"))) = 0;
    const auto stack_pointer = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
    if ((page == page_of(address) && stretch == turn::t_state.entries) ||
        is_stack_in_use(page_of(address), stack_pointer)) {
        std::memcpy(out, reinterpret_cast<const void*>(address), bytes);
        return true;
    }
    if (!read_protected(address, out, bytes)) return false;
    page = page_of(address);
    stretch = turn::t_state.entries;
    return true;
}

void jump(greg_t& rip, unsigned length, const uint8_t* displacement, bool wide, bool taken) {
    int32_t relative = static_cast<int8_t>(*displacement);
    if (wide) std::memcpy(&relative, displacement, sizeof relative);
    rip += static_cast<greg_t>(length) + (taken ? relative : 0);
}

/// Jcc and jmp with a displacement.
bool execute_branch(ucontext_t& context) {
    greg_t& rip = context.uc_mcontext.gregs[REG_RIP];
    const greg_t flags = context.uc_mcontext.gregs[REG_EFL];
    const auto* const code = reinterpret_cast<const uint8_t*>(rip);
    if ((code[0] & 0xF0) == 0x70) {
        jump(rip, 2, code + 1, false, holds(code[0] & 15, flags));
    } else if (code[0] == 0x0F && (code[1] & 0xF0) == 0x80) {
        jump(rip, 6, code + 2, true, holds(code[1] & 15, flags));
    } else if (code[0] == 0xEB) {
        jump(rip, 2, code + 1, false, true);
    } else if (code[0] == 0xE9) {
        jump(rip, 5, code + 1, true, true);
    } else {
        return false;
    }
    return true;
}

}  // namespace

bool follow_to_load(ucontext_t& context) {
    // Whoever is single-stepped must see each instruction.
    if ((context.uc_mcontext.gregs[REG_EFL] & kTrap) != 0) return false;
    for (int i = 0; i < kMaxInstructions; ++i) {
        const auto rip = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
        if (page_of(rip + kLongestInstruction) != page_of(rip)) return false;
        if (execute_branch(context) || execute_on_registers(context)) continue;
        const auto load = decode_load(context);
        if (!load) return false;
        const uintptr_t page = page_of(load->address);
        if (is_protected(page)) return true;
        uint64_t value = 0;
        if (page_of(load->address + load->size - 1) != page ||
            !read_accessible(context, load->address, &value, load->size))
            return false;
        execute_load(context, *load, value);
    }
    return false;
}

#else

bool follow_to_load(ucontext_t&) {
    return false;
}

#endif

}  // namespace simverbs::client::spin
