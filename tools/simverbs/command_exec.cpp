// simverbs exec: a lab, its programs, their output, one exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "tools/simverbs/children.hpp"
#include "tools/simverbs/commands.hpp"
#include "tools/simverbs/exit_code.hpp"
#include "tools/simverbs/install_paths.hpp"
#include "tools/simverbs/keeper.hpp"
#include "tools/simverbs/launch.hpp"
#include "tools/simverbs/output_relay.hpp"
#include "tools/simverbs/program_command.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/timeline_page.hpp"
#include "tools/simverbs/user_error.hpp"
#include "verbs_shim/server/arbiter.hpp"
#include "verbs_shim/server/stats_report.hpp"
#include "verbs_shim/server/wall_loop.hpp"

namespace simverbs::tools {

namespace {

struct Program {
    uint32_t host = 0;
    std::string host_name;
    std::string label;  ///< "h0", or "h0#2" for the second program of a host
    ProgramCommand command;
    pid_t pid = -1;
    std::optional<int> status;
};

std::vector<Program> plan_programs(const scenarios::LabSpec& spec, const std::vector<std::string>& words) {
    std::vector<Program> programs;
    std::map<std::string, int> per_host;
    for (size_t i = 0; i < words.size(); i += 2) {
        Program p;
        p.host = host_index(spec, words[i]);
        p.host_name = words[i];
        const int number = ++per_host[words[i]];
        p.label = number == 1 ? words[i] : fmt::format("{}#{}", words[i], number);
        p.command = parse_program(std::string_view(words[i + 1]));
        programs.push_back(std::move(p));
    }
    return programs;
}

/// Observer and owner of the lab's run.
class Exec final : public server::LabObserver, public server::LabOwner {
  public:
    explicit Exec(std::vector<Program> programs) : programs_(std::move(programs)) {}

    void on_explain(uint32_t host, uint32_t program, std::string_view text) override {
        const std::string label = program < programs_.size() ? programs_[program].label : fmt::format("host {}", host);
        relay_.say(fmt::format("[{}] explain: {}", label, text));
    }
    void on_note(std::string_view text) override { relay_.say(fmt::format("simverbs: note: {}", text)); }

    bool finished() override {
        bool all = true;
        for (Program& p : programs_) {
            if (!p.status && p.pid > 0) p.status = ended(p.pid);
            all = all && p.status.has_value();
        }
        return all;
    }
    bool stop_requested() override { return stop_signal_seen(); }
    bool drain_output() override {
        if (session_ != nullptr && ++drains_ % kDrainsAFlush == 0) session_->flush_captures();
        return relay_.drain();
    }
    bool may_freeze() const override { return false; }

    void attach(LabSession& session) { session_ = &session; }
    void start_all(server::Lab& lab);
    int run(server::Lab& lab);
    void end_all();
    int judge(server::LabEnd end);
    /// Labels with commands.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> programs() const {
        std::vector<std::pair<std::string, std::string>> all;
        for (const Program& p : programs_) all.emplace_back(p.label, p.command.text);
        return all;
    }
    [[nodiscard]] std::vector<std::string> labels() const {
        std::vector<std::string> all;
        for (const Program& p : programs_) all.push_back(p.label);
        return all;
    }

  private:
    static constexpr uint64_t kDrainsAFlush = 256;  ///< captures wait in memory that long

    std::vector<Program> programs_;
    OutputRelay relay_;
    LabSession* session_ = nullptr;
    std::optional<Keeper> keeper_;
    uint64_t drains_ = 0;
};

void Exec::start_all(server::Lab& lab) {
    const std::string preload = preload_library();
    const server::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    bool randomised = false;
    // Slots first: a program's place on the command line decides, not who arrives when.
    std::vector<LabEntry> entries;
    std::vector<uint32_t> processes;
    for (uint32_t i = 0; i < programs_.size(); ++i) {
        processes.push_back(lab.reserve_process(programs_[i].host, i));
        entries.push_back(
            {lab.socket_path(), programs_[i].host_name, preload, lab.reserve_slot(processes.back(), 0), i});
        if (processes.back() == server::Lab::kNone || entries.back().slot == server::Lab::kNone)
            throw UserError("too many programs");
    }
    for (uint32_t i = 0; i < programs_.size(); ++i) {
        Program& p = programs_[i];
        const OutputRelay::WriteEnds ends = relay_.add_program(fmt::format("[{}] ", p.label));
        const LaunchFds fds{programs_.size() == 1 ? -1 : nothing.get(), ends.out.get(), ends.err.get()};
        const Launched launched = launch(p.command, entries[i], fds);
        p.pid = launched.pid;
        if (launched.error != 0) throw UserError(fmt::format("{}: {}", p.command.file, std::strerror(launched.error)));
        randomised = randomised || launched.randomised;
        lab.watch_process(processes[i], p.pid);
    }
    keeper_.emplace(lab.socket_path());
    if (randomised)
        on_note("address randomisation cannot be switched off here: addresses that programs print will differ");
}

int Exec::run(server::Lab& lab) {
    if (!lab.virtual_clock()) return judge(server::WallLoop(lab, *this).run());
    server::Arbiter arbiter(lab, *this);
    const server::LabEnd end = arbiter.run();
    if (end == server::LabEnd::Stalled) {
        relay_.drain();
        std::string report = waiting_report(arbiter, *session_);
        report.pop_back();  // say() ends the line
        relay_.say("simverbs: stall: nothing can happen any more, and these still wait:\n" + report);
    }
    return judge(end);
}

void Exec::end_all() {
    std::vector<pid_t> groups;
    for (const Program& p : programs_) {
        if (p.pid > 0) groups.push_back(p.pid);
    }
    kill_everything(groups);
    relay_.finish();
}

int Exec::judge(server::LabEnd end) {
    end_all();
    if (end == server::LabEnd::Interrupted) {
        relay_.say("simverbs: interrupted");
        return kInterrupted;
    }
    int code = end == server::LabEnd::Stalled ? kStalled : kSuccess;
    for (const Program& p : programs_) {
        if (!p.status || *p.status == 0) continue;
        const int s = *p.status;
        relay_.say(WIFSIGNALED(s)
                       ? fmt::format("simverbs: {}: {}: killed by signal {} ({})", p.label, p.command.text, WTERMSIG(s),
                                     ::strsignal(WTERMSIG(s)))
                       : fmt::format("simverbs: {}: {}: exit code {}", p.label, p.command.text, WEXITSTATUS(s)));
        if (code == kSuccess) code = kProgramFailed;
    }
    return code;
}

}  // namespace

int run_exec(const ExecOptions& options) {
    if (options.words.empty() || options.words.size() % 2 != 0)
        throw UserError(fmt::format(
            "exec: {}; expected pairs of HOST 'COMMAND', such as: simverbs exec h0 ib_send_bw h1 "
            "'ib_send_bw h0'",
            options.words.empty() ? "no program is given" : fmt::format("'{}' has no command", options.words.back())));
    const scenarios::LabSpec spec = load_lab(options.lab);
    Exec exec(plan_programs(spec, options.words));
    check_timeline(options.lab);
    catch_stop_signals();
    adopt_orphans();
    LabSession session(spec, options.lab, exec);
    exec.attach(session);
    try {
        exec.start_all(session.lab());
        const int code = exec.run(session.lab());
        session.close_captures();
        write_timeline(options.lab, spec, session, exec.programs());
        if (options.stats) write_all(STDOUT_FILENO, server::stats_table(session.lab(), exec.labels()));
        return code;
    } catch (...) {
        exec.end_all();
        throw;
    }
}

}  // namespace simverbs::tools
