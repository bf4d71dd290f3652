// Faults of scenarios and labs as what links do.
#pragma once

#include "models/link/link_faults.hpp"
#include "scenarios/lang/addressed_fault_spec.hpp"
#include "scenarios/lang/lab_spec.hpp"

namespace simverbs::scenarios {

/// The directions of a link that a fault looks at.
struct FaultWays {
    bool a_to_b = false;
    bool b_to_a = false;
};
/// `is_turned`: the end that the fault names first, its `a`, is the link's b.
[[nodiscard]] FaultWays ways_of(FaultDirection direction, bool is_turned) noexcept;

/// When a Freeze or PortState ends; max(): never.
[[nodiscard]] sim::SimTime end_of(const AddressedFaultSpec& fault) noexcept;

/// What the fault does to one direction of a link; its path is the fault's name. A link of something that is killed is
/// down from then on, of something frozen until it thaws. Of faults of links, Kill, Freeze and PortState, but not
/// PauseStorm; a match by flow is the caller's to add.
[[nodiscard]] link::LinkFault link_fault(const AddressedFaultSpec& fault);

/// The same of a fault that stands at a link; its path is where it stands.
[[nodiscard]] link::LinkFault link_fault(const FaultSpec& fault);

}  // namespace simverbs::scenarios
