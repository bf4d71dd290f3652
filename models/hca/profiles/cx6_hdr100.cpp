// ConnectX-6 at HDR100 InfiniBand, PCIe 4.0.
#include "models/hca/profiles/profiles.hpp"

namespace simverbs::hca {

namespace {

constexpr HostCosts cx6_hdr100_cpu() noexcept {
    HostCosts c = connectx_cpu();
    // ib_send_lat is 10 ns slower than ib_write_lat there.
    c.memory_poll = sim::SimTime::ns(126);
    c.poll_cqe = sim::SimTime::ns(120);
    return c;
}

constexpr HcaTiming cx6_hdr100_timing() noexcept {
    HcaTiming t;
    // The sum is ib_write_lat 1.26 us, ib_send_lat 1.27 us, ib_read_lat 2.39 us at 2 B through one Quantum switch
    // (published runs).
    t.mmio_write = sim::SimTime::ns(165);  // posted MMIO write through the root complex
    t.blue_flame = true;
    t.blue_flame_bytes = 256;             // ConnectX BlueFlame register: 256 bytes (mlx5 PRM)
    t.pcie_read = sim::SimTime::ns(616);  // what ib_read_lat leaves for the responder: 2.39 us less both ways
    t.pcie_write =
        sim::SimTime::ns(330);  // posted write, visible to a polling CPU in the last-level cache: share of the whole
    t.pcie_read_rate = sim::BitRate::mbps(104000);  // not the bottleneck: PCIe 4.0 x8 carries 104 Gb/s
    t.pcie_write_rate = sim::BitRate::mbps(104000);
    t.prefetch_bytes = 24 << 10;            // what flies during pcie_read and tx_pipeline at line rate, and two packets
    t.wqe_process = sim::SimTime::ns(65);   // share of the whole
    t.tx_pipeline = sim::SimTime::ns(170);  // share of the whole
    t.rx_pipeline = sim::SimTime::ns(180);  // share of the whole
    t.ack_generation = sim::SimTime::ns(60);  // share of the whole; ACKs do not touch the host
    t.cqe_process = sim::SimTime::ns(16);     // share of the whole
    t.atomic_unit = sim::SimTime::ns(700);    // a PCIe round trip plus the write; one at a time
    t.interrupt =
        sim::SimTime::us(3);  // MSI-X, handler and wake-up of a blocked thread: typical of perftest -e against polling
    t.message_gap = sim::SimTime::ps(4650);    // 215 M messages/s (vendor)
    t.qp_message_gap = sim::SimTime::ns(100);  // one QP: about 10 M messages/s
    t.message_overhead = sim::SimTime::ns(0);  // none seen
    t.loopback = sim::SimTime::ns(200);        // as a wire of no length with both pipelines' turn-around
    return t;
}

}  // namespace

extern constexpr DeviceProfile kCx6Hdr100 = {
    .name = "cx6-hdr100",
    .device_name = "mlx5_",
    .description = "ConnectX-6, HDR100 (100 Gb/s)",
    .hca_type = "MT4123",
    .board_id = "MT_0000000223",
    .cpu = cx6_hdr100_cpu(),
    .timing = cx6_hdr100_timing(),
    .attr = connectx_attr(4123, "20.35.2000"),
    .pcie = {4, 8},
    .default_rate = sim::BitRate::gbps(100),
};

}  // namespace simverbs::hca
