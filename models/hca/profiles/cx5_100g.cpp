// ConnectX-5 at 100 Gb/s Ethernet, PCIe 3.0 x16.
#include "models/hca/profiles/profiles.hpp"

namespace simverbs::hca {

namespace {

constexpr HostCosts cx5_100g_cpu() noexcept {
    HostCosts c = connectx_cpu();
    // ib_send_lat is 70 ns faster than ib_write_lat there: noticing a CQE costs less than noticing memory.
    c.memory_poll = sim::SimTime::ns(110);
    c.poll_cqe = sim::SimTime::ns(30);
    return c;
}

constexpr HcaTiming cx5_100g_timing() noexcept {
    HcaTiming t;
    // The sum is ib_write_lat 0.99 us and ib_send_lat 0.92 us at 8 B, back to back (ConnectX-5 100GbE, published runs).
    t.mmio_write = sim::SimTime::ns(165);  // posted MMIO write through the root complex
    t.blue_flame = true;
    t.blue_flame_bytes = 256;             // ConnectX BlueFlame register: 256 bytes (mlx5 PRM)
    t.pcie_read = sim::SimTime::ns(550);  // 64 B DMA read: about 550 ns (pcie-bench, Haswell)
    t.pcie_write =
        sim::SimTime::ns(250);  // posted write, visible to a polling CPU in the last-level cache: share of the whole
    t.pcie_read_rate =
        sim::BitRate::mbps(105500);  // PCIe 3.0 x16, MPS 256: reads 105.5, writes 104.0 Gb/s (pcie-bench model)
    t.pcie_write_rate = sim::BitRate::mbps(104000);
    t.prefetch_bytes = 20 << 10;            // what flies during pcie_read and tx_pipeline at line rate, and two packets
    t.wqe_process = sim::SimTime::ns(65);   // share of the whole
    t.tx_pipeline = sim::SimTime::ns(150);  // share of the whole
    t.rx_pipeline = sim::SimTime::ns(162);  // share of the whole
    t.ack_generation = sim::SimTime::ns(60);  // share of the whole; ACKs do not touch the host
    t.cqe_process = sim::SimTime::ns(10);     // share of the whole
    t.atomic_unit = sim::SimTime::ns(650);    // a PCIe round trip plus the write; one at a time
    t.interrupt =
        sim::SimTime::us(3);  // MSI-X, handler and wake-up of a blocked thread: typical of perftest -e against polling
    t.message_gap = sim::SimTime::ps(5000);    // 200 M messages/s (vendor)
    t.qp_message_gap = sim::SimTime::ns(100);  // one QP: about 10 M messages/s
    t.message_overhead = sim::SimTime::ns(0);  // none seen
    t.loopback = sim::SimTime::ns(200);        // as a wire of no length with both pipelines' turn-around
    return t;
}

}  // namespace

extern constexpr DeviceProfile kCx5_100g = {
    .name = "cx5-100g",
    .device_name = "mlx5_",
    .description = "ConnectX-5, 100 Gb/s",
    .hca_type = "MT4119",
    .board_id = "MT_0000000012",
    .cpu = cx5_100g_cpu(),
    .timing = cx5_100g_timing(),
    .attr = connectx_attr(4119, "16.35.2000"),
    .pcie = {3, 16},
    .default_rate = sim::BitRate::gbps(100),
};

}  // namespace simverbs::hca
