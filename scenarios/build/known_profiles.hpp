// The NIC profiles that exist, as the scenario language needs to know them.
#pragma once

#include "scenarios/lang/lab_loader.hpp"

namespace simverbs::scenarios {

/// Options for reading labs with the profiles of models/hca and the built-in platforms.
[[nodiscard]] LabOptions lab_options();

/// Checks the profile parameters that a lab sets, without building anything.
void check_profiles(const LabSpec& lab, DiagnosticSink& sink);
/// The same of one host.
void check_profiles_of(const HostSpec& host, DiagnosticSink& sink);

}  // namespace simverbs::scenarios
