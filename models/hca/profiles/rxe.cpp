// Soft-RoCE, the kernel's rdma_rxe: RoCE v2 in software over an Ethernet adapter. What it does is measured (Linux 6.1,
// case by case: tests/conformance/verbs/rxe_cases.csv); its limits are those of the kernel's rxe_param.h as far as
// known from ibv_devinfo. No measurement stands behind the times: system calls and copies in software, roughly.
#include "models/hca/profiles/profiles.hpp"

namespace simverbs::hca {

namespace {

constexpr HostCosts rxe_cpu() noexcept {
    HostCosts c = connectx_cpu();
    // Each list that is posted is a system call; receives and completions lie in shared memory.
    c.post_send = sim::SimTime::ns(1000);
    c.inline_per_64b = sim::SimTime::ns(10);
    c.arm_cq = sim::SimTime::ns(500);
    return c;
}

constexpr HcaTiming rxe_timing() noexcept {
    HcaTiming t;
    t.mmio_write = sim::SimTime::ns(500);  // a tasklet is scheduled
    t.blue_flame = false;
    t.pcie_read = sim::SimTime::ns(100);  // memory of the process: no bus
    t.pcie_write = sim::SimTime::ns(100);
    t.pcie_read_rate = sim::BitRate::mbps(80000);  // a copy by one core
    t.pcie_write_rate = sim::BitRate::mbps(80000);
    t.prefetch_bytes = 256 << 10;
    t.wqe_process = sim::SimTime::us(1);
    t.tx_pipeline = sim::SimTime::us(3);  // the network stack downwards
    t.rx_pipeline = sim::SimTime::us(5);  // interrupt, network stack upwards
    t.ack_generation = sim::SimTime::us(1);
    t.cqe_process = sim::SimTime::ns(200);
    t.atomic_unit = sim::SimTime::ns(200);
    t.interrupt = sim::SimTime::us(3);
    t.message_gap = sim::SimTime::us(1);
    t.qp_message_gap = sim::SimTime::us(1);
    t.message_overhead = sim::SimTime::ns(0);
    t.loopback = sim::SimTime::us(5);
    return t;
}

constexpr DeviceAttr rxe_attr() noexcept {
    constexpr int kNoLimit = 1 << 20;
    DeviceAttr a;
    a.vendor_id = kRxeVendorId;
    a.vendor_part_id = 0;
    // As other adapters here, without XRC; it also has AUTO_PATH_MIG, UD_AV_PORT_ENFORCE, SRQ_RESIZE, N_NOTIFY_CQ and
    // MEM_MGT_EXTENSIONS.
    a.device_cap_flags = kConnectXCapFlags & ~(1U << 20);
    a.page_size_cap = 0xfffff000;
    a.max_qp = 1048560;
    a.max_qp_wr = kNoLimit;
    a.max_sge = a.max_sge_rd = 32;
    a.max_cq = kNoLimit;
    a.max_cqe = (1 << 15) - 1;
    a.max_mr = a.max_mw = (kNoLimit >> 1) - 1;
    a.max_pd = kNoLimit;
    a.max_qp_rd_atom = a.max_qp_init_rd_atom = 128;
    a.max_res_rd_atom = 0x3f000;
    a.max_mcast_grp = 8192;
    a.max_mcast_qp_attach = a.max_total_mcast_qp_attach = kNoLimit;
    a.max_ah = 32767;
    a.max_srq = 917503;
    a.max_srq_wr = kNoLimit;
    a.max_srq_sge = 27;
    a.max_pkeys = 64;
    a.local_ca_ack_delay = 15;
    a.max_inline_data = 512;
    a.max_msg_sz = 0x800000;
    a.max_dm_size = 0;
    return a;
}

constexpr Behaviour rxe_behaviour() noexcept {
    Behaviour b;
    b.bad_lkey = b.receive_too_small = b.bad_receive = WcStatus::LocQpOpErr;
    b.bad_immediate_write = WcStatus::RemAccessErr;
    b.naks_small_receives_as_invalid = false;
    b.has_sqe = false;
    b.gives_up_after_seven = false;
    b.flushes_late_receives = false;
    b.tells_last_wqe = false;
    b.tells_bad_requests = false;
    b.stops_at_cq_overrun = false;
    b.checks_window_bounds = false;
    b.checks_attributes = false;
    b.refuses_long_datagrams = false;
    b.rounds_atomics_to_eight = false;
    b.has_xrc = b.has_on_demand = b.has_raw_packets = b.allows_empty_srq = false;
    return b;
}

}  // namespace

extern constexpr DeviceProfile kRxe = {
    .name = "rxe",
    .device_name = "rxe",
    .description = "Soft-RoCE: the kernel's software adapter, for its behaviour",
    .hca_type = "rxe",
    .board_id = "rxe",
    .cpu = rxe_cpu(),
    .timing = rxe_timing(),
    .attr = rxe_attr(),
    .pcie = {0, 0},
    .default_rate = sim::BitRate::gbps(10),
    .behaviour = rxe_behaviour(),
};

}  // namespace simverbs::hca
