// Opening and closing a device.
#pragma once

#include "verbs_shim/client/verbs/objects.hpp"

namespace simverbs::client::verbs {

/// ibv_open_device and ibv_close_device for a device of ours.
ibv_context* open_device(ibv_device* device);
/// The server's handle of a context in this process: in a forked child a new one, opened at first need. 0 and an errno
/// if there is none.
uint32_t handle_here(ibv_context* context, int& error);
int close_device(ibv_context* context);

}  // namespace simverbs::client::verbs
