#include "tools/simverbs/program_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/rng.hpp"
#include "tools/simverbs/children.hpp"
#include "tools/simverbs/install_paths.hpp"
#include "tools/simverbs/launch.hpp"
#include "tools/simverbs/listening_port.hpp"
#include "tools/simverbs/output_relay.hpp"
#include "tools/simverbs/signals.hpp"
#include "tools/simverbs/user_error.hpp"
#include "verbs_shim/server/wall_loop.hpp"

namespace simverbs::tools {

using scenarios::ReadyKind;
using sim::SimTime;

namespace {

// Whether a program is ready, and whether anything can still happen, is looked at after these times at first and later
// ever less often, so that a long wait costs little: a ready program is noticed within 1/32 of the time it took.
constexpr SimTime kFirstLook = SimTime::us(1);
constexpr int64_t kLooksAWait = 32;
constexpr SimTime kFirstStallLook = SimTime::ms(10);
constexpr int64_t kStallLooksARun = 16;
constexpr uint64_t kDrainsAFlush = 256;  ///< captures wait in memory that long
constexpr int kMostMsToDie = 5'000;      ///< after SIGKILL

SimTime sum(SimTime a, SimTime b) {
    return a > SimTime::max() - b ? SimTime::max() : a + b;
}

}  // namespace

ProgramRunner::ProgramRunner(const scenarios::ScenarioSpec& spec, const std::vector<uint32_t>& hosts,
                             const std::vector<scenarios::run::FaultyPort>& ports, std::vector<ProgramCommand> commands,
                             const ProgramRunOptions& options)
    : spec_(spec),
      options_(options),
      output_(options.echo),
      schedule_(spec, ports),
      number_in_program_faults_(spec.faults.size()),
      firings_(spec.faults.size()) {
    for (size_t i = 0; i < spec.programs.size(); ++i) {
        const scenarios::ProgramSpec& from = spec.programs[i];
        Program p;
        p.spec = &from;
        p.host = hosts[i];
        p.command = std::move(commands[i]);
        p.outcome.name = from.name;
        p.outcome.host = from.host.text;
        p.outcome.command = p.command.text;
        programs_.push_back(std::move(p));
    }
    add_program_faults();
}

void ProgramRunner::run(LabSession& session, ProgramRun& result) {
    session_ = &session;
    port_faults_.emplace(session.lab());
    if (!spec_.faults.empty()) session.lab().set_faults(&program_faults_);
    try {
        reserve_processes();
        start_due(SimTime::zero());
        keeper_.emplace(session.lab().socket_path());
        apply_faults(SimTime::zero());  // nobody has had a turn yet
        set_next_alarm(SimTime::zero());
        move_lab();
    } catch (...) {
        end_all();
        throw;
    }
    result.simulated_time = session.lab().engine().frontier();
    end_all();
    collect(result);
}

void ProgramRunner::move_lab() {
    server::Lab& lab = session_->lab();
    if (!lab.virtual_clock()) {
        is_interrupted_ = server::WallLoop(lab, *this).run() == server::LabEnd::Interrupted;
        return;
    }
    server::Arbiter arbiter(lab, *this);
    arbiter_ = &arbiter;
    switch (arbiter.run()) {
        case server::LabEnd::Done:
            break;
        case server::LabEnd::Interrupted:
            is_interrupted_ = !is_stalled_;
            break;
        case server::LabEnd::Stalled:
            is_stalled_ = true;
            stall_report_ += tools::waiting_report(arbiter, *session_);
            break;
    }
    arbiter_ = nullptr;
}

/// All of them at once: whoever connects to a host whose program has not begun yet waits for it.
void ProgramRunner::reserve_processes() {
    for (uint32_t i = 0; i < programs_.size(); ++i) {
        programs_[i].process = session_->lab().reserve_process(programs_[i].host, i);
        if (programs_[i].process == server::Lab::kNone) throw UserError("too many programs");
    }
}

void ProgramRunner::launch_program(uint32_t index, SimTime now) {
    Program& p = programs_[index];
    server::Lab& lab = session_->lab();
    const uint32_t slot = lab.reserve_slot(p.process, now.in_ps());
    if (slot == server::Lab::kNone) throw UserError("too many programs");
    const OutputCapture::WriteEnds ends = output_.add_program(fmt::format("[{}] ", p.spec->name));
    if (p.spec->ready == ReadyKind::Prints) p.ready_watch = output_.watch(index, p.spec->ready_pattern);
    if (!p.spec->expected_output.empty()) p.output_watch = output_.watch(index, p.spec->expected_output);
    const server::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const LabEntry entry{lab.socket_path(), p.spec->host.text, preload_library(), slot, index};
    const Launched launched = launch(p.command, entry, {nothing.get(), ends.out.get(), ends.err.get()});
    p.pid = launched.pid;
    if (launched.error != 0)
        throw UserError(
            fmt::format("{}: {}: {}", p.spec->position.file_name(), p.command.file, std::strerror(launched.error)));
    if (launched.randomised && index == 0)
        on_note("address randomisation cannot be switched off here: addresses that programs print will differ");
    lab.watch_process(p.process, p.pid);
    p.started = now;
    p.deadline = sum(now, p.spec->timeout);
    if (spec_.run.until) p.deadline = std::min(p.deadline, *spec_.run.until);
    p.outcome.was_started = true;
    p.outcome.started = now;
}

bool ProgramRunner::is_ready(const Program& program, SimTime now) const {
    switch (program.spec->ready) {
        case ReadyKind::AtOnce:
            return true;
        case ReadyKind::Prints:
            return output_.has_matched(*program.ready_watch);
        case ReadyKind::Listens:
            return is_listening(session_->lab().shared().lab_block, session_->lab().hosts()[program.host].address,
                                program.spec->ready_port);
        case ReadyKind::After:
            return now >= sum(program.started, program.spec->ready_after);
    }
    return true;
}

void ProgramRunner::start_due(SimTime now) {
    if (has_given_up_) return;
    for (; next_ < programs_.size(); ++next_) {
        if (next_ > 0) {
            Program& before = programs_[next_ - 1];
            before.outcome.was_ready = is_ready(before, now);
            if (!before.outcome.was_ready) {
                const bool waits_for_time = before.spec->ready == ReadyKind::After;
                has_given_up_ = before.status.has_value() && !waits_for_time;
                return;
            }
        }
        launch_program(next_, now);
    }
    Program& last = programs_.back();
    last.outcome.was_ready = last.outcome.was_ready || is_ready(last, now);
}

void ProgramRunner::act(SimTime now) {
    note_endings();  // what they have printed is complete, so that it is taken in afterwards
    output_.drain();
    apply_faults(now);
    start_due(now);
    end_late_programs(now);
    end_frozen_programs(now);
    look_for_stall(now);
    if (!is_stalled_) set_next_alarm(now);
}

void ProgramRunner::note_endings() {
    for (Program& p : programs_) {
        if (p.is_running()) p.status = ended(p.pid);
    }
}

void ProgramRunner::end_late_programs(SimTime now) {
    for (uint32_t i = 0; i < programs_.size(); ++i) {
        Program& p = programs_[i];
        if (!p.is_running() || now < p.deadline) continue;
        if (stall_report_.empty()) stall_report_ = waiting_report();
        p.outcome.has_timed_out = true;
        end_program(i, now);
    }
}

/// By force, at this simulated time, with every process that it has started.
void ProgramRunner::end_program(uint32_t index, SimTime now) {
    Program& p = programs_[index];
    server::Lab& lab = session_->lab();
    const server::Roster& roster = lab.roster();
    std::vector<uint32_t> processes;
    for (uint32_t i = 0; i < roster.num_processes; ++i) {
        if (roster.processes[i].used && roster.processes[i].program == index) processes.push_back(i);
    }
    signal_program(index, SIGKILL);
    for (int ms = 0; ms < kMostMsToDie && !p.status; ++ms) {
        p.status = ended(p.pid);
        const timespec pause{0, 1'000'000};
        if (!p.status) ::nanosleep(&pause, nullptr);
    }
    output_.drain();
    for (const uint32_t process : processes) lab.process_died(process, now.in_ps());
}

/// The arbiter sees the alarm coming and goes on: the same test as its own, from outside. What is under way between
/// programs arrives long before the time that nothing must have moved for.
void ProgramRunner::look_for_stall(SimTime now) {
    if (arbiter_ == nullptr) return;
    const uint64_t trace = trace_of_slots();
    if (std::exchange(last_trace_, trace) != trace) still_since_ = now;
    if (now - still_since_ < kFirstStallLook || !nobody_can_move()) return;
    const bool will_start =
        next_ > 0 && next_ < programs_.size() && !has_given_up_ && programs_[next_ - 1].spec->ready == ReadyKind::After;
    if (will_start) return;
    if (schedule_.has_more_than_flaps()) return;
    is_stalled_ = true;
    stall_report_ += waiting_report();
}

/// Changes whenever a thread has moved.
uint64_t ProgramRunner::trace_of_slots() const {
    const protocol::LabShared& shared = session_->lab().shared();
    uint64_t trace = sim::mix64(session_->lab().membership_epoch());
    for (uint32_t i = 0; i < session_->lab().roster().num_slots; ++i) {
        const protocol::ThreadSlot& s = shared.slots[i];
        trace = sim::mix64(trace ^ static_cast<uint64_t>(s.clock_ps)) + s.turn.load() * 8 + s.yield;
    }
    return trace;
}

/// Every thread waits without a time limit for something inside the lab, and no model has anything to do.
bool ProgramRunner::nobody_can_move() const {
    server::Lab& lab = session_->lab();
    if (lab.engine().next_event_time() != SimTime::max()) return false;
    const protocol::LabShared& shared = lab.shared();
    bool any = false;
    for (uint32_t i = 0; i < session_->lab().roster().num_slots; ++i) {
        const protocol::ThreadSlot& s = shared.slots[i];
        const auto turn = static_cast<protocol::Turn>(s.turn.load());
        if (turn == protocol::Turn::Free || turn == protocol::Turn::Gone) continue;
        any = true;
        if (lab.frozen_until(lab.roster().process_of_slot[i]) == SimTime::max()) continue;
        if (turn != protocol::Turn::Waiting || static_cast<protocol::Yield>(s.yield) != protocol::Yield::Wait)
            return false;
        if (s.wait.deadline_ps != INT64_MAX || (s.wait.flags & protocol::kWaitReadsClock) != 0) return false;
        const uint32_t items = std::min(s.wait.num_items, protocol::kMaxWaitItems);
        for (uint32_t k = 0; k < items; ++k) {
            if (s.wait.items[k].kind == protocol::WaitKind::External) return false;
        }
    }
    return any;
}

void ProgramRunner::set_next_alarm(SimTime now) {
    SimTime next = SimTime::max();
    bool any_running = false;
    for (const Program& p : programs_) {
        if (!p.is_running()) continue;
        any_running = true;
        next = std::min(next, p.deadline);
    }
    if (any_running) next = std::min(next, schedule_.next());
    if (next_ < programs_.size() && !has_given_up_) {
        const Program& before = programs_[next_ - 1];
        next = std::min(next, before.spec->ready == ReadyKind::After
                                  ? sum(before.started, before.spec->ready_after)
                                  : now + std::max(kFirstLook, (now - before.started) / kLooksAWait));
    }
    if (any_running && session_->lab().virtual_clock())
        next = std::min(next, now + std::max(kFirstStallLook, now / kStallLooksARun));
    if (next != SimTime::max()) session_->set_alarm(next);
}

std::string ProgramRunner::waiting_report() const {
    return arbiter_ != nullptr ? tools::waiting_report(*arbiter_, *session_) : std::string();
}

void ProgramRunner::on_explain(uint32_t host, uint32_t program, std::string_view text) {
    const std::string who =
        program < programs_.size() ? programs_[program].spec->name : session_->lab().hosts()[host].name;
    explanations_.push_back(fmt::format("[{}] {}", who, text));
    if (options_.echo) write_all(STDERR_FILENO, fmt::format("[{}] explain: {}\n", who, text));
}

void ProgramRunner::on_note(std::string_view text) {
    notes_.emplace_back(text);
}

bool ProgramRunner::finished() {
    note_endings();
    if (std::ranges::any_of(programs_, &Program::is_running)) return false;
    return next_ == programs_.size() || has_given_up_;
}

bool ProgramRunner::stop_requested() {
    if (const auto rang = session_->take_alarm()) act(*rang);
    return is_stalled_ || stop_signal_seen();
}

bool ProgramRunner::drain_output() {
    if (++drains_ % kDrainsAFlush == 0) session_->flush_captures();
    return output_.drain();
}

void ProgramRunner::end_all() {
    note_endings();
    std::vector<pid_t> groups;
    for (const Program& p : programs_) {
        if (p.pid > 0) groups.push_back(p.pid);
    }
    kill_everything(groups);
    output_.finish();
}

void ProgramRunner::collect(ProgramRun& result) {
    result.ending = is_stalled_       ? ProgramRunEnding::Stalled
                    : is_interrupted_ ? ProgramRunEnding::Interrupted
                                      : ProgramRunEnding::Done;
    result.stall_report = std::move(stall_report_);
    for (uint32_t i = 0; i < programs_.size(); ++i) {
        Program& p = programs_[i];
        ProgramOutcome& out = p.outcome;
        if (p.status) {
            out.signal = WIFSIGNALED(*p.status) ? WTERMSIG(*p.status) : 0;
            out.exit_code = out.signal != 0 ? 128 + out.signal : WEXITSTATUS(*p.status);
        }
        if (out.was_started) out.output = output_.text(i);
        if (p.ready_watch) out.was_ready = output_.has_matched(*p.ready_watch);
        out.has_expected_exit = out.exit_code && *out.exit_code == p.spec->expected_exit.value_or(0);
        out.has_expected_output = out.was_started && (!p.output_watch || output_.has_matched(*p.output_watch));
        result.programs.push_back(std::move(out));
    }
    result.faults = firings();
    result.notes = std::move(notes_);
    result.explanations = std::move(explanations_);
}

}  // namespace simverbs::tools
