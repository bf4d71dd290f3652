// What would differ from run to run: a program's own seeds (time, pid) and the kernel's random numbers are replaced by
// draws from the lab's seed. `simverbs --seed` varies all of them at once.
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>

#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/process.hpp"
#include "verbs_shim/client/process/randomness.hpp"
#include "verbs_shim/client/process/threads.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(srand);
SIMVERBS_REAL(srandom);
SIMVERBS_REAL(srand48);
SIMVERBS_REAL(seed48);
SIMVERBS_REAL(initstate);
SIMVERBS_REAL(getrandom);
SIMVERBS_REAL(getentropy);

namespace {

enum class Purpose : uint64_t { Bytes = 1, Seed = 2 };

std::atomic<uint64_t> g_bytes_drawn{0};
std::atomic<uint64_t> g_seeds_drawn{0};

uint64_t mix(uint64_t x) {  // the finaliser of splitmix64
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ULL;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

uint64_t draw(Purpose purpose, uint64_t ordinal) {
    uint64_t h = mix(turn::lab()->seed + 0x9E3779B97F4A7C15ULL);
    h = mix(h ^ (uint64_t{turn::g_process.program} << 32 | main_slot()));
    h = mix(h ^ static_cast<uint64_t>(purpose));
    return mix(h ^ ordinal);
}

/// Only the virtual clock promises two equal runs.
bool pins() {
    turn::start_if_needed();
    return turn::in_lab() && turn::lab()->clock_mode == protocol::ClockMode::Virtual;
}

uint64_t next_seed() {
    return draw(Purpose::Seed, g_seeds_drawn.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

void random_bytes(void* buffer, size_t bytes) {
    auto* out = static_cast<unsigned char*>(buffer);
    if (!turn::in_lab()) {
        kernel(SYS_getrandom, buffer, bytes, 0);
        return;
    }
    while (bytes > 0) {
        const uint64_t word = draw(Purpose::Bytes, g_bytes_drawn.fetch_add(1, std::memory_order_relaxed));
        const size_t n = bytes < sizeof word ? bytes : sizeof word;
        memcpy(out, &word, n);
        out += n;
        bytes -= n;
    }
}

void seed_libc() {
    // A program that never seeds gets a sequence of the lab's, too.
    real_srandom(static_cast<unsigned>(next_seed()));
    real_srand48(static_cast<long>(next_seed() & 0x7FFFFFFF));
}

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE void srand(unsigned seed) {
    real_srand(pins() ? static_cast<unsigned>(next_seed()) : seed);
}
SIMVERBS_INTERPOSE void srandom(unsigned seed) {
    real_srandom(pins() ? static_cast<unsigned>(next_seed()) : seed);
}
SIMVERBS_INTERPOSE void srand48(long seed) {
    real_srand48(pins() ? static_cast<long>(next_seed() & 0x7FFFFFFF) : seed);
}
SIMVERBS_INTERPOSE unsigned short* seed48(unsigned short* seed) {
    if (!pins()) return real_seed48(seed);
    const uint64_t word = next_seed();
    unsigned short ours[3];
    memcpy(ours, &word, sizeof ours);
    return real_seed48(ours);
}
SIMVERBS_INTERPOSE char* initstate(unsigned seed, char* state, size_t bytes) {
    return real_initstate(pins() ? static_cast<unsigned>(next_seed()) : seed, state, bytes);
}

SIMVERBS_INTERPOSE ssize_t getrandom(void* buffer, size_t bytes, unsigned flags) {
    if (!pins()) return real_getrandom(buffer, bytes, flags);
    random_bytes(buffer, bytes);
    return static_cast<ssize_t>(bytes);
}

SIMVERBS_INTERPOSE int getentropy(void* buffer, size_t bytes) {
    if (!pins() || bytes > 256) return real_getentropy(buffer, bytes);
    random_bytes(buffer, bytes);
    return 0;
}

SIMVERBS_INTERPOSE uint32_t arc4random() {
    uint32_t word = 0;
    random_bytes(&word, sizeof word);
    return word;
}

SIMVERBS_INTERPOSE void arc4random_buf(void* buffer, size_t bytes) {
    random_bytes(buffer, bytes);
}

SIMVERBS_INTERPOSE uint32_t arc4random_uniform(uint32_t bound) {
    if (bound < 2) return 0;
    const uint32_t unfair = static_cast<uint32_t>(-bound) % bound;
    for (;;) {
        const uint32_t word = arc4random();
        if (word >= unfair) return word % bound;
    }
}

/// std::random_device of libstdc++ reads the processor's generator, which no system call betrays.
extern "C" __attribute__((visibility("default"))) unsigned simverbs_random_device(void*) __asm__(
    "_ZNSt13random_device9_M_getvalEv");
extern "C" unsigned simverbs_random_device(void* self) {
    if (pins()) return arc4random();
    static Real<unsigned(void*)> real("_ZNSt13random_device9_M_getvalEv");
    return real.get() != nullptr ? real(self) : arc4random();
}
