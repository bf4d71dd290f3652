#include "verbs_shim/client/clock/tsc_stub.hpp"

#include <errno.h>
#include <string.h>

#include "verbs_shim/client/clock/tsc_trap.hpp"

#if defined(__x86_64__)

#include <cpuid.h>

extern "C" {

/// For the assembler below: which parts of the extended state are saved, and how many bytes they take.
__attribute__((visibility("hidden"))) uint32_t simverbs_tsc_state_mask = 0;
__attribute__((visibility("hidden"))) uint32_t simverbs_tsc_state_bytes = 0;

__attribute__((visibility("hidden"))) uint64_t simverbs_tsc_at(const void* site) {
    const int saved = errno;
    const uint64_t value = simverbs::client::clock::read_tsc(site);
    errno = saved;
    return value;
}

/// In: RDI the site. Out: RAX, RDX as rdtsc leaves them. Keeps everything else but RDI. The arithmetic flags go through
/// AH and AL, not through the stack: the trap flag must not come back after a single-stepper has ended its work.
__attribute__((visibility("hidden"))) void simverbs_tsc_common();
asm(R"(
    .text
    .hidden simverbs_tsc_common
    .type simverbs_tsc_common, @function
simverbs_tsc_common:
    endbr64
    lahf
    seto %al
    push %rax
    push %rcx
    push %rsi
    push %r8
    push %r9
    push %r10
    push %r11
    push %rbx
    mov %rsp, %rbx
    mov simverbs_tsc_state_bytes(%rip), %eax
    sub %rax, %rsp
    and $-64, %rsp
    xor %eax, %eax
    mov %rax, 512(%rsp)
    mov %rax, 520(%rsp)
    mov %rax, 528(%rsp)
    mov %rax, 536(%rsp)
    mov %rax, 544(%rsp)
    mov %rax, 552(%rsp)
    mov %rax, 560(%rsp)
    mov %rax, 568(%rsp)
    xor %edx, %edx
    mov simverbs_tsc_state_mask(%rip), %eax
    xsave64 (%rsp)
    call simverbs_tsc_at
    mov %rax, %rdi
    xor %edx, %edx
    mov simverbs_tsc_state_mask(%rip), %eax
    xrstor64 (%rsp)
    mov %rbx, %rsp
    pop %rbx
    pop %r11
    pop %r10
    pop %r9
    pop %r8
    pop %rsi
    pop %rcx
    mov %rdi, %rdx
    shr $32, %rdx
    pop %rax
    add $127, %al
    sahf
    mov %edi, %eax
    ret
    .size simverbs_tsc_common, . - simverbs_tsc_common
)");
}

namespace simverbs::client::clock {

namespace {

/// x87, SSE, AVX, AVX-512 (Intel SDM 1, 13.1): what code built for x86-64 and the C library's copying may use.
constexpr uint32_t kStateMask = 0xE7;
constexpr unsigned kExtendedStateLeaf = 0xD;
constexpr uint32_t kLegacyBytes = 576;  ///< FXSAVE's 512 and the header
constexpr uint32_t kOsXsave = 1U << 27, kLahf64 = 1U << 0;

uint32_t enabled_state() {
    uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

}  // namespace

bool stubs_work() {
    if (simverbs_tsc_state_bytes != 0) return true;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsXsave) == 0) return false;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || (c & kLahf64) == 0) return false;
    const uint32_t mask = enabled_state() & kStateMask;
    uint32_t bytes = kLegacyBytes;
    for (unsigned part = 2; part < 8; ++part) {
        if ((mask >> part & 1) == 0) continue;
        if (__get_cpuid_count(kExtendedStateLeaf, part, &a, &b, &c, &d) == 0) return false;
        if (a + b > bytes) bytes = a + b;
    }
    simverbs_tsc_state_mask = mask;
    simverbs_tsc_state_bytes = bytes;
    return true;
}

size_t write_stub(uint8_t* out, uintptr_t address, const uint8_t* site, size_t displaced) {
    size_t n = 0;
    const auto put = [&](const void* bytes, size_t count) {
        memcpy(out + n, bytes, count);
        n += count;
    };
    constexpr uint8_t kSkipRedZone[] = {0x48, 0x8D, 0x64, 0x24, 0x80, 0x57};  // lea -128(%rsp), %rsp; push %rdi
    constexpr uint8_t kMovRdi[] = {0x48, 0xBF};
    constexpr uint8_t kMovRax[] = {0x48, 0xB8};
    constexpr uint8_t kCallRax[] = {0xFF, 0xD0};
    constexpr uint8_t kBack[] = {0x5F, 0x48, 0x8D, 0xA4, 0x24, 0x80, 0, 0, 0};  // pop %rdi; lea 128(%rsp), %rsp
    constexpr uint8_t kJump = 0xE9;
    void (*const common)() = &simverbs_tsc_common;
    put(kSkipRedZone, sizeof kSkipRedZone);
    put(kMovRdi, sizeof kMovRdi);
    put(&site, sizeof site);
    put(kMovRax, sizeof kMovRax);
    put(&common, sizeof common);
    put(kCallRax, sizeof kCallRax);
    put(kBack, sizeof kBack);
    const size_t displaced_at = n;
    const uint8_t* const behind = site + 2;  // rdtsc has two bytes
    put(behind, displaced);
    put(&kJump, sizeof kJump);
    const uintptr_t end = address + n + sizeof(int32_t);
    const auto relative = static_cast<int32_t>(reinterpret_cast<uintptr_t>(behind + displaced) - end);
    put(&relative, sizeof relative);
    return displaced_at;
}

}  // namespace simverbs::client::clock

#else

namespace simverbs::client::clock {

bool stubs_work() {
    return false;
}
size_t write_stub(uint8_t*, uintptr_t, const uint8_t*, size_t) {
    return 0;
}

}  // namespace simverbs::client::clock

#endif
