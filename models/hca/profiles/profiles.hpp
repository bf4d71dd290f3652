// The adapter models that exist; one file each.
#pragma once

#include "models/hca/device_profile.hpp"

namespace simverbs::hca {

extern const DeviceProfile kCx5_100g;
extern const DeviceProfile kCx6Hdr100;
extern const DeviceProfile kCx6_200g;
extern const DeviceProfile kCx7_400g;
extern const DeviceProfile kNdr400g;
extern const DeviceProfile kGeneric25g;
extern const DeviceProfile kIdeal;
extern const DeviceProfile kRxe;

/// What Soft-RoCE says for want of a vendor.
inline constexpr uint32_t kRxeVendorId = 0xffffff;

/// device_cap_flags that ibv_devinfo -v shows for ConnectX adapters, as far as the model has what they promise:
/// BAD_PKEY_CNTR, BAD_QKEY_CNTR, CHANGE_PHY_PORT, PORT_ACTIVE_EVENT, SYS_IMAGE_GUID, RC_RNR_NAK_GEN, MEM_WINDOW, XRC,
/// MEM_WINDOW_TYPE_2B. The adapters also have AUTO_PATH_MIG and MEM_MGT_EXTENSIONS.
/// Source: open-mpi/ompi issue 6137 (CX-5), openucx/ucx issue 8229 (CX-6); type 2B: the kernel's mlx5_ib_query_device.
inline constexpr uint32_t kConnectXCapFlags =
    1U << 1 | 1U << 2 | 1U << 5 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 17 | 1U << 20 | 1U << 24;

/// Attributes that all ConnectX profiles share; sources as above. Part ids: pci.ids.
constexpr DeviceAttr connectx_attr(uint32_t part_id, std::string_view firmware) noexcept {
    DeviceAttr a;
    a.fw_ver = firmware;
    a.vendor_part_id = part_id;
    a.device_cap_flags = kConnectXCapFlags;
    a.fills_send_wqes = true;
    return a;
}

/// CPU costs that all ConnectX profiles begin with. A post is a WQE of a cache line or two written, a fence and the
/// doorbell store: 60…80 ns on current servers; an empty poll reads one cached line. Source: the instruction-level
/// breakdown in Kalia et al., "Design Guidelines for High Performance RDMA Systems", USENIX ATC 2016, and Larsen,
/// Huggahalli, "Platform IO DMA Transaction Acceleration", 2011 (MMIO and doorbell costs), rounded.
constexpr HostCosts connectx_cpu() noexcept {
    HostCosts c;
    c.post_send = sim::SimTime::ns(70);
    c.post_send_more = sim::SimTime::ns(25);
    c.post_recv = sim::SimTime::ns(25);
    c.poll_empty = sim::SimTime::ns(10);
    c.poll_cqe = sim::SimTime::ns(30);
    c.inline_per_64b = sim::SimTime::ns(4);
    c.arm_cq = sim::SimTime::ns(40);
    c.memory_poll = sim::SimTime::ns(100);
    c.control = sim::SimTime::us(20);
    return c;
}

}  // namespace simverbs::hca
