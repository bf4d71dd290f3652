// A new memory region, of a program's memory or of the adapter's.
#pragma once

#include "models/hca/device.hpp"

namespace simverbs::hca {

/// Whether registering pins pages of a program: then an empty range is refused, there would be none.
enum class Pages { Pinned, None };

/// What Hca::reg_mr does, and Hca::reg_dm_mr with the memory that it has found.
Result<MrKeys> add_region(Device& d, const ControlContext& by, const MrSpec& spec, Pages pages);

}  // namespace simverbs::hca
