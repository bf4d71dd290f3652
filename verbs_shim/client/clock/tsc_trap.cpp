#include "verbs_shim/client/clock/tsc_trap.hpp"

#include <linux/prctl.h>
#include <string.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/clock/clock_read.hpp"
#include "verbs_shim/client/clock/tsc_patch.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::clock {

namespace {

__extension__ using Wide = unsigned __int128;

/// About 20 cycles of a 2.5 GHz core.
constexpr int64_t kTscReadPs = 8'000;

constexpr uint8_t kRdtsc[] = {0x0F, 0x31};
constexpr uint8_t kRdtscp[] = {0x0F, 0x01, 0xF9};

}  // namespace

void trap_tsc() {
#if defined(__x86_64__)
    if (turn::active()) kernel(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#endif
}

void release_tsc() {
#if defined(__x86_64__)
    if (turn::in_lab()) kernel(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
#endif
}

uint64_t read_tsc(const void* place) {
    const int64_t now = read_clock(kTscReadPs, protocol::Stat::RdtscTraps, place);
    const protocol::LabShared& lab = *turn::lab();
    // Since boot, as on a machine whose counter began at 0 together with CLOCK_MONOTONIC.
    const auto ps = static_cast<Wide>(lab.monotonic_at_zero_ns) * 1000 + static_cast<uint64_t>(now);
    return static_cast<uint64_t>(ps * lab.tsc_khz / 1'000'000'000);
}

bool emulate_tsc(ucontext_t* context) {
#if defined(__x86_64__)
    if (!turn::in_lab()) return false;
    auto& regs = context->uc_mcontext.gregs;
    const auto* const code = reinterpret_cast<const uint8_t*>(regs[REG_RIP]);
    const bool plain = memcmp(code, kRdtsc, sizeof kRdtsc) == 0;
    const bool with_cpu = !plain && memcmp(code, kRdtscp, sizeof kRdtscp) == 0;
    if (!plain && !with_cpu) return enter_stub(context);
    const uint64_t value = read_tsc(code);
    regs[REG_RAX] = static_cast<greg_t>(value & 0xFFFFFFFF);
    regs[REG_RDX] = static_cast<greg_t>(value >> 32);
    if (with_cpu) regs[REG_RCX] = 0;
    regs[REG_RIP] += static_cast<greg_t>(plain ? sizeof kRdtsc : sizeof kRdtscp);
    if (plain) note_tsc_trap(code);
    return true;
#else
    return false;
#endif
}

}  // namespace simverbs::client::clock
