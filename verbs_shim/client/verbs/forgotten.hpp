// How the client marks a completion in the ring that nobody shall see any more.
#pragma once

#include <cstdint>

namespace simverbs::client::verbs {

/// CqSlot::pad; the HCA writes 0.
inline constexpr uint32_t kForgotten = 1;

}  // namespace simverbs::client::verbs
