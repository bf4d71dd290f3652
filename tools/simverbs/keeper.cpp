#include "tools/simverbs/keeper.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::tools {

namespace {

constexpr int kSweeps = 200;  // ten milliseconds each
constexpr size_t kMostEnvironment = 1 << 20;

/// Does the process's environment, as it was executed, hold `variable`?
bool has_variable(long pid, std::string_view variable) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%ld/environ", pid);
    const server::UniqueFd fd(::open(path.data(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return false;
    std::string environment(1, '\0');
    std::array<char, 4096> part{};
    for (ssize_t n = 0; environment.size() < kMostEnvironment && (n = ::read(fd.get(), part.data(), part.size())) > 0;)
        environment.append(part.data(), static_cast<size_t>(n));
    return environment.find(variable) != std::string::npos;
}

/// Kills whoever has the variable; how many there were.
int sweep(std::string_view variable) {
    DIR* const processes = ::opendir("/proc");
    if (processes == nullptr) return 0;
    int found = 0;
    while (const dirent* const entry = ::readdir(processes)) {
        const long pid = std::strtol(entry->d_name, nullptr, 10);
        if (pid <= 1 || pid == ::getpid()) continue;
        // By descriptor: the process that is looked at is the one that is killed.
        const server::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
        if (!process.valid() || !has_variable(pid, variable)) continue;
        ++found;
        ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
    }
    ::closedir(processes);
    return found;
}

[[noreturn]] void keep(int parent, const std::string& variable) {
    ::setsid();
    ::prctl(PR_SET_NAME, "simverbs-keeper");
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    // Nobody must wait for the end of what we inherited, output in front.
    ::dup2(parent, STDIN_FILENO);
    ::close_range(STDOUT_FILENO, ~0U, 0);
    char word = 0;
    if (::read(STDIN_FILENO, &word, 1) == 1) ::_exit(0);
    for (int i = 0; i < kSweeps && sweep(variable) > 0; ++i) {
        const timespec pause{0, 10'000'000};
        ::nanosleep(&pause, nullptr);
    }
    ::_exit(0);
}

}  // namespace

Keeper::Keeper(const std::string& socket_path) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    alive_ = server::UniqueFd(ends[0]);
    const server::UniqueFd theirs(ends[1]);
    const std::string variable = std::string(1, '\0') + protocol::kEnvSocket + "=" + socket_path + '\0';
    pid_ = ::fork();
    if (pid_ == 0) {
        alive_.reset();
        keep(theirs.get(), variable);
    }
}

Keeper::~Keeper() {
    if (pid_ <= 0) return;
    (void)::send(alive_.get(), "", 1, MSG_NOSIGNAL);
    ::waitpid(pid_, nullptr, 0);
}

}  // namespace simverbs::tools
