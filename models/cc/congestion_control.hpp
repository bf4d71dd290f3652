// Congestion control: what a requester tells an algorithm, and what it reads from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "models/wire/int_stack.hpp"
#include "models/wire/psn.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::cc {

/// Constants of one QP's path. All but hops are positive.
struct PathFacts {
    sim::BitRate line_rate;      ///< of the sender's port; no algorithm goes above it
    sim::SimTime base_rtt;       ///< a full packet and its ACK through empty queues
    uint32_t packet_bytes = 0;   ///< on the wire: a full packet with all its headers
    uint32_t payload_bytes = 0;  ///< in a full packet (the path MTU)
    uint32_t hops = 0;           ///< links on the way, the sender's own one included; Swift's target grows with them
};

/// What the requester's scheduler reads and the algorithm writes. The requester may send a packet if the time for it
/// has come (pacing at `rate`, wire bytes) and payload in flight < window_bytes; so a window below one packet still
/// lets one packet out, and the last packet may exceed the window (as HPCC's simulator has it). Where the wait for
/// pacing reaches beyond next_update, it is to be computed anew then: a slow QP would else sleep through increases.
struct Control {
    static constexpr int64_t kNoWindow = std::numeric_limits<int64_t>::max();
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    sim::BitRate rate;                               ///< in (0, line rate]
    int64_t window_bytes = kNoWindow;                ///< payload bytes in flight
    sim::SimTime next_update = sim::SimTime::max();  ///< on_time at the first packet, ACK or CNP at or after this
    int64_t bytes_to_update = kNever;  ///< the requester subtracts the wire bytes it sends; on_bytes when <= 0
};
static_assert(sizeof(Control) == 32);

/// What one egress port wrote into a packet when it left; its path's hops, in order.
using HopInt = wire::IntHop;
using HopRate = wire::HopRate;
inline constexpr std::size_t kMaxHops = wire::IntStack::kMaxHops;

/// One acknowledgement (coalesced or not; a NAK acknowledges what lies before it).
struct Ack {
    sim::SimTime now;
    sim::SimTime rtt;              ///< of the newest acknowledged packet; zero: not measured
    int64_t acked_bytes = 0;       ///< payload that this ACK newly acknowledges
    wire::Psn ack_psn;             ///< newest acknowledged packet
    wire::Psn next_psn;            ///< first packet never sent so far
    bool ecn_echo = false;         ///< one of the acknowledged packets came with Ce
    std::span<const HopInt> hops;  ///< in the order of the path, at most kMaxHops
};

/// What an algorithm wants to be told; the rest need not be made.
struct Needs {
    bool cnp = false;                    ///< the receiver answers Ce with CNPs (BECN on InfiniBand) …
    sim::SimTime min_time_between_cnps;  ///< … at most one a QP in this time; zero: one for every marked packet
    bool late_cnps = false;              ///< Ce within that time is answered at its end; else it is forgotten
    bool ecn_echo = false;               ///< ACKs say whether Ce came
    bool rtt = false;                    ///< ACKs carry a measured RTT
    bool hop_int = false;                ///< packets collect INT, ACKs bring it back
};

/// An algorithm with its parameters. One object serves all QPs of a simulation and all its threads: it is const, what
/// belongs to one QP is in that QP's state. Results depend on the arguments alone. `now` never goes back.
class CongestionControl {
  public:
    /// A QP has this much room for the state, aligned to 8 bytes.
    static constexpr std::size_t kMaxState = 256;

    CongestionControl() = default;
    CongestionControl(const CongestionControl&) = delete;
    CongestionControl& operator=(const CongestionControl&) = delete;
    virtual ~CongestionControl() = default;

    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// Bytes of state a QP; the state is trivially copyable.
    [[nodiscard]] virtual std::size_t state_size() const noexcept = 0;
    [[nodiscard]] virtual Needs needs() const noexcept = 0;

    /// Makes the state and the first Control of a QP.
    virtual void start(void* state, const PathFacts& path, Control& control) const noexcept = 0;
    virtual void on_ack(void* /*state*/, const PathFacts&, const Ack&, Control&) const noexcept {}
    /// A CNP, or a packet with BECN.
    virtual void on_cnp(void* /*state*/, const PathFacts&, sim::SimTime /*now*/, Control&) const noexcept {}
    /// Lazy: next_update lies at or before `now`, perhaps long ago; what should have happened then happens now.
    virtual void on_time(void* /*state*/, const PathFacts&, sim::SimTime /*now*/, Control&) const noexcept {}
    virtual void on_bytes(void* /*state*/, const PathFacts&, sim::SimTime /*now*/, Control&) const noexcept {}
    /// The retransmission timer of the QP expired.
    virtual void on_timeout(void* /*state*/, const PathFacts&, sim::SimTime /*now*/, Control&) const noexcept {}
};

/// The base of algorithms whose state is a struct State.
template <class State>
class CongestionControlWith : public CongestionControl {
    static_assert(std::is_trivially_copyable_v<State> && sizeof(State) <= kMaxState && alignof(State) <= 8);

  public:
    [[nodiscard]] std::size_t state_size() const noexcept final { return sizeof(State); }

  protected:
    [[nodiscard]] static State& in(void* state) noexcept { return *static_cast<State*>(state); }
};

}  // namespace simverbs::cc
