// A lab from its description to something that runs: engine, models, server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/timeline/timeline.hpp"
#include "scenarios/lang/lab_spec.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_fabric.hpp"
#include "sim/sim_time.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::server {
class Arbiter;
}

namespace simverbs::tools {

inline constexpr uint64_t kTimelinePackets = 5000;

/// What the command line says about the lab.
struct LabRequest {
    std::string lab;  ///< name or file; empty: the default lab
    std::optional<uint64_t> seed;
    std::optional<scenarios::ClockKind> clock;
    std::vector<std::string> parameters;       ///< "wqe_process=200 ns", for every NIC
    std::string pcap_folder;                   ///< empty: no capture
    std::string timeline;                      ///< the page; empty: none, and nothing is recorded
    std::optional<uint64_t> timeline_packets;  ///< that are kept for it; nullopt: kTimelinePackets
    bool explain = false;
};

/// Finds, reads and checks the lab. Throws UserError with every diagnostic.
[[nodiscard]] scenarios::LabSpec load_lab(const LabRequest& request);

/// Index of the host of that name. Throws UserError with the nearest right name.
[[nodiscard]] uint32_t host_index(const scenarios::LabSpec& spec, const std::string& name);

/// Everything of a running lab, in the order of its making.
class LabSession {
  public:
    /// A lab of adapters alone. Throws UserError (wrong parameters, capture folder) or std::runtime_error.
    LabSession(const scenarios::LabSpec& spec, const LabRequest& request, server::LabObserver& observer);
    /// The programs' part of a scenario, whose fabric is made; it must be gone before this. Captures are those of the
    /// scenario, in the request's folder.
    LabSession(const scenarios::ScenarioSpec& spec, scenarios::run::BuiltScenario& built, const LabRequest& request,
               server::LabObserver& observer);
    ~LabSession();
    LabSession(const LabSession&) = delete;
    LabSession& operator=(const LabSession&) = delete;

    [[nodiscard]] server::Lab& lab() noexcept;
    /// What faults have taken from the links so far, one line each: "2 packets on h0.mlx5_0/1 - sw0/1 (…)".
    [[nodiscard]] std::vector<std::string> losses() const;
    /// Writes what was captured so far; call it now and then, or it stays in memory.
    void flush_captures();
    /// Captures are complete on disk after this.
    void close_captures();
    /// What was recorded, where LabRequest::timeline asks for it; once, at the end.
    [[nodiscard]] timeline::Timeline take_timeline();

    /// Rings at this simulated time, instead of any earlier setting: whoever moves the lab then asks its owner at once
    /// whether to stop (LabOwner::stop_requested). Between windows of the engine.
    void set_alarm(sim::SimTime at);
    /// When the alarm rang, once; nullopt if it has not.
    [[nodiscard]] std::optional<sim::SimTime> take_alarm();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Who waits for what, and what was lost on the way.
[[nodiscard]] std::string waiting_report(const server::Arbiter& arbiter, const LabSession& session);

}  // namespace simverbs::tools
