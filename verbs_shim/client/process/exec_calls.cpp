// fork and exec: the child arrives with the slot that its parent reserved; a new image keeps its process's slot.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_shim/client/clock/timers.hpp"
#include "verbs_shim/client/clock/tsc_trap.hpp"
#include "verbs_shim/client/net/exit_ends.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/children.hpp"
#include "verbs_shim/client/process/environment.hpp"
#include "verbs_shim/client/process/exec_path.hpp"
#include "verbs_shim/client/process/executable_check.hpp"
#include "verbs_shim/client/process/threads.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(fork);
SIMVERBS_REAL(execve);
SIMVERBS_REAL(fexecve);

namespace {

/// First of the child's atfork handlers: until it has a turn of its own it must not touch its parent's.
void leave_parents_slot() {
    turn::t_state.slot = nullptr;
}

pid_t fork_into_lab() {
    turn::InShim guard;
    static bool registered = false;
    if (!registered) registered = pthread_atfork(nullptr, nullptr, &leave_parents_slot) == 0;
    const uint32_t slot = reserve_child();
    if (slot == protocol::kNoItem) {
        guard.set_errno(EAGAIN);
        return -1;
    }
    spin::before_syscall();
    net::retain_all_ends();  // for the child: the parent may close its ends before the child has a turn
    const uint64_t all = ~uint64_t{0};
    uint64_t mask = 0;
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
    const pid_t pid = real_fork();
    const int error = errno;
    if (pid == 0) {
        forget_children();
        forget_other_threads();
        clock::forget_timers();
        spin::forget_parent();
        turn::start_child(slot);
        turn::t_state.depth = 1;  // the guard's
    } else if (pid > 0) {
        add_child(pid, slot);
        turn::charge(kForkPs);
    } else {
        give_back_child(slot);
        guard.set_errno(error);
    }
    kernel(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
    return pid;
}

}  // namespace

int exec_into_lab(const char* path, char* const* argv, char* const* envp) {
    const Executable kind = check_executable(path);
    if (kind == Executable::Static) {
        complain_about_static(path);
        errno = ENOEXEC;
        return -1;
    }
    int error = 0;
    {
        turn::InShim guard;
        const uint32_t slot = turn::t_state.slot != nullptr
                                  ? static_cast<uint32_t>(turn::t_state.slot - turn::lab()->slots)
                                  : main_slot();
        const LabEnvironment environment(envp, slot);
        spin::before_syscall();
        if (turn::active()) {
            turn::charge(kExecPs);
            turn::checkpoint();
            if (kind == Executable::Dynamic) net::process_execs();
        }
        clock::release_tsc();  // the new image's loader reads it before we are there
        real_execve(path, argv, environment.get() != nullptr ? environment.get() : envp);
        error = errno;
        if (turn::active()) clock::trap_tsc();
    }
    errno = error;
    return -1;
}

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE pid_t fork() {
    turn::start_if_needed();
    if (turn::active()) return fork_into_lab();
    const pid_t pid = real_fork();
    if (pid == 0 && turn::in_lab()) turn::start_child(simverbs::protocol::kNoItem);
    return pid;
}

// The child of vfork may not return into our frame: a real fork keeps every promise that POSIX makes about vfork.
SIMVERBS_INTERPOSE pid_t vfork() {
    return fork();
}

SIMVERBS_INTERPOSE int execve(const char* path, char* const* argv, char* const* envp) {
    turn::start_if_needed();
    return turn::in_lab() ? exec_into_lab(path, argv, envp) : real_execve(path, argv, envp);
}

SIMVERBS_INTERPOSE int execv(const char* path, char* const* argv) {
    return execve(path, argv, environ);
}

SIMVERBS_INTERPOSE int execvpe(const char* file, char* const* argv, char* const* envp) {
    char path[kMaxPath];
    const int found = find_in_path(file, path);
    if (found != 0) {
        errno = found;
        return -1;
    }
    execve(path, argv, envp);
    if (errno != ENOEXEC || !is_plain_script(path)) return -1;
    // A script without #!: the shell runs it.
    size_t argc = 0;
    while (argv[argc] != nullptr) ++argc;
    const char* with_shell[kMaxShellArguments];
    if (argc + 2 > kMaxShellArguments) {
        errno = E2BIG;
        return -1;
    }
    with_shell[0] = "/bin/sh";
    with_shell[1] = path;
    for (size_t i = 1; i <= argc; ++i) with_shell[i + 1] = argv[i];
    if (argc == 0) with_shell[2] = nullptr;
    return execve("/bin/sh", const_cast<char* const*>(with_shell), envp);
}

SIMVERBS_INTERPOSE int execvp(const char* file, char* const* argv) {
    return execvpe(file, argv, environ);
}

SIMVERBS_INTERPOSE int fexecve(int fd, char* const* argv, char* const* envp) {
    turn::start_if_needed();
    if (!turn::in_lab()) return real_fexecve(fd, argv, envp);
    char path[32] = "/proc/self/fd/";
    char digits[12];
    int n = 0;
    unsigned rest = static_cast<unsigned>(fd);
    do digits[n++] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    size_t at = strlen(path);
    while (n > 0) path[at++] = digits[--n];
    return execve(path, argv, envp);
}

namespace {

/// The argument list of execl and its kin: ends with a null pointer, execle's environment follows it.
size_t collect(const char* first, va_list list, const char** out) {
    size_t n = 0;
    for (const char* a = first; a != nullptr && n + 1 < kMaxShellArguments; a = va_arg(list, const char*)) out[n++] = a;
    out[n] = nullptr;
    return n;
}

}  // namespace

SIMVERBS_INTERPOSE int execl(const char* path, const char* first, ...) {
    const char* argv[kMaxShellArguments];
    va_list list;
    va_start(list, first);
    collect(first, list, argv);
    va_end(list);
    return execve(path, const_cast<char* const*>(argv), environ);
}

SIMVERBS_INTERPOSE int execlp(const char* file, const char* first, ...) {
    const char* argv[kMaxShellArguments];
    va_list list;
    va_start(list, first);
    collect(first, list, argv);
    va_end(list);
    return execvpe(file, const_cast<char* const*>(argv), environ);
}

SIMVERBS_INTERPOSE int execle(const char* path, const char* first, ...) {
    const char* argv[kMaxShellArguments];
    va_list list;
    va_start(list, first);
    collect(first, list, argv);
    char* const* const envp = va_arg(list, char* const*);
    va_end(list);
    return execve(path, const_cast<char* const*>(argv), envp);
}
