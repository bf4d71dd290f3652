#include "tools/simverbs/launch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/lab_block.hpp"

extern char** environ;

namespace simverbs::tools {

namespace {

bool is_variable(const char* entry, const std::string& name) {
    return std::strncmp(entry, name.c_str(), name.size()) == 0 && entry[name.size()] == '=';
}

/// Our environment with the lab's variables in front. Everything is made before the fork.
class Environment {
  public:
    explicit Environment(const LabEntry& entry) {
        std::string preload = entry.preload;
        if (const char* more = std::getenv("LD_PRELOAD"); more != nullptr && more[0] != '\0')
            preload += std::string(":") + more;
        set("LD_PRELOAD", preload);
        set(protocol::kEnvSocket, entry.socket);
        set(protocol::kEnvHost, entry.host);
        set_library_path(entry);
        if (entry.slot != protocol::kNoItem) set(protocol::kEnvSlot, std::to_string(entry.slot));
        if (entry.program != protocol::kNoItem) set(protocol::kEnvProgram, std::to_string(entry.program));
        for (char** e = environ; *e != nullptr; ++e) {
            bool ours = false;
            for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "PATH", protocol::kEnvSocket, protocol::kEnvHost,
                                     protocol::kEnvSlot, protocol::kEnvProgram, protocol::kEnvGpuLibraries})
                ours = ours || is_variable(*e, name);
            if (!ours) strings_.emplace_back(*e);
        }
        for (std::string& s : strings_) pointers_.push_back(s.data());
        pointers_.push_back(nullptr);
    }
    [[nodiscard]] char** data() { return pointers_.data(); }

  private:
    /// What stands in for GPUs' libraries is in front on hosts with GPUs, and nowhere on others.
    void set_library_path(const LabEntry& entry) {
        const char* const given = std::getenv("LD_LIBRARY_PATH");
        const char* const earlier = std::getenv(protocol::kEnvGpuLibraries);
        std::string path = given == nullptr ? "" : given;
        if (earlier != nullptr && *earlier != '\0' && path.rfind(earlier, 0) == 0)
            path.erase(0, std::strlen(earlier) + (path.size() > std::strlen(earlier) ? 1 : 0));
        const std::string folder = server::gpu_library_link(entry.socket, entry.host);
        if (::access((folder + "/libcuda.so.1").c_str(), F_OK) == 0) {
            path = path.empty() ? folder : folder + ":" + path;
            set(protocol::kEnvGpuLibraries, folder);
        }
        if (!path.empty()) set("LD_LIBRARY_PATH", path);
        set_path(folder, earlier);
    }
    static constexpr char kUsualPath[] = "/usr/local/bin:/usr/bin:/bin";
    /// So are the commands.
    void set_path(const std::string& folder, const char* earlier) {
        const char* const given = std::getenv("PATH");
        std::string path = given == nullptr ? "" : given;
        const std::string old = earlier == nullptr ? "" : std::string(earlier) + "/bin:";
        if (!old.empty() && path.rfind(old, 0) == 0) path.erase(0, old.size());
        const bool has_commands = ::access((folder + "/bin").c_str(), F_OK) == 0;
        if (has_commands) path = folder + "/bin:" + (given == nullptr ? kUsualPath : path);
        if (has_commands || given != nullptr) set("PATH", path);
    }
    void set(const char* name, const std::string& value) { strings_.push_back(std::string(name) + "=" + value); }
    std::vector<std::string> strings_;
    std::vector<char*> pointers_;
};

/// A host with GPUs has commands of its own, under names that this machine may have, too.
ProgramCommand command_of_host(const ProgramCommand& command, const LabEntry& entry) {
    ProgramCommand out = command;
    if (command.argv.empty() || command.argv.front().find('/') != std::string::npos) return out;
    const std::string file = server::gpu_library_link(entry.socket, entry.host) + "/bin/" + command.argv.front();
    if (::access(file.c_str(), X_OK) == 0) out.file = file;
    return out;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& w : words) pointers.push_back(const_cast<char*>(w.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

void reset_signals() {
    for (int s = 1; s < NSIG; ++s) {
        struct sigaction old {};
        if (::sigaction(s, nullptr, &old) == 0 && old.sa_handler != SIG_DFL) {
            struct sigaction fresh {};
            fresh.sa_handler = SIG_DFL;
            ::sigaction(s, &fresh, nullptr);
        }
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool fix_addresses() {
    const int now = ::personality(0xFFFFFFFF);
    return now >= 0 && ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0;
}

/// Sent through a pipe that execve closes: anything in it means failure.
struct ChildReport {
    int error = 0;
    int randomised = 0;
};

[[noreturn]] void run_child(const ProgramCommand& command, char** argv, char** env, const LaunchFds& fds, pid_t parent,
                            int report_fd) {
    ChildReport report;
    // A program that may read the terminal stays in the terminal's foreground group.
    if (fds.in >= 0) ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    reset_signals();
    if (fds.in >= 0) ::dup2(fds.in, STDIN_FILENO);
    if (fds.out >= 0) ::dup2(fds.out, STDOUT_FILENO);
    if (fds.err >= 0) ::dup2(fds.err, STDERR_FILENO);
    report.randomised = fix_addresses() ? 0 : 1;
    if (report.randomised != 0) (void)!::write(report_fd, &report, sizeof report);
    ::execve(command.file.c_str(), argv, env);
    report.error = errno;
    (void)!::write(report_fd, &report, sizeof report);
    ::_exit(127);
}

}  // namespace

Launched launch(const ProgramCommand& given, const LabEntry& entry, const LaunchFds& fds) {
    Launched launched;
    const ProgramCommand command = command_of_host(given, entry);
    Environment environment(entry);
    std::vector<char*> argv = pointers_to(command.argv);
    int report_pipe[2];
    if (::pipe2(report_pipe, O_CLOEXEC) != 0) {
        launched.error = errno;
        return launched;
    }
    const pid_t parent = ::getpid();
    launched.pid = ::fork();
    if (launched.pid == 0) run_child(command, argv.data(), environment.data(), fds, parent, report_pipe[1]);
    ::close(report_pipe[1]);
    if (launched.pid < 0) launched.error = errno;
    ChildReport report;
    while (::read(report_pipe[0], &report, sizeof report) == sizeof report) {
        launched.error = report.error != 0 ? report.error : launched.error;
        launched.randomised = report.randomised != 0;
    }
    ::close(report_pipe[0]);
    return launched;
}

int become(const ProgramCommand& given, const LabEntry& entry) {
    const ProgramCommand command = command_of_host(given, entry);
    Environment environment(entry);
    std::vector<char*> argv = pointers_to(command.argv);
    (void)fix_addresses();
    ::execve(command.file.c_str(), argv.data(), environment.data());
    return errno;
}

}  // namespace simverbs::tools
