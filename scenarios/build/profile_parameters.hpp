// The parameters of a NIC profile that a lab may set: one table, from which values are checked and the manual is made.
#pragma once

#include <map>
#include <string>

#include "models/hca/device_profile.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/lab_spec.hpp"
#include "scenarios/lang/schema.hpp"

namespace simverbs::scenarios {

/// The schema of `parameters` of a NIC.
[[nodiscard]] const ComponentSchema& profile_parameter_schema() noexcept;

/// Sets what `overrides` say in `profile`. Unknown names and wrong values go to `sink`.
void apply_parameters(const std::map<std::string, ParameterOverride>& overrides, hca::DeviceProfile& profile,
                      DiagnosticSink& sink);

}  // namespace simverbs::scenarios
