// The tables of what a platform file may say: a host's inside.
#pragma once

#include "scenarios/lang/schema.hpp"

namespace simverbs::scenarios {

extern const ComponentSchema kPlatformSchema;
extern const ComponentSchema kNumaNodeSchema;
extern const ComponentSchema kNumaLinkSchema;
extern const ComponentSchema kHostBridgeSchema;
extern const ComponentSchema kPcieSwitchSchema;
extern const ComponentSchema kSlotSchema;
extern const ComponentSchema kGpuSchema;
extern const ComponentSchema kNvLinkSchema;
extern const ComponentSchema kNvLinkPairSchema;
extern const ComponentSchema kIommuSchema;
extern const ComponentSchema kCpuSchema;
extern const ComponentSchema kGpuDriverSchema;

inline constexpr int kMaxNumaNodes = 64;
inline constexpr int kMaxHostBridges = 64;
inline constexpr int kMaxPcieSwitches = 64;
inline constexpr int kMaxSlots = 64;
inline constexpr int kMaxGpus = 64;

}  // namespace simverbs::scenarios
