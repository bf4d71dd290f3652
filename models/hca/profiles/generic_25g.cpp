// No particular adapter: 25 Gb/s Ethernet, PCIe 3.0 x8, no BlueFlame.
#include "models/hca/profiles/profiles.hpp"

namespace simverbs::hca {

namespace {

constexpr HcaTiming generic_25g_timing() noexcept {
    HcaTiming t;
    // Plausible values of an adapter of its class; no measurement stands behind the sum.
    t.mmio_write = sim::SimTime::ns(200);  // posted MMIO write through the root complex
    t.blue_flame = false;
    t.blue_flame_bytes = 256;             // not used
    t.pcie_read = sim::SimTime::ns(700);  // 64 B DMA read 550 ns (pcie-bench) and a slower adapter
    t.pcie_write =
        sim::SimTime::ns(350);  // posted write, visible to a polling CPU in the last-level cache: share of the whole
    t.pcie_read_rate = sim::BitRate::mbps(50000);  // PCIe 3.0 x8: half of x16 (pcie-bench model)
    t.pcie_write_rate = sim::BitRate::mbps(50000);
    t.prefetch_bytes = 16 << 10;            // what flies during pcie_read and tx_pipeline at line rate, and two packets
    t.wqe_process = sim::SimTime::ns(150);  // share of the whole
    t.tx_pipeline = sim::SimTime::ns(300);  // share of the whole
    t.rx_pipeline = sim::SimTime::ns(300);  // share of the whole
    t.ack_generation = sim::SimTime::ns(150);  // share of the whole; ACKs do not touch the host
    t.cqe_process = sim::SimTime::ns(50);      // share of the whole
    t.atomic_unit = sim::SimTime::ns(900);     // a PCIe round trip plus the write; one at a time
    t.interrupt =
        sim::SimTime::us(3);  // MSI-X, handler and wake-up of a blocked thread: typical of perftest -e against polling
    t.message_gap = sim::SimTime::ps(40000);   // 25 M messages/s: an assumption
    t.qp_message_gap = sim::SimTime::ns(200);  // 5 M messages/s: an assumption
    t.message_overhead = sim::SimTime::ns(0);  // none seen
    t.loopback = sim::SimTime::ns(200);        // as a wire of no length with both pipelines' turn-around
    return t;
}

constexpr DeviceAttr generic_25g_attr() noexcept {
    DeviceAttr a = connectx_attr(0, "1.0.0");
    a.vendor_id = 0;
    a.max_qp = 65536;
    a.max_qp_wr = 16384;
    a.max_sge = a.max_sge_rd = 16;
    a.max_inline_data = 128;
    return a;
}

}  // namespace

extern constexpr DeviceProfile kGeneric25g = {
    .name = "generic-25g",
    .device_name = "simverbs",
    .description = "Generic adapter, 25 Gb/s",
    .hca_type = "simverbs",
    .board_id = "generic",
    .cpu = connectx_cpu(),
    .timing = generic_25g_timing(),
    .attr = generic_25g_attr(),
    .pcie = {3, 8},
    .default_rate = sim::BitRate::gbps(25),
};

}  // namespace simverbs::hca
