// What pauses do to bystanders and to those far away, and what congestion control repairs (Zhu et al., SIGCOMM 2015,
// §2.2 and §6.2, as shapes).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/topologies/topology_builder.hpp"
#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

constexpr BitRate kRate = BitRate::gbps(40);
/// Large enough that queues are marked before they pause anybody.
constexpr sim::ByteCount kBuffer = 12 << 20;

void use_dcqcn(FlowRig& rig) {
    const cc::AlgorithmInfo& info = *cc::find_algorithm("dcqcn");
    const cc::Preset& preset = *cc::find_preset(info, "hpcc-ns3");
    rig.algorithm = cc::make(info, cc::with_preset(preset));
    const cc::EcnMarking ecn = preset.ecn.scaled_to(kRate);
    rig.config.switches.ecn = {1 << 3, {ecn.kmin, ecn.kmax, ecn.pmax}, false};
}

/// Gb/s of payload that each flow has brought to its destination between two instants.
std::vector<double> rates(FlowRig& rig, SimTime from, SimTime until) {
    FlowFabric& f = *rig.fabric;
    const auto received = [&] {
        std::vector<double> bytes;
        for (flow::FlowIndex i = 0; i < f.flows().size(); ++i) {
            const auto& r = rig.result(i);
            bytes.push_back(r.status == FlowStatus::Success ? -1 : static_cast<double>(f.bytes_received(i)));
        }
        return bytes;
    };
    (void)f.run_until_done({.time = from});
    const auto before = received();
    (void)f.run_until_done({.time = until});
    auto after = received();
    for (size_t i = 0; i < after.size(); ++i) {
        EXPECT_GE(after[i], 0) << "flow " << i << " must last";
        after[i] = (after[i] - before[i]) * 8 / (until - from).in_s() / 1e9;
    }
    return after;
}

/// Four hosts of rack 1 and `remote` hosts of rack 2 send to one host of rack 3; a fifth host of rack 1 sends to rack
/// 4, over links that have room for it. Its rate:
double victim_rate(uint32_t remote, bool dcqcn) {
    topologies::TopologyBuilder b;
    FlowRig rig;
    std::vector<topologies::NodeRef> tors, hosts;
    for (int i = 0; i < 4; ++i)
        tors.push_back(b.add_switch("tor", topologies::SwitchTier::Leaf, 0, topologies::kNoPod));
    const auto spine = b.add_switch("spine", topologies::SwitchTier::Core, 1, topologies::kNoPod);
    const auto add_host = [&](uint32_t rack) {
        const auto h = b.add_host(topologies::kNoPod, static_cast<uint32_t>(hosts.size()));
        b.connect(h, tors[rack], {kRate, SimTime::us(1)});
        hosts.push_back(h);
        return h.index;
    };
    const uint32_t target = add_host(2), victim = add_host(0), bystander = add_host(3);
    std::vector<uint32_t> senders;
    for (int i = 0; i < 4; ++i) senders.push_back(add_host(0));
    for (uint32_t i = 0; i < remote; ++i) senders.push_back(add_host(1));
    for (const auto& tor : tors) b.connect(tor, spine, {BitRate::gbps(100), SimTime::us(1)});
    rig.topology = std::move(b).finish();
    rig.config.nics.payload_bytes = 4096;
    rig.use_pfc(kBuffer);
    if (dcqcn) use_dcqcn(rig);
    rig.add(victim, bystander, 1'000'000'000);
    for (const uint32_t s : senders) rig.add(s, target, 1'000'000'000);
    rig.build();
    return rates(rig, SimTime::ms(10), SimTime::ms(16))[0];
}

TEST(VictimFlow, PausesSlowAFlowThatMeetsNoCongestionItself_AndTheMoreSendersTheMore_DcqcnGivesItItsRateBack) {
    const double alone = 40.0 * 4096 / 4178;
    const double few = victim_rate(0, false), more = victim_rate(4, false);
    const double repaired = victim_rate(4, true);
    // The four flows to the target and the victim share one ingress of the spine, which is paused to the target's pace:
    // 10 Gb/s each, and 5 when the other rack takes half of the target's link.
    EXPECT_NEAR(few, alone / 4, alone * 0.03);
    EXPECT_NEAR(more, alone / 8, alone * 0.03);
    EXPECT_GT(repaired, alone * 0.9);
}

/// Four switches in a row; a host at each sends to one at the end. Rates of the senders, the farthest first.
std::vector<double> parking_lot(bool dcqcn) {
    FlowRig rig;
    const topologies::LinkParameters link{kRate, SimTime::us(1)};
    (void)topologies::make_parking_lot(rig.topology, {4, 2, link, link});
    rig.config.nics.payload_bytes = 4096;
    rig.use_pfc(kBuffer);
    if (dcqcn) use_dcqcn(rig);
    for (uint32_t s = 0; s < 4; ++s) rig.add(2 * s, 7, 1'000'000'000);
    rig.build();
    return dcqcn ? rates(rig, SimTime::ms(20), SimTime::ms(40)) : rates(rig, SimTime::ms(5), SimTime::ms(10));
}

TEST(ParkingLot, PausesShareByPortsSoThatTheFarthestGetsLeast_DcqcnSharesByFlows) {
    const auto by_pauses = parking_lot(false);
    const double line = 40.0 * 4096 / 4178;
    double sum = 0;
    for (const double r : by_pauses) sum += r;
    EXPECT_NEAR(sum, line, line * 0.02) << "the bottleneck is never idle";
    EXPECT_LT(by_pauses[0], line / 4 * 0.75);
    EXPECT_GT(by_pauses[3], line / 4 * 1.5);
    for (size_t i = 1; i < 4; ++i) EXPECT_GT(by_pauses[i], by_pauses[i - 1] * 0.95) << i;
    const auto by_dcqcn = parking_lot(true);
    sum = 0;
    for (const double r : by_dcqcn) sum += r;
    EXPECT_GT(sum, line * 0.9);
    for (const double r : by_dcqcn) EXPECT_NEAR(r, sum / 4, sum / 4 * 0.3);
}

}  // namespace
}  // namespace simverbs::test
