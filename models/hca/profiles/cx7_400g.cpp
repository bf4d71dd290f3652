// ConnectX-7 at 400 Gb/s Ethernet, PCIe 5.0 x16.
#include "models/hca/profiles/profiles.hpp"

namespace simverbs::hca {

namespace {

constexpr HostCosts cx7_400g_cpu() noexcept {
    HostCosts c = connectx_cpu();
    // as measured on ConnectX-6, a little faster host
    c.memory_poll = sim::SimTime::ns(110);
    c.poll_cqe = sim::SimTime::ns(60);
    return c;
}

constexpr HcaTiming cx7_400g_timing() noexcept {
    HcaTiming t;
    // The sum is ib_write_lat 1.47 us at 2 B over RoCE, through one switch of 300 ns (ConnectX-7, published run).
    t.mmio_write = sim::SimTime::ns(160);  // posted MMIO write through the root complex
    t.blue_flame = true;
    t.blue_flame_bytes = 256;             // ConnectX BlueFlame register: 256 bytes (mlx5 PRM)
    t.pcie_read = sim::SimTime::ns(600);  // 64 B DMA read about 550 ns (pcie-bench) and a larger root complex
    t.pcie_write =
        sim::SimTime::ns(318);  // posted write, visible to a polling CPU in the last-level cache: share of the whole
    t.pcie_read_rate = sim::BitRate::mbps(421800);  // PCIe 5.0 x16: reads 421.8, writes 415.8 Gb/s (pcie-bench model)
    t.pcie_write_rate = sim::BitRate::mbps(415800);
    t.prefetch_bytes = 56 << 10;            // what flies during pcie_read and tx_pipeline at line rate, and two packets
    t.wqe_process = sim::SimTime::ns(60);   // share of the whole
    t.tx_pipeline = sim::SimTime::ns(200);  // share of the whole
    t.rx_pipeline = sim::SimTime::ns(228);  // share of the whole
    t.ack_generation = sim::SimTime::ns(60);  // share of the whole; ACKs do not touch the host
    t.cqe_process = sim::SimTime::ns(16);     // share of the whole
    t.atomic_unit = sim::SimTime::ns(700);    // a PCIe round trip plus the write; one at a time
    t.interrupt =
        sim::SimTime::us(3);  // MSI-X, handler and wake-up of a blocked thread: typical of perftest -e against polling
    t.message_gap = sim::SimTime::ps(3030);    // 330 M messages/s (vendor)
    t.qp_message_gap = sim::SimTime::ns(60);   // one QP: about 16 M messages/s
    t.message_overhead = sim::SimTime::ns(0);  // none seen
    t.loopback = sim::SimTime::ns(200);        // as a wire of no length with both pipelines' turn-around
    return t;
}

}  // namespace

extern constexpr DeviceProfile kCx7_400g = {
    .name = "cx7-400g",
    .device_name = "mlx5_",
    .description = "ConnectX-7, 400 Gb/s",
    .hca_type = "MT4129",
    .board_id = "MT_0000000838",
    .cpu = cx7_400g_cpu(),
    .timing = cx7_400g_timing(),
    .attr = connectx_attr(4129, "28.39.1002"),
    .pcie = {5, 16},
    .default_rate = sim::BitRate::gbps(400),
};

}  // namespace simverbs::hca
