// What goes wrong for programs on purpose: calls that fail, CQs that are too small, completions at the worst moment,
// receives that come late, threads that stand still. A lab without such faults has none of this.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/sim_time.hpp"
#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::server {

struct Client;
struct CqObject;

/// How often a fault acted, and when; or why not.
struct FaultFiring {
    uint64_t times = 0;
    sim::SimTime first, last;
    std::string silence;  ///< a clause; empty if it fired

    void note(sim::SimTime now) {
        first = times++ == 0 ? now : first;
        last = now;
    }
};

/// Of one lab. Programs are known by their numbers, faults by those that adding them gave.
class ProgramFaults {
  public:
    /// Calls `number` to `number` + `count` - 1 (from 1) of `op` by the program fail with `error`. `name`: as told.
    struct FailCall {
        std::string name;
        uint32_t program = 0;
        protocol::Op op = protocol::Op::CreateQp;
        std::string call;  ///< "create_qp"
        uint64_t number = 1, count = 1;
        int error = 0;
    };
    /// The program's `cq`-th CQ overruns beyond `entries`.
    struct LimitCq {
        uint32_t program = 0;
        uint64_t cq = 1;
        uint32_t entries = 1;
    };
    /// The `arming`-th or a later arming of an empty CQ waits for a completion, at most `patience`.
    struct PlaceCqe {
        uint32_t program = 0;
        uint64_t cq = 0;  ///< 0: any with a channel
        uint64_t arming = 1;
        sim::SimTime patience;
    };
    /// Receives posted from `from` to before `until` reach the adapter `by` later.
    struct DelayReceives {
        uint32_t program = 0;
        sim::SimTime by, from, until = sim::SimTime::max();
    };

    size_t add(const FailCall& fault);
    size_t add(const LimitCq& fault);
    size_t add(const PlaceCqe& fault);
    size_t add(const DelayReceives& fault);
    [[nodiscard]] bool empty() const noexcept { return firings_.empty(); }

    // ---- what the server asks
    /// The errno that this call of the program must fail with, 0 if none; `why` gets a sentence for --explain.
    int refuse(uint32_t program, protocol::Op op, sim::SimTime now, std::string& why);
    /// A program has made a CQ: its limit (0: none), and its ring says whether armings are to be held.
    uint32_t on_new_cq(const Client& client, uint32_t handle, const CqObject& cq);
    /// The limit that the CQ keeps when it is resized; 0: none.
    [[nodiscard]] uint32_t limit_of(const Client& client, uint32_t handle) const;
    void on_cq_gone(const Client& client, uint32_t handle);
    void on_client_gone(const Client& client);
    /// The CQ overran.
    void on_cq_error(const Client& client, uint32_t handle, sim::SimTime now);
    /// The CQ was armed at `t`.
    void on_armed(const Client& client, uint32_t handle, const CqObject& cq, sim::SimTime t);
    /// When a receive posted at `t` reaches the adapter's side.
    [[nodiscard]] sim::SimTime receive_time(uint32_t program, sim::SimTime t);

    // ---- threads
    /// No thread of the program runs before `until`; max(): ever again.
    void freeze(uint32_t program, sim::SimTime until) { frozen_until_[program] = until; }
    /// zero(): it is not frozen.
    [[nodiscard]] sim::SimTime frozen_until(uint32_t program) const {
        const auto it = frozen_until_.find(program);
        return it == frozen_until_.end() ? sim::SimTime::zero() : it->second;
    }

    /// What has become of fault `index`. `name`: the program's.
    [[nodiscard]] FaultFiring firing(size_t index, const std::string& name) const;

  private:
    using CqKey = std::pair<const Client*, uint32_t>;
    struct Held {
        size_t fault = 0;      ///< index in places_
        uint64_t armings = 0;  ///< of the empty CQ
    };
    template <class Fault>
    struct Entry {
        Fault fault;
        size_t index = 0;   ///< in firings_
        uint64_t seen = 0;  ///< calls, CQs, armings or receives that came into question
    };
    template <class Fault>
    size_t add_to(std::vector<Entry<Fault>>& entries, const Fault& fault);

    std::vector<FaultFiring> firings_;
    std::vector<Entry<FailCall>> calls_;
    std::vector<Entry<LimitCq>> limits_;
    std::vector<Entry<PlaceCqe>> places_;
    std::vector<Entry<DelayReceives>> delays_;
    std::map<uint32_t, uint64_t> cqs_made_;  ///< by program
    std::map<CqKey, size_t> limited_;        ///< index in limits_
    std::map<CqKey, Held> held_;
    std::map<uint32_t, sim::SimTime> frozen_until_;
};

/// The request behind a call's name ("create_qp"); kCount if there is none.
[[nodiscard]] protocol::Op op_of_call(std::string_view call) noexcept;

}  // namespace simverbs::server
