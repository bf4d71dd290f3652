// Faults that befall the programs of a scenario: what the server is told at the start, what happens at its time.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "scenarios/build/addressed_faults.hpp"
#include "tools/simverbs/program_runner.hpp"

namespace simverbs::tools {

using scenarios::AddressedFaultKind;
using scenarios::AddressedFaultSpec;
using scenarios::FaultPlace;
using scenarios::KillTarget;
using sim::SimTime;

void ProgramRunner::add_program_faults() {
    for (size_t f = 0; f < spec_.faults.size(); ++f) {
        const AddressedFaultSpec& fault = spec_.faults[f];
        const scenarios::ProgramFaultSpec& what = fault.program;
        const auto named = std::ranges::find_if(
            programs_, [&](const Program& program) { return program.spec->name == what.name.text; });
        const auto program = static_cast<uint32_t>(named - programs_.begin());
        const auto number = static_cast<uint64_t>(what.number);
        std::optional<size_t>& added = number_in_program_faults_[f];
        if (fault.kind == AddressedFaultKind::FailCall) {
            added = program_faults_.add(
                server::ProgramFaults::FailCall{fault.name, program, server::op_of_call(what.call), what.call, number,
                                                static_cast<uint64_t>(what.count), scenarios::errno_of(what.error)});
        } else if (fault.kind == AddressedFaultKind::LimitCq) {
            added = program_faults_.add(
                server::ProgramFaults::LimitCq{program, number, static_cast<uint32_t>(what.entries)});
        } else if (fault.kind == AddressedFaultKind::PlaceCqe) {
            added = program_faults_.add(
                server::ProgramFaults::PlaceCqe{program, static_cast<uint64_t>(what.cq), number, fault.by});
        } else if (fault.kind == AddressedFaultKind::DelayReceives) {
            added =
                program_faults_.add(server::ProgramFaults::DelayReceives{program, fault.by, fault.from, fault.until});
        }
    }
}

void ProgramRunner::apply_faults(SimTime now) {
    while (const std::optional<FaultStep> step = schedule_.take(now)) {
        if (!step->port) {
            apply_to_programs(*step, now);
            continue;
        }
        const AddressedFaultSpec& fault = spec_.faults[step->fault];
        port_faults_->apply(*step, fault);
        if (step->kind == FaultStep::Kind::Begin) firings_[step->fault].note(step->at);
    }
}

bool ProgramRunner::is_victim(const Program& program, const AddressedFaultSpec& fault) const {
    if (!fault.victim) return false;
    return fault.target == KillTarget::Host      ? program.spec->host.text == fault.victim->text
           : fault.target == KillTarget::Program ? program.spec->name == fault.victim->text
                                                 : false;
}

/// Kill and Freeze; that the links of a host go with it is the fabric's matter.
void ProgramRunner::apply_to_programs(const FaultStep& step, SimTime now) {
    const AddressedFaultSpec& fault = spec_.faults[step.fault];
    server::FaultFiring& firing = firings_[step.fault];
    for (uint32_t i = 0; i < programs_.size(); ++i) {
        Program& p = programs_[i];
        if (!is_victim(p, fault)) continue;
        if (step.kind == FaultStep::Kind::End) {
            program_faults_.freeze(i, SimTime::zero());
            if (p.is_running() && !session_->lab().virtual_clock()) signal_program(i, SIGCONT);
            continue;
        }
        if (!p.is_running()) {
            firing.silence = p.pid > 0 ? fmt::format("'{}' had ended before", p.spec->name)
                                       : fmt::format("'{}' had not been started", p.spec->name);
            continue;
        }
        firing.note(step.at);
        if (fault.kind == AddressedFaultKind::Kill) {
            p.outcome.was_killed = true;
            end_program(i, now);
            continue;
        }
        program_faults_.freeze(i, scenarios::end_of(fault));
        if (!session_->lab().virtual_clock()) signal_program(i, SIGSTOP);
    }
}

/// Once nobody else is left, there is nothing to wait for.
void ProgramRunner::end_frozen_programs(SimTime now) {
    if (next_ < programs_.size() && !has_given_up_) return;
    for (uint32_t i = 0; i < programs_.size(); ++i)
        if (programs_[i].is_running() && program_faults_.frozen_until(i) != SimTime::max()) return;
    for (uint32_t i = 0; i < programs_.size(); ++i) {
        if (!programs_[i].is_running()) continue;
        programs_[i].outcome.was_killed = true;
        end_program(i, now);
    }
}

/// To every process that it has started.
void ProgramRunner::signal_program(uint32_t index, int signal) {
    const server::Roster& roster = session_->lab().roster();
    ::kill(-programs_[index].pid, signal);
    for (uint32_t i = 0; i < roster.num_processes; ++i) {
        const server::Roster::Process& entry = roster.processes[i];
        if (entry.used && entry.program == index && entry.pid > 0) ::kill(entry.pid, signal);
    }
}

std::vector<server::FaultFiring> ProgramRunner::firings() const {
    std::vector<server::FaultFiring> out = firings_;
    for (size_t f = 0; f < out.size(); ++f) {
        const AddressedFaultSpec& fault = spec_.faults[f];
        if (number_in_program_faults_[f])
            out[f] = program_faults_.firing(*number_in_program_faults_[f], fault.program.name.text);
        const FaultPlace place = place_of(fault.kind);
        const bool has_own_time = place == FaultPlace::Victim || place == FaultPlace::Port;
        if (has_own_time && out[f].times == 0 && out[f].silence.empty() &&
            fault.at > session_->lab().engine().frontier())
            out[f].silence = fmt::format("the programs had ended at {:.3f} us",
                                         static_cast<double>(session_->lab().engine().frontier().in_ps()) * 1e-6);
    }
    return out;
}

}  // namespace simverbs::tools
