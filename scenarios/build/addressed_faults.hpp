// Faults of scenarios and labs as what links do.
#pragma once

#include "models/link/link_faults.hpp"
#include "scenarios/lang/addressed_fault_spec.hpp"
#include "scenarios/lang/lab_spec.hpp"

namespace simverbs::scenarios {

/// What the fault does to one direction of a link; its path is the fault's name. A link of something that is killed is
/// down from then on. Of all kinds but PauseStorm, and without a trigger by flow.
[[nodiscard]] link::LinkFault link_fault(const AddressedFaultSpec& fault);

/// What a link's own fault does to one direction of it.
[[nodiscard]] link::LinkFault link_fault(const FaultSpec& fault);

}  // namespace simverbs::scenarios
