// Starts the programs of a scenario when their time has come, and ends them when it is over.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/faulty_port.hpp"
#include "sim/sim_time.hpp"
#include "tools/simverbs/fault_schedule.hpp"
#include "tools/simverbs/keeper.hpp"
#include "tools/simverbs/lab_session.hpp"
#include "tools/simverbs/output_capture.hpp"
#include "tools/simverbs/port_faults.hpp"
#include "tools/simverbs/program_command.hpp"
#include "tools/simverbs/program_runs.hpp"
#include "verbs_shim/server/arbiter.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/lab_runner.hpp"
#include "verbs_shim/server/program_faults.hpp"

namespace simverbs::tools {

/// Owner and observer of a lab that runs a scenario's programs. What it does in simulated time it does when the lab's
/// alarm rings, between two moves: the same in every run.
class ProgramRunner final : public server::LabObserver, public server::LabOwner {
  public:
    /// `hosts` and `commands`: of the scenario's programs, in their order. `spec` must outlive this.
    ProgramRunner(const scenarios::ScenarioSpec& spec, const std::vector<uint32_t>& hosts,
                  const std::vector<scenarios::run::FaultyPort>& ports, std::vector<ProgramCommand> commands,
                  const ProgramRunOptions& options);

    /// Runs all programs to their end; they are gone then, whatever happens. Fills their outcomes but for the
    /// judgement.
    void run(LabSession& session, ProgramRun& result);

    // server::LabObserver
    void on_explain(uint32_t host, uint32_t program, std::string_view text) override;
    void on_note(std::string_view text) override;
    // server::LabOwner
    bool finished() override;
    bool stop_requested() override;
    bool drain_output() override;
    bool may_freeze() const override { return false; }

  private:
    struct Program {
        const scenarios::ProgramSpec* spec = nullptr;
        ProgramCommand command;
        uint32_t host = 0;
        uint32_t process = server::Lab::kNone;
        pid_t pid = -1;
        std::optional<int> status;  ///< wait status, once it has ended
        sim::SimTime started;
        sim::SimTime deadline = sim::SimTime::max();
        std::optional<size_t> ready_watch, output_watch;
        ProgramOutcome outcome;

        [[nodiscard]] bool is_running() const noexcept { return pid > 0 && !status; }
    };

    void reserve_processes();
    void launch_program(uint32_t index, sim::SimTime now);
    void start_due(sim::SimTime now);
    [[nodiscard]] bool is_ready(const Program& program, sim::SimTime now) const;
    void act(sim::SimTime now);
    void note_endings();
    void end_late_programs(sim::SimTime now);
    // program_faults.cpp
    void add_program_faults();
    void apply_faults(sim::SimTime now);
    void apply_to_programs(const FaultStep& step, sim::SimTime now);
    void end_frozen_programs(sim::SimTime now);
    void signal_program(uint32_t index, int signal);
    [[nodiscard]] bool is_victim(const Program& program, const scenarios::AddressedFaultSpec& fault) const;
    [[nodiscard]] std::vector<server::FaultFiring> firings() const;

    void end_program(uint32_t index, sim::SimTime now);
    void look_for_stall(sim::SimTime now);
    [[nodiscard]] uint64_t trace_of_slots() const;
    [[nodiscard]] bool nobody_can_move() const;
    void set_next_alarm(sim::SimTime now);
    [[nodiscard]] std::string waiting_report() const;
    void move_lab();
    void end_all();
    void collect(ProgramRun& result);

    const scenarios::ScenarioSpec& spec_;
    ProgramRunOptions options_;
    OutputCapture output_;
    LabSession* session_ = nullptr;
    std::optional<Keeper> keeper_;
    const server::Arbiter* arbiter_ = nullptr;
    std::vector<Program> programs_;
    FaultSchedule schedule_;
    std::optional<PortFaults> port_faults_;
    server::ProgramFaults program_faults_;
    std::vector<std::optional<size_t>> number_in_program_faults_;  ///< by fault of the scenario
    std::vector<server::FaultFiring> firings_;                     ///< of the schedule's, by fault of the scenario
    uint32_t next_ = 0;                                            ///< first program that has not been started
    bool has_given_up_ = false;                                    ///< the rest will never be started
    bool is_stalled_ = false;
    bool is_interrupted_ = false;
    uint64_t drains_ = 0;
    uint64_t last_trace_ = 0;
    sim::SimTime still_since_;  ///< no thread has moved since
    std::string stall_report_;
    std::vector<std::string> notes_, explanations_;
};

}  // namespace simverbs::tools
