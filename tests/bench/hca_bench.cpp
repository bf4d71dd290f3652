// One RC flow of 64 KiB messages between two adapters, lengths only: what a packet costs from WQE to acknowledged.
#include <benchmark/benchmark.h>

#include "models/fabric/fabric.hpp"
#include "models/hca/transport/work_source.hpp"
#include "models/wire/gid.hpp"

namespace {

using namespace simverbs;

class Endless final : public hca::WorkSource {
  public:
    bool next(hca::FlowMessage& message, sim::SimTime) override {
        message = {hca::WrOpcode::RdmaWrite, 65536, 0};
        return true;
    }
    void done(uint64_t, hca::WcStatus, sim::SimTime) override {}
    void arrived(uint32_t bytes, sim::SimTime) override { received += bytes; }
    uint64_t received = 0;
};

class Silent final : public hca::WorkSource {
  public:
    bool next(hca::FlowMessage&, sim::SimTime) override { return false; }
    void done(uint64_t, hca::WcStatus, sim::SimTime) override {}
    void arrived(uint32_t bytes, sim::SimTime) override { received += bytes; }
    uint64_t received = 0;
};

fabric::FabricSpec two_hosts() {
    fabric::FabricSpec spec;
    link::LinkParams params;
    params.rate = sim::BitRate::gbps(400);
    params.propagation = sim::SimTime::ns(10);
    spec.switches.emplace_back();
    spec.switches[0].path = "sw0";
    spec.switches[0].latency = sim::SimTime::ns(300);
    for (uint32_t h = 0; h < 2; ++h) {
        fabric::NicSpec nic;
        nic.path = "h" + std::to_string(h) + "/nic0";
        nic.profile = hca::find_profile("cx7-400g");
        hca::HcaPortConfig port;
        port.rate = params.rate;
        port.mac = {{0x02, 0, 0, 0, 0, static_cast<uint8_t>(h + 1)}};
        port.max_mtu = port.active_mtu = hca::Mtu::Mtu4096;
        port.gids.push_back({wire::gid_from_ipv4(0x0A000001 + h).bytes, hca::GidType::RoceV2, "eth0"});
        nic.ports.push_back(port);
        spec.nics.push_back(nic);
        spec.links.push_back({{false, h, 1}, {true, 0, 1}, params, {}, {}});
    }
    return spec;
}

/// Argument: the longest time that the engine may run ahead at once, in ns; 0: no bound. Programs bound it.
void BM_OneFlow(benchmark::State& state) {
    fabric::Fabric fabric(two_hosts(), {}, nullptr);
    Endless source;
    Silent target;
    const uint32_t from = fabric.nic(0).create_flow(hca::QpType::Rc, &source);
    const uint32_t to = fabric.nic(1).create_flow(hca::QpType::Rc, &target);
    for (const size_t side : {1U, 0U}) {
        hca::FlowPath path;
        path.dest_qpn = side == 0 ? to : from;
        path.ah.port_num = 1;
        path.ah.is_global = true;
        path.ah.hop_limit = 64;
        path.ah.dgid = fabric.nic(1 - side).config().ports[0].gids[0].gid;
        const hca::ControlContext by{0, sim::SimTime::zero(), nullptr};
        if (fabric.nic(side).connect_flow(by, side == 0 ? from : to, path) != 0) state.SkipWithError("no path");
    }
    sim::Engine& engine = fabric.engine();
    const sim::SimTime ahead = sim::SimTime::ns(state.range(0));
    engine.run_until(sim::SimTime::us(20));
    const uint64_t before = target.received;
    const uint64_t windows_before = engine.windows_run();
    for ([[maybe_unused]] auto _ : state) {
        const sim::SimTime end = engine.frontier() + sim::SimTime::us(500);
        if (ahead == sim::SimTime::zero()) {
            engine.run_until(end);
        } else {
            while (engine.frontier() < end) engine.run_window(engine.next_event_time() + ahead);
        }
    }
    const double packets = static_cast<double>(target.received - before) / 4096;
    if (packets == 0) state.SkipWithError("nothing arrived");
    using benchmark::Counter;
    state.counters["packets/s"] = Counter(packets, Counter::kIsRate);
    state.counters["s/packet"] = Counter(packets, Counter::kIsRate | Counter::kInvert);
    state.counters["windows/packet"] = static_cast<double>(engine.windows_run() - windows_before) / packets;
}
BENCHMARK(BM_OneFlow)->ArgName("ahead_ns")->Arg(0)->Arg(160)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
