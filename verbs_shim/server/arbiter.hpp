// The virtual clock: whose move it is. Exactly one party runs at a time, the models or one thread of one program,
// smallest time first (docs/architecture.md, "The turn protocol").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verbs_shim/protocol/turn_wait.hpp"
#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/lab_runner.hpp"
#include "verbs_shim/server/placement.hpp"
#include "verbs_shim/server/thread_watch.hpp"

namespace simverbs::server {

class Arbiter {
  public:
    Arbiter(Lab& lab, LabOwner& owner);

    /// Runs until every program has ended, nothing can happen any more, or the owner stops it.
    LabEnd run();

    /// Who waits for what: one line a thread, then what the QPs wait for. For the stall report.
    [[nodiscard]] std::string waiting_report() const;

  private:
    /// A thread slot as the arbiter knows it; what lies in shared memory is copied when the thread gives up its turn.
    struct SlotState {
        int64_t granted_ps = 0;
        // What a waiting thread said as it gave up its turn, read once: any program of the lab can write to its slot.
        bool is_captured = false;
        uint32_t tenant = 0;  ///< Roster::tenants_of_slot, of whom all this is told
        protocol::Yield yield = protocol::Yield::Horizon;
        bool process_ends = false;
        int64_t clock_ps = 0;
        uint64_t visible_seen = 0, whole_seen = 0;  ///< the Client's counts at the last grant
        uint32_t steps = 0;                         ///< clock steps in a row without anything happening (rule 5)
        uint32_t wait_flags = 0;
        int64_t deadline_ps = INT64_MAX;
        uint32_t short_waits = 0;  ///< waits in a row for less than any call takes
        std::vector<protocol::WaitItem> items;
        std::vector<UniqueFd> external;  ///< our copies of the External items' descriptors, in their order
        bool has_external = false;
    };
    struct Pick {
        uint32_t slot = Lab::kNone;
        sim::SimTime at = sim::SimTime::max();  ///< when the slot is ready
        bool outside = false;                   ///< somebody waits for something outside the lab
        bool any = false;                       ///< there is any slot at all
    };

    [[nodiscard]] Pick pick();
    /// Of the slot's tenant.
    SlotState& state_of(uint32_t slot);
    /// Reads what a thread that waits has said, unless that is known.
    const SlotState& capture(uint32_t slot);
    [[nodiscard]] int64_t clock_of(uint32_t slot);
    [[nodiscard]] sim::SimTime ready_time(uint32_t slot);
    [[nodiscard]] sim::SimTime wait_ready(uint32_t slot, Client* client);
    [[nodiscard]] sim::SimTime item_ready(uint32_t slot, size_t item, Client* client);
    [[nodiscard]] bool external_ready(SlotState& state, size_t item) const;
    void run_models(const Pick& p);
    void give_turn(uint32_t slot, const Pick& p);
    void serve_control(uint32_t slot, sim::SimTime at);
    void finish_exit(uint32_t slot, sim::SimTime at);
    bool await_death(uint32_t slot);
    void await_arrival(uint32_t slot);
    void grant(uint32_t slot, const Pick& p);
    void await_holder(uint32_t slot);
    bool look_after_holder(uint32_t slot, ThreadWatch& watch, int64_t now_ns);
    void end_turn(uint32_t slot);
    void copy_wait(uint32_t slot);
    void note_host_busy(uint32_t slot);
    [[nodiscard]] std::pair<sim::SimTime, sim::SimTime> next_others(uint32_t slot);
    void note_empty_hosts();
    void lose_turn(uint32_t slot, const char* why);
    void reap_dead();
    void tick(int timeout_ms);
    void tick_if_due();
    [[nodiscard]] protocol::Turn turn_of(uint32_t slot) const;
    [[nodiscard]] uint32_t process_of(uint32_t slot) const { return lab_->roster().process_of_slot[slot]; }
    [[nodiscard]] const Roster::Process& entry_of(uint32_t slot) const {
        return lab_->roster().processes[process_of(slot)];
    }
    [[nodiscard]] sim::SimTime floor() const;
    /// The engine's next event; asked for once, until something has happened that may have changed it.
    [[nodiscard]] sim::SimTime next_event();

    Lab* lab_;
    LabOwner* owner_;
    protocol::LabShared* shared_;
    std::vector<SlotState> states_;
    std::vector<bool> host_busy_;
    protocol::TurnWait turn_wait_;
    Placement placement_;
    uint32_t grants_ = 0;
    sim::SimTime next_event_;
    bool next_event_known_ = false;
    uint32_t looks_at_stall_ = 0;
    int64_t latest_granted_ps_ = 0;
    uint32_t last_process_ = Lab::kNone;
    uint64_t rounds_ = 0;
    uint64_t members_seen_ = 0;
    int64_t last_tick_ns_ = 0;
    bool told_undetermined_ = false;
};

}  // namespace simverbs::server
