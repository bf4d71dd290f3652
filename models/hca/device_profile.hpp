// Everything that distinguishes one adapter model from another: timing, limits, identity.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/hca/verbs_types.hpp"
#include "models/pcie/link_spec.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::hca {

/// CPU time of the verbs calls on the program's side of the doorbell; charged by the driver to its thread's clock.
struct HostCosts {
    sim::SimTime post_send;       ///< first WR of an ibv_post_send, doorbell included
    sim::SimTime post_send_more;  ///< each further WR of the same list
    sim::SimTime post_recv;       ///< each WR
    sim::SimTime poll_empty;      ///< an ibv_poll_cq that finds nothing
    sim::SimTime poll_cqe;        ///< each completion taken
    sim::SimTime inline_per_64b;  ///< copying inline data into the WQE, each 64 bytes
    sim::SimTime arm_cq;          ///< ibv_req_notify_cq
    sim::SimTime memory_poll;     ///< noticing a changed cache line that a program spins on
    sim::SimTime control;         ///< any control call (a system call and firmware command)
};

/// Latencies and rates inside the adapter and on its PCIe link.
struct HcaTiming {
    sim::SimTime mmio_write;          ///< doorbell store to its arrival in the adapter: the downward latency
    bool blue_flame = true;           ///< a WQE may travel in the doorbell write itself
    uint32_t blue_flame_bytes = 256;  ///< largest WQE that does
    sim::SimTime pcie_read;           ///< round trip of a small DMA read
    sim::SimTime pcie_write;          ///< posted write: adapter to visible in memory
    sim::BitRate pcie_read_rate;      ///< payload rate of DMA reads
    sim::BitRate pcie_write_rate;     ///< payload rate of DMA writes
    uint32_t prefetch_bytes = 0;      ///< payload DMA reads outstanding at most
    sim::SimTime wqe_process;         ///< WQE in the adapter to its first packet ready for the pipeline
    sim::SimTime tx_pipeline;         ///< packet ready to first bit on the wire
    sim::SimTime rx_pipeline;         ///< tail on the wire to transport processing; part of the link's latency
    sim::SimTime ack_generation;      ///< request processed to its ACK ready for the wire
    sim::SimTime cqe_process;         ///< decision to complete to the CQE's posted write
    sim::SimTime atomic_unit;         ///< read-modify-write of host memory, PCIe included
    sim::SimTime interrupt;           ///< MSI-X to the completion channel
    sim::SimTime message_gap;         ///< least time between two messages of the adapter: its message rate
    sim::SimTime qp_message_gap;      ///< least time between two messages of one QP
    sim::SimTime qp_packet_gap;       ///< least time between two packets of one QP
    sim::SimTime message_overhead;    ///< more time that a multi-packet message holds its QP
    sim::SimTime loopback;            ///< through the adapter's internal loopback
    double timeout_scale = 1.0;       ///< detected after timeout × this; IBTA allows 1…4
};

/// What ibv_query_device says (names as there).
struct DeviceAttr {
    std::string_view fw_ver = "0.0.0";
    uint64_t node_guid = 0, sys_image_guid = 0;
    uint64_t max_mr_size = ~uint64_t{0}, page_size_cap = 0xfffffffffffff000;
    uint32_t vendor_id = 0x02c9, vendor_part_id = 0, hw_ver = 0;
    int max_qp = 262144, max_qp_wr = 32768;
    uint32_t device_cap_flags = 0;
    int max_sge = 30, max_sge_rd = 30, max_cq = 16777216, max_cqe = 4194303, max_mr = 16777216, max_pd = 16777216;
    int max_qp_rd_atom = 16, max_ee_rd_atom = 0, max_res_rd_atom = 4194304, max_qp_init_rd_atom = 16;
    int max_ee_init_rd_atom = 0, atomic_cap = 1 /* IBV_ATOMIC_HCA */, max_ee = 0, max_rdd = 0, max_mw = 16777216;
    int max_raw_ipv6_qp = 0, max_raw_ethy_qp = 0, max_mcast_grp = 2097152, max_mcast_qp_attach = 240;
    int max_total_mcast_qp_attach = 503316480, max_ah = 2147483647, max_fmr = 0, max_map_per_fmr = 0;
    int max_srq = 8388608, max_srq_wr = 32767, max_srq_sge = 31;
    uint16_t max_pkeys = 128;
    uint8_t local_ca_ack_delay = 16, phys_port_cnt = 1;
    uint32_t max_inline_data = 512;  ///< not part of ibv_device_attr: largest cap.max_inline_data
    bool fills_send_wqes = false;    ///< max_inline_data comes back as all that the send WQE has room for (mlx5)
    uint32_t max_msg_sz = 1U << 30;
    uint64_t max_dm_size = 128 << 10;         ///< ibv_device_attr_ex: memory on the adapter that programs can allocate
    uint64_t hca_core_clock_khz = 1'000'000;  ///< completion timestamps count at this rate
};

/// What adapters do differently, beside how fast they are. The defaults are an HCA's; the others are Soft-RoCE's.
struct Behaviour {
    WcStatus bad_lkey = WcStatus::LocProtErr;               ///< of a send whose L_Key names no region of the PD
    WcStatus receive_too_small = WcStatus::LocLenErr;       ///< of the receive
    WcStatus bad_receive = WcStatus::LocProtErr;            ///< of a receive whose memory cannot be written
    WcStatus bad_immediate_write = WcStatus::LocAccessErr;  ///< of the receive that a refused WRITE with immediate took
    bool naks_small_receives_as_invalid = true;             ///< otherwise as the responder's own fault
    bool has_sqe = true;                                    ///< UC and UD: a failed send stops the send queue alone
    bool gives_up_after_seven = true;                       ///< retry_cnt 7 is seven retries, not for ever
    bool flushes_late_receives = true;                      ///< receives that are posted in ERR
    bool tells_last_wqe = true;                             ///< IBV_EVENT_QP_LAST_WQE_REACHED
    bool tells_bad_requests = true;                         ///< IBV_EVENT_QP_REQ_ERR and IBV_EVENT_QP_ACCESS_ERR
    bool stops_at_cq_overrun = true;                        ///< one event, and the QP is in ERR
    bool checks_window_bounds = true;                       ///< otherwise those of the region under the window
    bool checks_attributes = true;        ///< P_Key index, access flags, path MTU, RNR timer, retry counts
    bool refuses_long_datagrams = true;   ///< otherwise they "succeed" and are lost
    bool rounds_atomics_to_eight = true;  ///< byte_len of an atomic is 8 whatever its SGEs hold
    bool has_xrc = true, has_on_demand = true, has_raw_packets = true, allows_empty_srq = true;
};

/// One adapter model. Sources of the numbers: in profiles/*.cpp.
struct DeviceProfile {
    std::string_view name;         ///< "cx6-hdr100"
    std::string_view device_name;  ///< prefix of its device names: "mlx5_" or "simverbs"
    std::string_view description;
    std::string_view hca_type;  ///< sysfs hca_type: "MT4123"
    std::string_view board_id;
    HostCosts cpu;
    HcaTiming timing;
    DeviceAttr attr;
    pcie::LinkSpec pcie;        ///< what its end of a PCIe link can do; no lanes: it is software
    sim::BitRate default_rate;  ///< of its ports
    Behaviour behaviour = {};
};

/// Profile by name, nullptr if there is none.
const DeviceProfile* find_profile(std::string_view name) noexcept;
/// All of them, in a fixed order.
std::span<const DeviceProfile* const> all_profiles() noexcept;

}  // namespace simverbs::hca
