// The ibv_device objects of the simulated host.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs_shim/protocol/messages.hpp"

namespace simverbs::client::verbs {

/// True for a device of ours; everything else belongs to the real library.
bool is_ours(const ibv_device* device) noexcept;
inline bool is_ours(const ibv_context* context) noexcept {
    return is_ours(context->device);
}

uint32_t num_devices() noexcept;
/// Null if there is no memory for them or no such device.
ibv_device* device_at(uint32_t index) noexcept;
uint32_t index_of(const ibv_device* device) noexcept;
const protocol::DeviceInfo& info_of(const ibv_device* device) noexcept;

}  // namespace simverbs::client::verbs
