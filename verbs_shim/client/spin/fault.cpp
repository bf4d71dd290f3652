#include "verbs_shim/client/spin/fault.hpp"

#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "verbs_shim/client/clock/tsc_trap.hpp"
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/gpu/gpus.hpp"
#include "verbs_shim/client/process/sync_wait.hpp"
#include "verbs_shim/client/spin/dma_pages.hpp"
#include "verbs_shim/client/spin/load_decoder.hpp"
#include "verbs_shim/client/spin/loop_follower.hpp"
#include "verbs_shim/client/spin/observations.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/spin/spin_wait.hpp"
#include "verbs_shim/client/spin/step_proof.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::spin {

using turn::t_state;

namespace {

/// A poll page that was opened this often without a proof of spinning is left alone until the next probe.
constexpr uint32_t kMaxOpenings = 64;

thread_local Observations t_seen __attribute__((tls_model("initial-exec")));
thread_local uint64_t t_faults __attribute__((tls_model("initial-exec"))) = 0;
thread_local uint64_t t_faults_at_probe __attribute__((tls_model("initial-exec"))) = 0;

/// The thread runs the program's own code and has the turn.
bool may_look() {
    return turn::active() && t_state.depth == 0 && !t_state.waiting &&
           t_state.slot->turn.load(std::memory_order_relaxed) == static_cast<uint32_t>(protocol::Turn::Running);
}

/// The access is not a polling load: it gets its page until the shim is left next.
void open_for_a_while(uintptr_t page) {
    open_page(page);
    if (!is_poll_page(page)) return;
    if (count_opening(page) > kMaxOpenings)
        forget_poll_page(page);
    else
        protection_due.store(true, std::memory_order_relaxed);
}

#if defined(__x86_64__)

constexpr greg_t kErrorWrite = 2;  // page-fault error code: the access was a write

/// Loads that one trap may serve.
constexpr int kMaxLoadsATrap = 8;

/// What a trap has read last: memory stays as it is until the thread gives up its turn.
struct LastRead {
    uint64_t address = 0, value = 0;
    uint8_t size = 0;

    bool read(const Load& load) {
        if (load.address == address && load.size == size) return true;
        value = 0;
        address = load.address;
        size = load.size;
        if (read_protected(address, &value, size)) return true;
        size = 0;
        return false;
    }
};

/// False if the load was not executed: the thread must do it itself.
bool on_load(ucontext_t& context, const Load& load, uintptr_t page, LastRead& last) {
    // A load that crosses into the next page is rare enough to be let through.
    if (page_of(load.address + load.size - 1) != page || !last.read(load)) {
        open_for_a_while(page);
        return false;
    }
    connection::count(protocol::Stat::MemorySpinTraps);
    const auto rip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
    const Observation seen{rip, load.address, last.value, hash_registers(context)};
    switch (t_seen.add(seen, t_state.entries)) {
        case Observations::Verdict::New:
            break;
        case Observations::Verdict::TooMany:
            t_seen.clear();
            open_for_a_while(page);
            return false;
        case Observations::Verdict::Repeated:
            // A handler of the program may have run on top of this one: nothing that it wrote may be slept over.
            last = {};
            if (!last.read(load)) return false;
            if (last.value != seen.value) break;
            remember_poll_page(page);
            open_all_but_poll_pages();
            wait_for_change(rip, load.address);
            t_seen.clear();
            last = {};
            if (!last.read(load)) return false;
            t_seen.add({rip, load.address, last.value, seen.registers}, t_state.entries);
            break;
    }
    execute_load(context, load, last.value);
    return true;
}

void on_protected_access(ucontext_t& context, uintptr_t page) {
    ++t_faults;
    if (!may_look() || (context.uc_mcontext.gregs[REG_ERR] & kErrorWrite) != 0) {
        open_for_a_while(page);
        return;
    }
    auto load = decode_load(context);
    if (!load) {
        step_over_load(context, page);
        return;
    }
    LastRead last;
    for (int loads = 1; on_load(context, *load, page, last); ++loads) {
        if (loads == kMaxLoadsATrap || !may_look() || !follow_to_load(context)) return;
        ++t_faults;
        load = decode_load(context);
        page = page_of(load->address);
    }
}

#endif

/// What it costs to notice a change: the dearest of the host's profiles, since nothing tells which device wrote.
int64_t memory_poll_ps() {
    const protocol::HelloReply& hello = connection::hello_reply();
    int64_t most = 0;
    for (uint32_t i = 0; i < hello.num_devices; ++i) {
        if (hello.devices[i].memory_poll_ps > most) most = hello.devices[i].memory_poll_ps;
    }
    return most;
}

}  // namespace

void wait_for_change(uint64_t rip, uint64_t address) {
    turn::InShim guard;
    char what[64];
    snprintf(what, sizeof what, "memory at %#llx, polled by code at %#llx", static_cast<unsigned long long>(address),
             static_cast<unsigned long long>(rip));
    turn::WaitSet set(what);
    set.add_flags(protocol::kWaitVisible | protocol::kWaitMemory);
    if (process::contended(false)) set.add_object(turn::yield_key(), turn::object_value(turn::yield_key()), 0);
    turn::wait(set);
    turn::charge(memory_poll_ps());
}

bool handle_fault(int signal_number, const siginfo_t* info, void* context) {
#if defined(__x86_64__)
    auto& c = *static_cast<ucontext_t*>(context);
    if (signal_number == SIGTRAP) return on_step(c);
    constexpr int kSiKernel = 0x80;
    if (info->si_code == kSiKernel) return clock::emulate_tsc(&c);
    if (info->si_code != SEGV_ACCERR) return false;
    if (const auto address = reinterpret_cast<uint64_t>(info->si_addr); gpu::is_gpu_address(address)) {
        if (may_look()) gpu::explain_access(address);
        return false;
    }
    const uintptr_t page = page_of(reinterpret_cast<uintptr_t>(info->si_addr));
    if (is_protected(page)) {
        on_protected_access(c, page);
        return true;
    }
    // Opened by somebody else between the access and the signal: once more, but not for ever.
    thread_local uint64_t last_rip __attribute__((tls_model("initial-exec"))) = 0;
    const auto rip = static_cast<uint64_t>(c.uc_mcontext.gregs[REG_RIP]);
    const bool first = rip != last_rip;
    last_rip = rip;
    return first && is_dma_page(page);
#else
    return false;
#endif
}

void handle_probe(void* context) {
#if defined(__x86_64__)
    if (!may_look() || changing_pages()) return;
    const bool nothing_since = t_faults == t_faults_at_probe;
    t_faults_at_probe = t_faults;
    const bool was_protected = pages_protected.load(std::memory_order_relaxed);
    // Pages first: polling a receive buffer is what programs do. If that has caught nothing, the loop polls something
    // else, and single steps find out.
    if (any_dma_pages() && !(was_protected && nothing_since)) {
        t_seen.clear();
        protect_all();
        return;
    }
    begin_step_proof(*static_cast<ucontext_t*>(context));
#endif
}

}  // namespace simverbs::client::spin
