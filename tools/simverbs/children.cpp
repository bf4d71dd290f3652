#include "tools/simverbs/children.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fstream>

namespace simverbs::tools {

namespace {

std::vector<pid_t> our_children() {
    std::ifstream in(fmt::format("/proc/self/task/{}/children", ::getpid()));
    std::vector<pid_t> children;
    for (pid_t pid = 0; in >> pid;) children.push_back(pid);
    return children;
}

}  // namespace

void adopt_orphans() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::optional<int> ended(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) != child) return std::nullopt;
    return status;
}

void kill_everything(const std::vector<pid_t>& groups) {
    for (const pid_t group : groups) ::kill(-group, SIGKILL);
    // Killing a parent hands its children to us: look again until there are none.
    for (int round = 0; round < 2000; ++round) {
        for (const pid_t child : our_children()) ::kill(child, SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        if (our_children().empty()) return;
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
}

}  // namespace simverbs::tools
