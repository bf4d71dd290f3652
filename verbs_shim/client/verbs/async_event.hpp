// Asynchronous events of a device.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

/// 0 or -1 with errno. When the server has gone the first call says IBV_EVENT_DEVICE_FATAL, later ones fail with EIO.
int get_async_event(ibv_context* context, ibv_async_event* event);
void ack_async_event(ibv_async_event* event);

}  // namespace simverbs::client::verbs
