// A scenario's faults as what links do: the faults themselves, and where they act in a lab.
#pragma once

#include <span>

#include "models/fabric/fabric_spec.hpp"
#include "models/link/link_faults.hpp"
#include "scenarios/lang/addressed_fault_spec.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/lab_spec.hpp"

namespace simverbs::scenarios {

/// What the fault does to one direction of a link; its path is the fault's name. A link of something that is killed is
/// down from then on. Of all kinds but PauseStorm, and without a trigger by flow.
[[nodiscard]] link::LinkFault link_fault(const AddressedFaultSpec& fault);

/// Adds the faults to the links of `fabric`, which was built from `lab`: link i there is link i here. Whatever cannot
/// be done on the links of a lab goes to `sink`.
void add_faults(const LabSpec& lab, std::span<const AddressedFaultSpec> faults, fabric::FabricSpec& fabric,
                DiagnosticSink& sink);

}  // namespace simverbs::scenarios
