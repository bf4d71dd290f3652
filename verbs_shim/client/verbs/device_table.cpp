#include "verbs_shim/client/verbs/device_table.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/verbs/lock.hpp"

namespace simverbs::client::verbs {

namespace {

// Provider libraries look behind an ibv_device for fields of their own (libmlx5: the driver's operations). They find
// zeros: "not mine".
constexpr size_t kDeviceStride = 8192;
static_assert(sizeof(ibv_device) + 4096 <= kDeviceStride);

uint8_t* g_devices = nullptr;
Lock g_lock;

ibv_device* place(uint8_t* base, uint32_t index) {
    return reinterpret_cast<ibv_device*>(base + index * kDeviceStride);
}

void fill(ibv_device& d, uint32_t index, const protocol::DeviceInfo& info) {
    d.node_type = IBV_NODE_CA;
    d.transport_type = IBV_TRANSPORT_IB;
    std::snprintf(d.name, sizeof d.name, "%s", info.name);
    std::snprintf(d.dev_name, sizeof d.dev_name, "uverbs%u", index);
    std::snprintf(d.dev_path, sizeof d.dev_path, "/sys/class/infiniband_verbs/uverbs%u", index);
    std::snprintf(d.ibdev_path, sizeof d.ibdev_path, "/sys/class/infiniband/%s", info.name);
}

uint8_t* make_devices() {
    const long bytes = static_cast<long>(kDeviceStride) * protocol::kMaxDevicesPerHost;
    const long p = raw_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p < 0 && p > -4096) return nullptr;
    auto* const base = reinterpret_cast<uint8_t*>(p);
    const auto& hello = connection::hello_reply();
    for (uint32_t i = 0; i < hello.num_devices; ++i) fill(*place(base, i), i, hello.devices[i]);
    return base;
}

}  // namespace

bool is_ours(const ibv_device* device) noexcept {
    const auto* const p = reinterpret_cast<const uint8_t*>(device);
    return g_devices != nullptr && p >= g_devices && p < g_devices + kDeviceStride * protocol::kMaxDevicesPerHost;
}

uint32_t num_devices() noexcept {
    return connection::hello_reply().num_devices;
}

ibv_device* device_at(uint32_t index) noexcept {
    if (index >= num_devices()) return nullptr;
    // A child of a fork keeps its parent's objects: it is on the same host, and pointers to them stay good.
    const Guard guard(g_lock);
    if (g_devices == nullptr) g_devices = make_devices();
    return g_devices == nullptr ? nullptr : place(g_devices, index);
}

uint32_t index_of(const ibv_device* device) noexcept {
    return static_cast<uint32_t>((reinterpret_cast<const uint8_t*>(device) - g_devices) / kDeviceStride);
}

const protocol::DeviceInfo& info_of(const ibv_device* device) noexcept {
    return connection::hello_reply().devices[index_of(device)];
}

}  // namespace simverbs::client::verbs
