// An adapter that is never the bottleneck: small latencies, no limits beyond the link.
#include "models/hca/profiles/profiles.hpp"

namespace simverbs::hca {

namespace {

constexpr HostCosts ideal_cpu() noexcept {
    HostCosts c;
    // A call costs something, so that a program that spins moves on.
    c.post_send = sim::SimTime::ns(10);
    c.post_send_more = sim::SimTime::ns(5);
    c.post_recv = sim::SimTime::ns(5);
    c.poll_empty = sim::SimTime::ns(5);
    c.poll_cqe = sim::SimTime::ns(5);
    c.inline_per_64b = sim::SimTime::ns(1);
    c.arm_cq = sim::SimTime::ns(5);
    c.memory_poll = sim::SimTime::ns(5);
    c.control = sim::SimTime::us(1);
    return c;
}

constexpr HcaTiming ideal_timing() noexcept {
    HcaTiming t;
    // Every edge needs some latency; these are as small as a window can use without becoming slow.
    t.mmio_write = sim::SimTime::ns(50);  // chosen
    t.blue_flame = true;
    t.blue_flame_bytes = 256;                        // as ConnectX
    t.pcie_read = sim::SimTime::ns(50);              // chosen
    t.pcie_write = sim::SimTime::ns(50);             // chosen
    t.pcie_read_rate = sim::BitRate::mbps(8000000);  // ten times the fastest link
    t.pcie_write_rate = sim::BitRate::mbps(8000000);
    t.prefetch_bytes = 24 << 10;           // what flies during pcie_read and tx_pipeline at line rate, and two packets
    t.wqe_process = sim::SimTime::ns(5);   // share of the whole
    t.tx_pipeline = sim::SimTime::ns(20);  // share of the whole
    t.rx_pipeline = sim::SimTime::ns(20);  // share of the whole
    t.ack_generation = sim::SimTime::ns(5);    // share of the whole; ACKs do not touch the host
    t.cqe_process = sim::SimTime::ns(5);       // chosen
    t.atomic_unit = sim::SimTime::ns(20);      // chosen
    t.interrupt = sim::SimTime::us(1);         // chosen
    t.message_gap = sim::SimTime::ps(0);       // no limit
    t.qp_message_gap = sim::SimTime::ns(0);    // no limit
    t.message_overhead = sim::SimTime::ns(0);  // none seen
    t.loopback = sim::SimTime::ns(20);         // as a wire of no length with both pipelines' turn-around
    return t;
}

constexpr DeviceAttr ideal_attr() noexcept {
    DeviceAttr a = connectx_attr(0, "1.0.0");
    a.vendor_id = 0;
    a.max_inline_data = 1024;
    return a;
}

}  // namespace

extern constexpr DeviceProfile kIdeal = {
    .name = "ideal",
    .device_name = "simverbs",
    .description = "Ideal adapter: small latencies, no limits",
    .hca_type = "simverbs",
    .board_id = "ideal",
    .cpu = ideal_cpu(),
    .timing = ideal_timing(),
    .attr = ideal_attr(),
    .pcie = {5, 16},
    .default_rate = sim::BitRate::gbps(400),
};

}  // namespace simverbs::hca
