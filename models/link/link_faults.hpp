// Addressable faults of one direction of a link. They act where the packets come out: at the receiver's ingress.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/wire/packet.hpp"
#include "models/wire/packet_extra.hpp"
#include "sim/event_list.hpp"
#include "sim/link_ring.hpp"
#include "sim/rng.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::link {

using PacketChannel = sim::Channel<wire::Packet>;

enum class FaultKind : uint8_t { Drop, Corrupt, Duplicate, Delay, Reorder, EcnMark, Down };

/// What tells the packets of a scenario's flow from all others: where they go, by which QP, and whether they carry data
/// or answer it.
[[nodiscard]] uint64_t flow_key(const wire::Packet& packet) noexcept;
[[nodiscard]] uint64_t flow_key(wire::LeafId dest, uint32_t dest_qp, bool is_answer) noexcept;

/// Packets by what stands in their headers; absent members match everything.
struct HeaderMatch {
    std::optional<uint32_t> dest_qp;
    std::optional<uint32_t> psn;
    std::optional<uint32_t> opcode;
    std::optional<std::vector<uint64_t>> flows;  ///< any of these flow_keys, which ascend
    /// Only the n-th packet that matches the rest while the fault may act, from 1; 0: all of them.
    uint64_t nth = 0;

    [[nodiscard]] bool matches(const wire::Packet& packet) const noexcept {
        return dest_qp.value_or(packet.dest_qp) == packet.dest_qp && psn.value_or(packet.psn) == packet.psn &&
               opcode.value_or(packet.opcode) == packet.opcode &&
               (!flows || std::ranges::binary_search(*flows, flow_key(packet)));
    }
};

/// One fault. Which packets: exactly one of `nth`, `every`, `probability`, `match`; a Down fault has none of them.
/// Packets of the direction are counted from 1, in order of arrival.
struct LinkFault {
    FaultKind kind = FaultKind::Drop;
    uint64_t nth = 0;          ///< this packet alone
    uint64_t every = 0;        ///< packets every, 2·every, …
    double probability = 0.0;  ///< each packet, by a draw keyed by port and ordinal
    std::optional<HeaderMatch> match;
    uint64_t most = 0;    ///< acts on so many packets at most; 0: no limit
    sim::SimTime by;      ///< Delay: how much later
    uint32_t behind = 1;  ///< Reorder: comes out after this many later packets (at the latest kReorderPatience on)
    sim::SimTime from;    ///< acts on packets that arrive from here …
    sim::SimTime until = sim::SimTime::max();  ///< … to before here
    sim::SimTime period;     ///< Down: again and again, from one going down to the next; zero: down all the time
    sim::SimTime down_time;  ///< Down with a period: how long each time
    std::string path;        ///< where it was asked for; comes back in the report
};

/// How often a fault acted, and when. One that never fired fails a scenario.
struct FaultReport {
    std::string path;
    FaultKind kind = FaultKind::Drop;
    uint64_t fired = 0;
    sim::SimTime first, last;  ///< if it did: at these packets' arrivals
    uint64_t seen = 0;         ///< packets of the direction
    uint64_t matched = 0;      ///< of these, that its `match` fits while it may act
};

/// Hears what becomes of packets between the ports: what links' faults do with them, which ones switches discard. The
/// packet's extra record is still there.
class FateObserver {
  public:
    virtual ~FateObserver() = default;
    virtual void on_fault(sim::SimTime at, const wire::Packet& packet, const LinkFault& fault) = 0;
    /// A fault, or a switch for a group, has made `copy` of `packet`: another packet, with a record of its own.
    virtual void on_copied(const wire::Packet& packet, const wire::Packet& copy) = 0;
    virtual void on_discarded(sim::SimTime at, const wire::Packet& packet, const std::string& node,
                              const char* why) = 0;
};

/// A reordered packet waits no longer than this for later ones: with no traffic behind it, it still arrives.
inline constexpr sim::SimTime kReorderPatience = sim::SimTime::us(100);

/// The faults of one direction, and the packets that they hold back.
class LinkFaults {
  public:
    /// `port`: id of the receiving directed port, which keys the draws.
    LinkFaults(std::vector<LinkFault> faults, uint64_t seed, sim::ComponentId port);

    /// Earliest time at which pop() has something, SimTime::max() if never.
    [[nodiscard]] sim::SimTime next_time(const PacketChannel& channel) const noexcept {
        return std::min(channel.head_time(), held_.next_time());
    }
    /// Takes the packet of next_time(). Returns false if the link swallowed it (its extra record is released).
    bool pop(PacketChannel& channel, wire::Packet& packet, wire::PacketPool* pool, unsigned shard);

    void set_observer(FateObserver* observer) noexcept { observer_ = observer; }

    [[nodiscard]] std::vector<FaultReport> reports() const;
    /// Packets seen, packets lost in drops and down times.
    [[nodiscard]] uint64_t seen() const noexcept { return seen_; }
    [[nodiscard]] uint64_t lost() const noexcept { return lost_; }
    /// Did the last pop() lose its packet for good? Receivers with credits then give back what its sender spent.
    [[nodiscard]] bool last_was_lost() const noexcept { return last_was_lost_; }
    /// Packets held back now, and copies made so far (for conservation checks).
    [[nodiscard]] uint64_t held() const noexcept { return held_.size(); }
    [[nodiscard]] uint64_t duplicated() const noexcept { return duplicated_; }

  private:
    struct Held {
        wire::Packet packet;
        uint64_t release_after = 0;  ///< comes out early once this many packets were seen; 0: by time alone
    };
    /// Applies the faults to a packet that has just come in; false if it does not come out (now).
    bool apply(wire::Packet& packet, PacketChannel& channel, wire::PacketPool* pool, unsigned shard);
    /// Whether the fault acts on the packet; counts those that its `match` fits.
    [[nodiscard]] bool hits(size_t fault, const wire::Packet& packet) noexcept;
    void hold(const wire::Packet& packet, sim::SimTime until, uint64_t release_after, PacketChannel& channel);
    void release_overtaken(sim::SimTime now);

    std::vector<LinkFault> faults_;
    struct Firing {
        uint64_t count = 0;
        sim::SimTime first, last;
    };
    std::vector<Firing> fired_;
    std::vector<uint64_t> matched_;
    std::vector<sim::Draws> draws_;
    sim::EventList<Held> held_;
    FateObserver* observer_ = nullptr;
    uint64_t waiting_for_others_ = 0;
    uint64_t seen_ = 0;
    uint64_t lost_ = 0;
    bool last_was_lost_ = false;
    uint64_t duplicated_ = 0;
};

}  // namespace simverbs::link
