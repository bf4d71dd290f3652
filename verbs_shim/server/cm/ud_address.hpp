// An address vector as the kernel's public structs have it.
#pragma once

#include "models/hca/verbs_types.hpp"
#include "verbs_shim/server/cm/ucm_abi.hpp"

namespace simverbs::server {

[[nodiscard]] ib_uverbs_ah_attr ud_address(const hca::AhAttr& ah);

}  // namespace simverbs::server
