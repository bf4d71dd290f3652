// Hosts with an inside, several adapters each: neither threads nor windows change when anything happens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "models/fabric/fabric.hpp"
#include "models/hca/transport/work_source.hpp"
#include "models/host/complex.hpp"
#include "models/wire/gid.hpp"
#include "sim/rng.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using sim::SimTime;

/// So many WRITEs of odd lengths, two at a time; writes down when each was done.
class Writes final : public hca::WorkSource {
  public:
    explicit Writes(uint64_t seed) : seed_(seed) {}
    bool next(hca::FlowMessage& message, SimTime) override {
        constexpr uint32_t kMessages = 200, kMostBytes = 30'000;
        if (given_ == kMessages || given_ - done_ >= 2) return false;
        message = {hca::WrOpcode::RdmaWrite, static_cast<uint32_t>(1 + sim::mix64(seed_ + given_) % kMostBytes),
                   given_};
        ++given_;
        return true;
    }
    void done(uint64_t cookie, hca::WcStatus status, SimTime now) override {
        ++done_;
        diary += fmt::format("{} {} {}\n", cookie, static_cast<int>(status), now.in_ps());
    }
    std::string diary;

  private:
    uint64_t seed_;
    uint32_t given_ = 0, done_ = 0;
};

/// Two adapters below one switch, whose link they share, on a NUMA node.
host::PlatformSpec platform() {
    host::PlatformSpec p;
    p.numa_nodes = {test::numa_node("node0")};
    p.bridges = {test::bridge("root0", 0)};
    p.switches = {test::pcie_switch("pex0", test::under_bridge(0), {4, 8, 256})};
    for (const char* name : {"nic0", "nic1"}) p.nics.push_back(test::nic(name, test::under_switch(0), {4, 16, 256}));
    return p;
}

constexpr uint32_t kHosts = 3, kNics = 2;

fabric::FabricSpec hosts_at_one_switch() {
    fabric::FabricSpec spec;
    spec.switches.emplace_back();
    spec.switches[0].path = "sw0";
    link::LinkParams params;
    params.rate = sim::BitRate::gbps(200);
    params.propagation = SimTime::ns(50);
    for (uint32_t h = 0; h < kHosts; ++h) {
        fabric::HostSpec host;
        host.path = fmt::format("h{}", h);
        host.make_complex = [] { return std::make_unique<host::Complex>(platform()); };
        for (uint32_t n = 0; n < kNics; ++n) {
            const uint32_t number = h * kNics + n;
            fabric::NicSpec nic;
            nic.path = fmt::format("h{}/nic{}", h, n);
            nic.profile = hca::find_profile("cx6-200g");
            hca::HcaPortConfig port;
            port.rate = params.rate;
            port.mac = {{0x02, 0, 0, 0, 0, static_cast<uint8_t>(number + 1)}};
            port.gids.push_back({wire::gid_from_ipv4(0x0A000001 + number).bytes, hca::GidType::RoceV2, "eth0"});
            nic.ports.push_back(port);
            host.nics.push_back(number);
            spec.nics.push_back(nic);
            spec.links.push_back({{false, number, 1}, {true, 0, 1}, params, {}, {}});
        }
        spec.hosts.push_back(std::move(host));
    }
    return spec;
}

/// When everything was done, and what every part of every host carried and when.
std::string run(unsigned threads, SimTime window) {
    sim::EngineConfig config;
    config.threads = threads;
    config.window = window;
    fabric::Fabric fabric(hosts_at_one_switch(), config, nullptr);
    std::vector<std::unique_ptr<Writes>> sources;
    const hca::ControlContext by{0, SimTime::zero(), nullptr};
    for (uint32_t from = 0; from < kHosts * kNics; ++from) {
        const uint32_t to = (from + kNics) % (kHosts * kNics);
        sources.push_back(std::make_unique<Writes>(from));
        const uint32_t qp = fabric.nic(from).create_flow(hca::QpType::Rc, sources.back().get());
        const uint32_t peer = fabric.nic(to).create_flow(hca::QpType::Rc, nullptr);
        for (const bool back : {true, false}) {
            hca::FlowPath path;
            path.dest_qpn = back ? qp : peer;
            path.ah.port_num = 1;
            path.ah.is_global = true;
            path.ah.hop_limit = 64;
            path.ah.dgid = fabric.nic(back ? from : to).config().ports[0].gids[0].gid;
            EXPECT_EQ(fabric.nic(back ? to : from).connect_flow(by, back ? peer : qp, path), 0);
        }
    }
    fabric.adapters().host(0).change_at(SimTime::us(100), [&fabric] {
        dynamic_cast<host::Complex&>(fabric.adapters().host(0).complex()).set_slot(0, {3, 4, 256});
    });
    EXPECT_EQ(fabric.engine().run().end, sim::RunEnd::Idle);
    std::string out;
    for (const auto& source : sources) out += source->diary;
    for (uint32_t h = 0; h < kHosts; ++h)
        for (const host::PartView& part :
             dynamic_cast<const host::Complex&>(fabric.adapters().host(h).complex()).parts())
            out += fmt::format("{} {} {} {}\n", part.name, part.part->tlps, part.part->wire_bytes,
                               part.part->use.total().in_ps());
    return out;
}

TEST(HostDeterminism, ThreadsAndWindowsChangeNothing) {
    const std::string first = run(1, SimTime::zero());
    EXPECT_GT(first.size(), 15'000U);
    for (const unsigned threads : {1U, 2U})
        for (const SimTime window : {SimTime::zero(), SimTime::ns(60)})
            EXPECT_EQ(run(threads, window), first) << threads << " threads, windows of " << window.in_ps() << " ps";
}

}  // namespace
}  // namespace simverbs
