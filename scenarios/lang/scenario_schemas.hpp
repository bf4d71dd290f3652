// The tables of everything that only a scenario may say.
#pragma once

#include <span>

#include "scenarios/lang/schema.hpp"

namespace simverbs::scenarios {

extern const ComponentSchema kScenarioSchema;
extern const ComponentSchema kTransportSchema;
extern const ComponentSchema kCcSchema;
extern const ComponentSchema kProgramSchema;
extern const ComponentSchema kReadySchema;
extern const ComponentSchema kProgramExpectSchema;
extern const ComponentSchema kExpectationSchema;
extern const ComponentSchema kOutputsSchema;
extern const ComponentSchema kSeriesSchema;
extern const ComponentSchema kRunSchema;
extern const ComponentSchema kMeasureSchema;

// A switch's queues: queueing_schemas.cpp
extern const ComponentSchema kPfcSchema;
extern const ComponentSchema kEcnSchema;
extern const ComponentSchema kSchedulerSchema;
extern const ComponentSchema kVlArbitrationSchema;
extern const ComponentSchema kFecnSchema;

// Faults: fault_schemas.cpp
extern const ComponentSchema kAddressedFaultSchema;
extern const ComponentSchema kPacketFaultSchema;
extern const ComponentSchema kPacketMatchSchema;
extern const ComponentSchema kPacketDelaySchema;
extern const ComponentSchema kPacketReorderSchema;
extern const ComponentSchema kFlapSchema;
extern const ComponentSchema kPauseStormSchema;
extern const ComponentSchema kKillSchema;
// program_fault_schemas.cpp
extern const ComponentSchema kFreezeSchema;
extern const ComponentSchema kFailCallSchema;
extern const ComponentSchema kLimitCqSchema;
extern const ComponentSchema kPlaceCqeSchema;
extern const ComponentSchema kDelayReceivesSchema;
extern const ComponentSchema kPortStateSchema;
extern const ComponentSchema kChangeGidSchema;
extern const ComponentSchema kChangePkeySchema;
extern const ComponentSchema kPortEventSchema;
extern const ComponentSchema kDegradeSlotSchema;

// Workloads: workload_schemas.cpp
extern const ComponentSchema kFlowEntrySchema;
/// One for each kind of workload, in the manual's order; named "workload KIND".
[[nodiscard]] std::span<const ComponentSchema* const> workload_schemas() noexcept;

}  // namespace simverbs::scenarios
