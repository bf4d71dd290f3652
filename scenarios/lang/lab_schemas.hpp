// The tables of everything a lab file may say.
#pragma once

#include "scenarios/lang/schema.hpp"

namespace simverbs::scenarios {

extern const ComponentSchema kLabSchema;
extern const ComponentSchema kHostSchema;
extern const ComponentSchema kNicSchema;
extern const ComponentSchema kSwitchSchema;
extern const ComponentSchema kLinkSchema;
extern const ComponentSchema kFaultSchema;
extern const ComponentSchema kDelaySchema;
extern const ComponentSchema kReorderSchema;
extern const ComponentSchema kDownSchema;

inline constexpr int kMaxHosts = 65000;
inline constexpr int kMaxNicsPerHost = 64;

}  // namespace simverbs::scenarios
