// From the inside of a host, as its file describes it, to what a fabric is built from.
#pragma once

#include <cstdint>

#include "models/fabric/fabric_spec.hpp"
#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/lab_spec.hpp"

namespace simverbs::scenarios {

/// What is wrong with the platform of a host that only its model knows.
void check_inside(const HostSpec& host, DiagnosticSink& sink);

/// `host` must have an inside; its adapters are `first_nic` and those that follow.
[[nodiscard]] fabric::HostSpec complex_host(const HostSpec& host, uint32_t first_nic);

}  // namespace simverbs::scenarios
