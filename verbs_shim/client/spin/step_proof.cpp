#include "verbs_shim/client/spin/step_proof.hpp"

#include <cstring>

#include "verbs_shim/client/spin/dma_pages.hpp"
#include "verbs_shim/client/spin/load_decoder.hpp"
#include "verbs_shim/client/spin/memory_operands.hpp"
#include "verbs_shim/client/spin/observations.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/spin/spin_wait.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::spin {

#if defined(__x86_64__)

namespace {

constexpr greg_t kTrapFlag = 0x100;
constexpr uint32_t kMaxSteps = 2000;
constexpr uint32_t kMaxCells = 64;
constexpr uint32_t kMaxRestarts = 2;

/// A round of the loop under proof.
struct Proof {
    bool running;
    bool second_round;
    uint32_t entries;  ///< of the shim when it began
    uint32_t steps, restarts, num_cells;
    uint64_t rip, registers;
    struct Cell {
        uint64_t address, value;
    } cells[kMaxCells];
};
thread_local Proof t_proof __attribute__((tls_model("initial-exec")));
thread_local uintptr_t t_page_after_step __attribute__((tls_model("initial-exec"))) = 0;
thread_local Observations t_stepped __attribute__((tls_model("initial-exec")));
thread_local Observation t_stepped_load __attribute__((tls_model("initial-exec")));

/// The cell's bytes, up to eight, without running into the next page.
uint64_t read_cell(uint64_t address) {
    uint64_t value = 0;
    const uint64_t left = kPageBytes - (address & (kPageBytes - 1));
    read_protected(address, &value, left < sizeof value ? left : sizeof value);
    return value;
}

void stop(ucontext_t& context) {
    t_proof.running = false;
    context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

bool add_cell(Proof& p, uint64_t address) {
    for (uint32_t i = 0; i < p.num_cells; ++i)
        if (p.cells[i].address == address) return true;
    if (p.num_cells == kMaxCells) return false;
    p.cells[p.num_cells++] = {address, 0};
    return true;
}

/// What the instruction at RIP touches joins the cells. False: it can't be judged.
bool note_instruction(Proof& p, const ucontext_t& context) {
    MemoryOperands touched;
    if (!find_memory_operands(context, touched)) return false;
    for (unsigned i = 0; i < touched.count; ++i)
        if (!add_cell(p, touched.address[i])) return false;
    return true;
}

void begin_round(Proof& p, const ucontext_t& context) {
    p.rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
    p.registers = hash_registers(context);
    p.second_round = false;
    p.num_cells = 0;
}

/// Back at the first instruction.
void end_round(Proof& p, ucontext_t& context) {
    if (hash_registers(context) != p.registers) {
        if (++p.restarts > kMaxRestarts) {
            stop(context);
            return;
        }
        begin_round(p, context);
        return;
    }
    bool same = p.second_round;
    for (uint32_t i = 0; i < p.num_cells; ++i) {
        const uint64_t now = read_cell(p.cells[i].address);
        if (now != p.cells[i].value) same = false;
        p.cells[i].value = now;
    }
    if (!p.second_round) {
        p.second_round = true;
        return;
    }
    stop(context);
    if (same) wait_for_change(p.rip, p.num_cells != 0 ? p.cells[0].address : 0);
}

}  // namespace

void begin_step_proof(ucontext_t& context) {
    Proof& p = t_proof;
    if (p.running) return;
    p = Proof{};
    p.running = true;
    p.entries = turn::t_state.entries;
    begin_round(p, context);
    if (!note_instruction(p, context)) {
        p.running = false;
        return;
    }
    context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

void step_over_load(ucontext_t& context, uintptr_t page) {
    t_page_after_step = page;
    MemoryOperands touched;
    const uint64_t address = find_memory_operands(context, touched) && touched.count != 0 ? touched.address[0] : page;
    t_stepped_load = {static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]), address, read_cell(address),
                      hash_registers(context)};
    open_page(page);
    context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

bool on_step(ucontext_t& context) {
    const bool ours = t_page_after_step != 0 || t_proof.running;
    if (t_page_after_step != 0) {
        const uintptr_t page = t_page_after_step;
        t_page_after_step = 0;
        protect_page(page);
        if (!t_proof.running) context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
        switch (t_stepped.add(t_stepped_load, turn::t_state.entries)) {
            case Observations::Verdict::New:
                break;
            case Observations::Verdict::TooMany:
                t_stepped.clear();
                make_accessible();
                break;
            case Observations::Verdict::Repeated:
                remember_poll_page(page);
                open_all_but_poll_pages();
                wait_for_change(t_stepped_load.rip, t_stepped_load.address);
                t_stepped.clear();
                break;
        }
    }
    Proof& p = t_proof;
    if (!p.running) return ours;
    const bool left = turn::t_state.depth != 0 || turn::t_state.entries != p.entries || !turn::active();
    if (left || ++p.steps > kMaxSteps) {
        stop(context);
        return true;
    }
    if (static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]) == p.rip) end_round(p, context);
    if (p.running && !note_instruction(p, context)) stop(context);
    return true;
}

#else

void begin_step_proof(ucontext_t&) {}
bool on_step(ucontext_t&) {
    return false;
}
void step_over_load(ucontext_t&, uintptr_t) {}

#endif

}  // namespace simverbs::client::spin
