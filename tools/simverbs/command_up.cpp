// simverbs up, on, down: a lab that stays, for programs in several terminals.
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "scenarios/lang/did_you_mean.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/install_paths.hpp"
#include "tools/simverbs/launch.hpp"
#include "tools/simverbs/output_relay.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/timeline_page.hpp"
#include "tools/simverbs/up_state.hpp"
#include "tools/simverbs/user_error.hpp"
#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/server/arbiter.hpp"
#include "verbs_shim/server/wall_loop.hpp"

namespace simverbs::tools {

namespace {

class Daemon final : public server::LabObserver, public server::LabOwner {
  public:
    void on_explain(uint32_t host, uint32_t, std::string_view text) override {
        write_all(STDERR_FILENO, fmt::format("[host {}] explain: {}\n", host, text));
    }
    void on_note(std::string_view text) override {
        write_all(STDERR_FILENO, fmt::format("simverbs: note: {}\n", text));
    }
    bool finished() override { return false; }
    bool stop_requested() override { return stop_signal_seen(); }
    bool drain_output() override { return false; }
    bool may_freeze() const override { return true; }
};

int serve(const scenarios::LabSpec& spec, const UpOptions& options, int ready_fd) {
    catch_stop_signals();
    Daemon daemon;
    LabSession session(spec, options.lab, daemon);
    UpState state{options.name, ::getpid(), session.lab().socket_path(), {}};
    for (const scenarios::HostSpec& host : spec.hosts) state.hosts.push_back(host.name);
    write_up_state(state);
    if (ready_fd >= 0) {
        (void)!::write(ready_fd, "k", 1);
        ::close(ready_fd);
    }
    if (session.lab().virtual_clock()) {
        server::Arbiter(session.lab(), daemon).run();
    } else {
        server::WallLoop(session.lab(), daemon).run();
    }
    ::unlink(up_state_file(options.name).c_str());
    session.close_captures();
    write_timeline(options.lab, spec, session, {});
    return kSuccess;
}

int become_on(const std::string& host, const std::string& socket, const ProgramCommand& program) {
    const int error = become(program, {socket, host, preload_library()});
    throw UserError(fmt::format("{}: {}", program.file, std::strerror(error)));
}

/// From a program of a lab, such as mpirun, to another host of it: there the names of hosts are the lab's own.
int go_over(const std::string& socket, const std::string& host, const ProgramCommand& program) {
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0)
        throw UserError(fmt::format("on: this lab has no host '{}'", host));
    ::freeaddrinfo(found);
    return become_on(host, socket, program);
}

/// Before the text of a UserError on its way through the pipe.
constexpr char kUserErrorMark = '\1';

/// The daemon's side of the fork. Its stderr stays until the lab is ready, so that errors reach the user.
[[noreturn]] void become_daemon(const scenarios::LabSpec& spec, const UpOptions& options, int ready_fd) {
    int code = kServerError;
    try {
        ::setsid();
        const int null_fd = ::open("/dev/null", O_RDWR);
        ::dup2(null_fd, STDIN_FILENO);
        ::dup2(null_fd, STDOUT_FILENO);
        if (!options.lab.explain) ::dup2(null_fd, STDERR_FILENO);
        code = serve(spec, options, ready_fd);
    } catch (const UserError& error) {
        const std::string text = kUserErrorMark + std::string(error.what());
        (void)!::write(ready_fd, text.data(), text.size());
    } catch (const std::exception& error) {
        (void)!::write(ready_fd, error.what(), std::strlen(error.what()));
    }
    ::_exit(code);
}

}  // namespace

int run_up(const UpOptions& options) {
    (void)up_state_file(options.name);  // refuses what is no name
    const scenarios::LabSpec spec = load_lab(options.lab);
    if (is_up(options.name))
        throw UserError(fmt::format("a lab '{}' is up already; simverbs down ends it", options.name));
    check_timeline(options.lab);
    if (options.foreground) return serve(spec, options, -1);
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("cannot fork");
    if (pid == 0) become_daemon(spec, options, ready[1]);
    ::close(ready[1]);
    char buffer[4096];
    const ssize_t n = ::read(ready[0], buffer, sizeof buffer);
    ::close(ready[0]);
    if (n == 1 && buffer[0] == 'k') {
        std::cout << fmt::format("lab '{}' ({}) is up; its hosts:", options.name, spec.name);
        for (const scenarios::HostSpec& host : spec.hosts) std::cout << ' ' << host.name;
        std::cout << "\nsimverbs on HOST -- COMMAND runs a program there, simverbs down ends it\n";
        return kSuccess;
    }
    ::waitpid(pid, nullptr, 0);
    if (n > 1 && buffer[0] == kUserErrorMark) throw UserError(std::string(buffer + 1, static_cast<size_t>(n) - 1));
    throw std::runtime_error(n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "the lab did not come up");
}

int run_down(const std::string& name) {
    const UpState state = read_up_state(name);
    ::kill(state.pid, SIGTERM);
    for (int i = 0; i < 5000 && ::access(state.socket.c_str(), F_OK) == 0; ++i) {
        const timespec pause{0, 2'000'000};
        ::nanosleep(&pause, nullptr);
    }
    if (::access(state.socket.c_str(), F_OK) == 0) {
        ::kill(state.pid, SIGKILL);
        throw std::runtime_error("the lab did not end by itself and was killed");
    }
    return kSuccess;
}

int run_on(const OnOptions& options) {
    const auto& [name, host, words, as_it_is] = options;
    const std::vector<std::string> command(
        words.begin() + (as_it_is && !words.empty() && words.front() == "--" ? 1 : 0), words.end());
    if (host.empty())
        throw UserError(
            "on: no host is given; expected simverbs on HOST -- COMMAND, such as: simverbs on h0 -- ib_send_bw");
    if (command.empty())
        throw UserError(fmt::format(
            "on: no command is given; expected one behind '--', such as: simverbs on {} -- ib_send_bw", host));
    const auto program = [&command, raw = as_it_is] {
        return raw ? parse_program(command) : parse_program(fmt::format("{}", fmt::join(command, " ")));
    };
    if (const char* const socket = name.empty() ? std::getenv(protocol::kEnvSocket) : nullptr)
        return go_over(socket, host, program());
    const UpState state = read_up_state(name.empty() ? kDefaultLabName : name);
    if (std::find(state.hosts.begin(), state.hosts.end(), host) == state.hosts.end()) {
        const std::vector<std::string_view> known(state.hosts.begin(), state.hosts.end());
        throw UserError(
            fmt::format("the lab '{}' has no host '{}' {}", state.name, host, scenarios::did_you_mean(host, known)));
    }
    return become_on(host, state.socket, program());
}

}  // namespace simverbs::tools
