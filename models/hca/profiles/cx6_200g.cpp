// ConnectX-6 at 200 Gb/s, PCIe 4.0 x16.
#include "models/hca/profiles/profiles.hpp"

namespace simverbs::hca {

namespace {

constexpr HostCosts cx6_200g_cpu() noexcept {
    HostCosts c = connectx_cpu();
    // as cx6-hdr100
    c.memory_poll = sim::SimTime::ns(126);
    c.poll_cqe = sim::SimTime::ns(120);
    return c;
}

constexpr HcaTiming cx6_200g_timing() noexcept {
    HcaTiming t;
    // Latencies as cx6-hdr100. Bandwidth: one QP, ib_write_bw 64 KiB 22715 MiB/s, 1 MiB 23296 MiB/s (CX-6 HDR,
    // published run).
    t.mmio_write = sim::SimTime::ns(165);  // posted MMIO write through the root complex
    t.blue_flame = true;
    t.blue_flame_bytes = 256;             // ConnectX BlueFlame register: 256 bytes (mlx5 PRM)
    t.pcie_read = sim::SimTime::ns(616);  // as cx6-hdr100
    t.pcie_write =
        sim::SimTime::ns(330);  // posted write, visible to a polling CPU in the last-level cache: share of the whole
    t.pcie_read_rate = sim::BitRate::mbps(195750);  // the two bandwidths give 195.75 Gb/s and 73 ns a message; PCIe 4.0
                                                    // x16 models 196.7 reading, 207.9 writing
    t.pcie_write_rate = sim::BitRate::mbps(207900);
    t.prefetch_bytes = 32 << 10;            // what flies during pcie_read and tx_pipeline at line rate, and two packets
    t.wqe_process = sim::SimTime::ns(65);   // share of the whole
    t.tx_pipeline = sim::SimTime::ns(170);  // share of the whole
    t.rx_pipeline = sim::SimTime::ns(180);  // share of the whole
    t.ack_generation = sim::SimTime::ns(60);  // share of the whole; ACKs do not touch the host
    t.cqe_process = sim::SimTime::ns(16);     // share of the whole
    t.atomic_unit = sim::SimTime::ns(700);    // a PCIe round trip plus the write; one at a time
    t.interrupt =
        sim::SimTime::us(3);  // MSI-X, handler and wake-up of a blocked thread: typical of perftest -e against polling
    t.message_gap = sim::SimTime::ps(4650);     // 215 M messages/s (vendor)
    t.qp_message_gap = sim::SimTime::ns(380);   // one QP, 2 B: 2.59 M messages/s in the same run
    t.message_overhead = sim::SimTime::ns(73);  // see pcie_read_rate
    t.loopback = sim::SimTime::ns(200);         // as a wire of no length with both pipelines' turn-around
    return t;
}

}  // namespace

extern constexpr DeviceProfile kCx6_200g = {
    .name = "cx6-200g",
    .device_name = "mlx5_",
    .description = "ConnectX-6, 200 Gb/s",
    .hca_type = "MT4123",
    .board_id = "MT_0000000224",
    .cpu = cx6_200g_cpu(),
    .timing = cx6_200g_timing(),
    .attr = connectx_attr(4123, "20.35.2000"),
    .pcie = {4, 16},
    .default_rate = sim::BitRate::gbps(200),
};

}  // namespace simverbs::hca
