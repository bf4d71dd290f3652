// Faults of a scenario, each with a name and a place: what goes wrong, where, and for which packets or when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/lang/lab_spec.hpp"
#include "scenarios/lang/place_ref.hpp"
#include "scenarios/lang/program_fault_spec.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::scenarios {

enum class AddressedFaultKind {
    Drop,
    Corrupt,
    Duplicate,
    Delay,
    Reorder,
    EcnMark,
    Down,
    Flap,
    PauseStorm,
    Kill,
    Freeze,
    // what programs meet: see ProgramFaultSpec
    FailCall,
    LimitCq,
    PlaceCqe,
    DelayReceives,
    // what happens to an adapter's port
    PortState,
    ChangeGid,
    ChangePkey,
    PortEvent,
    // what happens inside a host
    DegradeSlot,
};
/// What a fault acts on: packets and signals of a link; what `kill` and `freeze` name; a program's calls; a port; a
/// slot of a platform.
enum class FaultPlace { Link, Victim, Program, Port, Slot };

[[nodiscard]] constexpr FaultPlace place_of(AddressedFaultKind kind) noexcept {
    switch (kind) {
        case AddressedFaultKind::Drop:
        case AddressedFaultKind::Corrupt:
        case AddressedFaultKind::Duplicate:
        case AddressedFaultKind::Delay:
        case AddressedFaultKind::Reorder:
        case AddressedFaultKind::EcnMark:
        case AddressedFaultKind::Down:
        case AddressedFaultKind::Flap:
        case AddressedFaultKind::PauseStorm:
            return FaultPlace::Link;
        case AddressedFaultKind::Kill:
        case AddressedFaultKind::Freeze:
            return FaultPlace::Victim;
        case AddressedFaultKind::FailCall:
        case AddressedFaultKind::LimitCq:
        case AddressedFaultKind::PlaceCqe:
        case AddressedFaultKind::DelayReceives:
            return FaultPlace::Program;
        case AddressedFaultKind::PortState:
        case AddressedFaultKind::ChangeGid:
        case AddressedFaultKind::ChangePkey:
        case AddressedFaultKind::PortEvent:
            return FaultPlace::Port;
        case AddressedFaultKind::DegradeSlot:
            return FaultPlace::Slot;
    }
    return FaultPlace::Link;
}

enum class KillTarget { Host, Nic, Switch, Port, Program };

/// Flows of a scenario: all of a workload, or one, by its number there or (without a workload) in the run.
struct FlowRef {
    std::string workload;
    std::optional<int64_t> number;
    std::string text;
    std::string path;
    SourcePosition position;
};

/// Packets by what stands in their headers; absent members match everything.
struct PacketMatch {
    std::optional<int64_t> qpn;
    std::optional<int64_t> psn;
    std::optional<FlowRef> flow;       ///< data, acknowledgements and CNPs of these
    std::optional<int64_t> iteration;  ///< the i-th packet that matches the rest, from 1 (2: its first retransmission)
    std::string opcode;                ///< "RDMA_WRITE_FIRST"; "": any
    std::string qpn_path;
    SourcePosition qpn_position;
};

/// Which packets of a link a fault hits: exactly one of the first four. Each direction counts and draws for itself.
struct PacketTrigger {
    std::optional<int64_t> packet;  ///< only this one, from 1
    std::optional<int64_t> every;   ///< every, 2·every, 3·every, …
    std::optional<double> probability;
    std::optional<PacketMatch> match;
    std::optional<int64_t> most;  ///< at most that many
};

struct AddressedFaultSpec {
    std::string name;  ///< distinct in the scenario
    AddressedFaultKind kind = AddressedFaultKind::Drop;
    std::optional<LinkRef> link;  ///< of Drop to PauseStorm
    FaultDirection direction = FaultDirection::Both;
    PacketTrigger trigger;                     ///< of the packet faults
    sim::SimTime by;                           ///< Delay, DelayReceives
    int behind = 0;                            ///< Reorder
    sim::SimTime from;                         ///< packet faults, Down, Flap, PauseStorm, DegradeSlot: not before
    sim::SimTime until = sim::SimTime::max();  ///< … and not at or after
    sim::SimTime period;                       ///< Flap: from one going down to the next
    sim::SimTime down_time;                    ///< Flap: how long it is down each time
    std::optional<int64_t> count;              ///< Flap: how often; absent: until `until`
    int priority = 3;                          ///< PauseStorm
    KillTarget target = KillTarget::Host;      ///< Kill, Freeze
    std::optional<PlaceRef> victim;            ///< Kill, Freeze; DegradeSlot: "h0/nic0"
    std::optional<int> generation, lanes;      ///< DegradeSlot: that the slot has meanwhile
    sim::SimTime at;                           ///< Kill, Freeze, and what happens to a port
    /// Freeze, PortState: how long; absent: for ever.
    std::optional<sim::SimTime> lasts;
    ProgramFaultSpec program;  ///< from FailCall on
    bool must_fire = true;  ///< one that never fires fails the scenario; false if an expectation says that it does not
    std::string path;
    SourcePosition position;
};

}  // namespace simverbs::scenarios
