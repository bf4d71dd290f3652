// posix_spawn and what libc builds on it without asking us: system and popen.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs_shim/client/clock/tsc_trap.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/process/children.hpp"
#include "verbs_shim/client/process/environment.hpp"
#include "verbs_shim/client/process/exec_path.hpp"
#include "verbs_shim/client/process/executable_check.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/turn/start.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::process {

SIMVERBS_REAL(posix_spawn);
SIMVERBS_REAL(posix_spawnp);
SIMVERBS_REAL(system);
SIMVERBS_REAL(popen);
SIMVERBS_REAL(pclose);

namespace {

int spawn_into_lab(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                   const posix_spawnattr_t* attributes, char* const* argv, char* const* envp) {
    turn::InShim guard;
    const Executable kind = check_executable(path);
    if (kind == Executable::Static) {
        complain_about_static(path);
        return ENOEXEC;
    }
    if (kind == Executable::Unknown) return real_posix_spawn(pid, path, actions, attributes, argv, envp);
    const uint32_t slot = reserve_child();
    if (slot == protocol::kNoItem) return EAGAIN;
    const LabEnvironment environment(envp, slot);
    spin::before_syscall();
    clock::release_tsc();  // the child inherits it, and its loader reads the counter before we are there
    pid_t child = -1;
    const int rc = real_posix_spawn(&child, path, actions, attributes, argv,
                                    environment.get() != nullptr ? environment.get() : envp);
    clock::trap_tsc();
    if (rc != 0) {
        give_back_child(slot);
        return rc;
    }
    add_child(child, slot);
    turn::charge(kForkPs);
    if (pid != nullptr) *pid = child;
    return 0;
}

/// A shell command as a child of the lab; -1 if it cannot be started.
pid_t start_shell(const char* command, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes) {
    const char* const argv[] = {"sh", "-c", command, nullptr};
    pid_t pid = -1;
    const int rc = posix_spawn(&pid, "/bin/sh", actions, attributes, const_cast<char* const*>(argv), environ);
    if (rc == 0) return pid;
    errno = rc;
    return -1;
}

int run_shell(const char* command) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction old_int, old_quit;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    sigset_t chld, old_mask, reset;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, &old_mask);
    sigemptyset(&reset);
    if (old_int.sa_handler != SIG_IGN) sigaddset(&reset, SIGINT);
    if (old_quit.sa_handler != SIG_IGN) sigaddset(&reset, SIGQUIT);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &old_mask);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const pid_t pid = start_shell(command, nullptr, &attributes);
    posix_spawnattr_destroy(&attributes);
    int status = pid < 0 ? 127 << 8 : 0;
    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0)
            if (errno != EINTR) {
                status = -1;
                break;
            }
    const int error = errno;
    sigaction(SIGINT, &old_int, nullptr);
    sigaction(SIGQUIT, &old_quit, nullptr);
    sigprocmask(SIG_SETMASK, &old_mask, nullptr);
    errno = error;
    return status;
}

/// Streams that our popen opened.
struct PipeStream {
    FILE* stream;
    pid_t pid;
};
constexpr int kMaxPipeStreams = 64;
PipeStream g_streams[kMaxPipeStreams];

PipeStream* find_stream(const FILE* stream) {
    for (PipeStream& p : g_streams)
        if (p.stream == stream) return &p;
    return nullptr;
}

FILE* open_pipe(const char* command, const char* mode) {
    const bool reads = strchr(mode, 'r') != nullptr;
    const bool close_on_exec = strchr(mode, 'e') != nullptr;
    PipeStream* const entry = find_stream(nullptr);
    int ends[2];
    if (entry == nullptr || reads == (strchr(mode, 'w') != nullptr)) {
        errno = entry == nullptr ? EMFILE : EINVAL;
        return nullptr;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
    const int ours = reads ? ends[0] : ends[1];
    const int theirs = reads ? ends[1] : ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
    for (const PipeStream& other : g_streams)
        if (other.stream != nullptr) posix_spawn_file_actions_addclose(&actions, fileno(other.stream));
    const pid_t pid = start_shell(command, &actions, nullptr);
    const int error = errno;
    posix_spawn_file_actions_destroy(&actions);
    close(theirs);
    FILE* const stream = pid > 0 ? fdopen(ours, reads ? "r" : "w") : nullptr;
    if (stream == nullptr) {
        close(ours);
        errno = error;
        return nullptr;
    }
    if (!close_on_exec) fcntl(ours, F_SETFD, 0);
    *entry = {stream, pid};
    return stream;
}

}  // namespace

}  // namespace simverbs::client::process

using namespace simverbs::client;
using namespace simverbs::client::process;

SIMVERBS_INTERPOSE int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                                   const posix_spawnattr_t* attributes, char* const* argv, char* const* envp) {
    turn::start_if_needed();
    return turn::active() ? spawn_into_lab(pid, path, actions, attributes, argv, envp)
                          : real_posix_spawn(pid, path, actions, attributes, argv, envp);
}

SIMVERBS_INTERPOSE int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                                    const posix_spawnattr_t* attributes, char* const* argv, char* const* envp) {
    turn::start_if_needed();
    if (!turn::active()) return real_posix_spawnp(pid, file, actions, attributes, argv, envp);
    char path[kMaxPath];
    const int error = find_in_path(file, path);
    return error != 0 ? error : spawn_into_lab(pid, path, actions, attributes, argv, envp);
}

SIMVERBS_INTERPOSE int system(const char* command) {
    turn::start_if_needed();
    if (!turn::active() || command == nullptr) return real_system(command);
    return run_shell(command);
}

SIMVERBS_INTERPOSE FILE* popen(const char* command, const char* mode) {
    turn::start_if_needed();
    return turn::active() ? open_pipe(command, mode) : real_popen(command, mode);
}

SIMVERBS_INTERPOSE int pclose(FILE* stream) {
    PipeStream* const entry = stream == nullptr ? nullptr : find_stream(stream);
    if (entry == nullptr) return real_pclose(stream);
    const pid_t pid = entry->pid;
    *entry = {};
    fclose(stream);
    int status = -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}
