#include "verbs_shim/client/process/threads.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "verbs_shim/client/clock/clock.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"
#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(pthread_create);
SIMVERBS_REAL(pthread_cancel);
SIMVERBS_REAL(pthread_join);
SIMVERBS_REAL(pthread_detach);
SIMVERBS_REAL(pthread_tryjoin_np);
SIMVERBS_REAL(pthread_timedjoin_np);
SIMVERBS_REAL(pthread_clockjoin_np);

namespace {

constexpr int64_t kCreatePs = 8'000'000;
constexpr int64_t kJoinPs = 1'000'000;

/// One thread that pthread_create made. Changed only under the turn (or, once the server is gone, hardly ever).
struct Record {
    std::atomic<bool> used;
    std::atomic<bool> ended;
    bool detached;
    std::atomic<uint32_t> slot;  ///< kNoItem until it is known; futex word. kRefused: there was none
    uint64_t cancel_seen;        ///< value of the slot's cancel object when the thread was made
    pthread_t handle;
    void* (*function)(void*);
    void* argument;
};
constexpr uint32_t kRefused = protocol::kNoItem - 1;

Record g_records[protocol::kMaxThreads];
uint32_t g_main_slot = protocol::kNoItem;
pthread_key_t g_end_key;
bool g_has_end_key = false;
thread_local Record* t_record __attribute__((tls_model("initial-exec"))) = nullptr;

uint64_t join_key(uint32_t slot) {
    return object_key(protocol::ObjectKind::ProcessSync, (uint64_t{3} << 40) | slot);
}

uint64_t cancel_key(uint32_t slot) {
    return object_key(protocol::ObjectKind::ProcessSync, (uint64_t{6} << 40) | slot);
}

Record* new_record() {
    for (Record& r : g_records) {
        bool free = false;
        if (r.used.compare_exchange_strong(free, true)) return &r;
    }
    return nullptr;
}

Record* find_record(pthread_t handle) {
    for (Record& r : g_records)
        if (r.used.load(std::memory_order_acquire) && !r.detached && pthread_equal(r.handle, handle) != 0) return &r;
    return nullptr;
}

void end_thread() {
    if (Record* r = t_record) {
        if (turn::active()) turn::object_bump(join_key(r->slot.load(std::memory_order_relaxed)));
        if (r->detached)
            r->used.store(false, std::memory_order_release);
        else
            r->ended.store(true, std::memory_order_release);
    }
    turn::leave_lab(false);
}

/// Destructor of a thread-specific value: the program's own destructors still run under the turn, so it asks to be
/// called again until glibc's last but one round.
void at_thread_end(void* round) {
    const auto n = reinterpret_cast<uintptr_t>(round);
    constexpr uintptr_t kLastRound = 3;
    if (n < kLastRound)
        pthread_setspecific(g_end_key, reinterpret_cast<void*>(n + 1));
    else
        end_thread();
}

/// The slot of a new thread; its maker goes on meanwhile.
uint32_t await_slot(Record& r) {
    uint32_t slot = protocol::kNoItem;
    while ((slot = r.slot.load(std::memory_order_acquire)) == protocol::kNoItem)
        kernel(SYS_futex, &r.slot, FUTEX_WAIT_PRIVATE, protocol::kNoItem, nullptr, nullptr, 0);
    return slot;
}

void tell_slot(Record& r, uint32_t slot) {
    r.slot.store(slot, std::memory_order_release);
    kernel(SYS_futex, &r.slot, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void* run_thread(void* argument) {
    auto* const r = static_cast<Record*>(argument);
    if (await_slot(*r) == kRefused) {
        r->used.store(!r->detached, std::memory_order_release);
        return nullptr;
    }
    t_record = r;
    r->handle = pthread_self();
    pthread_setspecific(g_end_key, reinterpret_cast<void*>(uintptr_t{1}));
    turn::arrive(r->slot.load(std::memory_order_relaxed));
    spin::note_own_stack();
    turn::t_state.cancel_key = cancel_key(r->slot.load(std::memory_order_relaxed));
    turn::t_state.cancel_seen = r->cancel_seen;
    return r->function(r->argument);
}

bool wants_detached(const pthread_attr_t* attributes) {
    int state = PTHREAD_CREATE_JOINABLE;
    return attributes != nullptr && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

/// A slot for a thread that exists, under this thread's turn; false if there is none.
bool give_slot(Record& r) {
    protocol::ReserveSlotRequest request{};
    request.h.op = protocol::Op::ReserveSlot;
    request.h.bytes = sizeof request;
    protocol::ReserveSlotReply reply{};
    if (turn::control(&request, &reply, sizeof reply) != 0 || reply.slot >= protocol::kMaxThreads) return false;
    r.cancel_seen = turn::object_value(cancel_key(reply.slot));
    turn::charge(kCreatePs);
    turn::lab()->slots[reply.slot].clock_ps = turn::now_ps();
    // Not from its arrival on: if this thread spins first, it is to know that another may end that.
    turn::g_process.threads.fetch_add(1, std::memory_order_relaxed);
    tell_slot(r, reply.slot);
    return true;
}

int create(pthread_t* out, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
    turn::InShim guard;
    Record* const r = new_record();
    if (r == nullptr) return EAGAIN;
    r->ended.store(false, std::memory_order_relaxed);
    r->slot.store(protocol::kNoItem, std::memory_order_relaxed);
    r->function = function;
    r->argument = argument;
    r->detached = wants_detached(attributes);
    const bool detached = r->detached;
    // The slot comes last: a reserved one holds up the lab until its thread is there, and libc's own calls on the way,
    // which a program may have hooked, may wait for another thread.
    const int rc = real_pthread_create(out, attributes, &run_thread, r);
    if (rc != 0) {
        r->used.store(false, std::memory_order_release);
        return rc;
    }
    const pthread_t made = *out;
    r->handle = made;
    if (give_slot(*r)) return 0;
    tell_slot(*r, kRefused);
    if (!detached) {
        real_pthread_join(made, nullptr);
        r->used.store(false, std::memory_order_release);
    }
    return EAGAIN;
}

/// Waits for the end of a thread. 0, ETIMEDOUT; the real join follows and returns at once.
int await_end(const Record& r, int64_t deadline_ps) {
    turn::WaitSet set("pthread_join");
    set.add_deadline(deadline_ps);
    while (!r.ended.load(std::memory_order_acquire)) {
        set.w.num_items = 0;
        set.add_object(join_key(r.slot.load(std::memory_order_relaxed)),
                       turn::object_value(join_key(r.slot.load(std::memory_order_relaxed))), kJoinPs);
        const turn::Woken woken = turn::wait(set);
        if (woken == turn::Woken::Interrupted) turn::deliver_signals();
        if (woken == turn::Woken::Deadline) return ETIMEDOUT;
        if (woken == turn::Woken::ServerGone) return 0;
    }
    return 0;
}

int join(pthread_t thread, void** result, int64_t deadline_ps) {
    turn::InShim guard;
    Record* const r = find_record(thread);
    if (r != nullptr && pthread_equal(thread, pthread_self()) == 0) {
        if (await_end(*r, deadline_ps) != 0) return ETIMEDOUT;
    }
    const int rc = real_pthread_join(thread, result);
    if (rc == 0 && r != nullptr) r->used.store(false, std::memory_order_release);
    return rc;
}

/// True if the thread's signal mask (from /proc) blocks the signal, or the thread is gone.
bool blocks(int tid, int signal_number) {
    char path[64] = "/proc/self/task/";
    size_t at = strlen(path);
    char digits[12];
    size_t n = 0;
    for (int rest = tid; rest > 0; rest /= 10) digits[n++] = static_cast<char>('0' + rest % 10);
    while (n > 0) path[at++] = digits[--n];
    memcpy(path + at, "/status", 8);
    const long fd = kernel(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true;
    char text[2048];
    const long bytes = kernel(SYS_read, fd, text, sizeof text - 1);
    kernel(SYS_close, fd);
    if (bytes <= 0) return true;
    text[bytes] = '\0';
    const char* blocked = strstr(text, "SigBlk:");
    const char* state = strstr(text, "State:");
    if (blocked == nullptr || (state != nullptr && state[7] == 'Z')) return true;
    uint64_t mask = 0;
    for (const char* p = blocked + 7; *p != '\0' && *p != '\n'; ++p) {
        if (*p >= '0' && *p <= '9')
            mask = mask * 16 + static_cast<uint64_t>(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            mask = mask * 16 + static_cast<uint64_t>(*p - 'a' + 10);
    }
    return (mask >> (signal_number - 1) & 1) != 0;
}

}  // namespace

void remember_main_thread(uint32_t slot) {
    g_main_slot = slot;
    if (!g_has_end_key) g_has_end_key = pthread_key_create(&g_end_key, &at_thread_end) == 0;
    pthread_setspecific(g_end_key, reinterpret_cast<void*>(uintptr_t{1}));
}

uint32_t main_slot() {
    return g_main_slot;
}

void forget_other_threads() {
    for (Record& r : g_records) r.used.store(false, std::memory_order_relaxed);
    t_record = nullptr;
    turn::t_state.cancel_key = 0;
}

int thread_for_signal(int pid, int self, int signal_number) {
    if (pid == self || blocks(pid, signal_number)) return self;
    return pid;
}

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE int pthread_create(pthread_t* out, const pthread_attr_t* attributes, void* (*function)(void*),
                                      void* argument) {
    turn::start_if_needed();
    return turn::active() && g_has_end_key ? create(out, attributes, function, argument)
                                           : real_pthread_create(out, attributes, function, argument);
}

SIMVERBS_INTERPOSE int pthread_cancel(pthread_t thread) {
    if (!turn::active()) return real_pthread_cancel(thread);
    turn::InShim guard;
    turn::charge(kJoinPs);
    turn::checkpoint();
    const int rc = real_pthread_cancel(thread);
    for (const Record& r : g_records) {
        if (rc == 0 && r.used.load(std::memory_order_acquire) && pthread_equal(r.handle, thread) != 0)
            turn::object_bump(cancel_key(r.slot.load(std::memory_order_relaxed)));
    }
    return rc;
}

SIMVERBS_INTERPOSE int pthread_join(pthread_t thread, void** result) {
    return turn::active() ? join(thread, result, clock::kNever) : real_pthread_join(thread, result);
}

SIMVERBS_INTERPOSE int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
    return turn::active() ? join(thread, result, clock::deadline_at(CLOCK_REALTIME, until))
                          : real_pthread_timedjoin_np(thread, result, until);
}

SIMVERBS_INTERPOSE int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock_id,
                                            const timespec* until) {
    return turn::active() ? join(thread, result, clock::deadline_at(clock_id, until))
                          : real_pthread_clockjoin_np(thread, result, clock_id, until);
}

SIMVERBS_INTERPOSE int pthread_tryjoin_np(pthread_t thread, void** result) {
    if (!turn::active()) return real_pthread_tryjoin_np(thread, result);
    {
        turn::InShim guard;
        turn::charge(kJoinPs);
        turn::checkpoint();
        const Record* r = find_record(thread);
        if (r != nullptr && !r->ended.load(std::memory_order_acquire)) return EBUSY;
    }
    return join(thread, result, clock::kNever);
}

SIMVERBS_INTERPOSE int pthread_detach(pthread_t thread) {
    if (turn::active()) {
        turn::InShim guard;
        if (Record* r = find_record(thread)) {
            r->detached = true;
            if (r->ended.load(std::memory_order_acquire)) r->used.store(false, std::memory_order_release);
        }
    }
    return real_pthread_detach(thread);
}
