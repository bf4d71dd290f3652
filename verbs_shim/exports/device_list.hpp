// The list that ibv_get_device_list returns: ours, then the real ones.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::exports {

/// Null-terminated; null with `error` set if there is no memory.
ibv_device** make_device_list(int* num_devices, int& error);
void free_device_list(ibv_device** list);

}  // namespace simverbs::client::exports
