// Opening and closing a device.
#pragma once

#include "verbs_shim/client/verbs/objects.hpp"

namespace simverbs::client::verbs {

/// ibv_open_device and ibv_close_device for a device of ours.
ibv_context* open_device(ibv_device* device);
int close_device(ibv_context* context);

}  // namespace simverbs::client::verbs
