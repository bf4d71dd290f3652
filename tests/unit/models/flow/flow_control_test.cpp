// A NIC under flow control of its link: pauses obeyed to the picosecond; and what trimming switches leave of a packet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/qbb/qbb_rig.hpp"
#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

constexpr int64_t kMiddlePs = 1082 * 80, kFirstPs = 1098 * 80;
constexpr int64_t kControlPs = 50'000 + 84 * 80 + 394 * 5'120;

struct NoPaths final : flow::Paths {
    [[nodiscard]] cc::PathFacts facts(flow::HostIndex, flow::HostIndex) const override {
        return {BitRate::gbps(100), SimTime::us(1), 1082, 1000, 1};
    }
};

/// A NIC whose peer is a port by hand, which sends pauses and answers nothing.
struct NicAndPort {
    explicit NicAndPort(std::vector<flow::FlowSpec> flows) : table({std::move(flows), {}, {}}, 2) {
        cc = cc::make(*cc::find_algorithm("none"), {});
        flow::FlowNicConfig c;
        c.path = "h0";
        c.payload_bytes = 1000;
        c.cc = cc.get();
        c.paths = &paths;
        nic = std::make_unique<flow::FlowNic>(c, table, nullptr);
        engine.add_node(*nic);
        engine.add_node(peer);
        link::LinkParams params;
        params.rate = BitRate::gbps(100);
        params.propagation = SimTime::ns(50);
        params.flow_control = true;
        params.pause_response = pfc::response_time(params.rate);
        cable = std::make_unique<link::Link>(engine, params, link::LinkEnd{nic->id(), "h0", {}},
                                             link::LinkEnd{peer.id(), "h1", {}}, nullptr);
        nic->attach_port(cable->wiring_a());
        peer.attach_port(cable->wiring_b());
        nic->set_observer(&log);
        nic->begin();
    }
    sim::Engine engine;
    flow::FlowTable table;
    NoPaths paths;
    std::unique_ptr<cc::CongestionControl> cc;
    std::unique_ptr<flow::FlowNic> nic;
    PfcHost peer;
    std::unique_ptr<link::Link> cable;
    PortLog log;
};

TEST(FlowNicPause, APauseComesBeforeThePacketThatWouldStartAtTheSameInstant) {
    for (const int64_t late : {0, 1}) {
        NicAndPort rig({{0, 1, 20'000, SimTime::us(4), 0, 3}});
        const int64_t sixth = 4'000'000 + kFirstPs + 4 * kMiddlePs;
        rig.peer.send_pause_at(SimTime::ps(sixth - kControlPs + late), 1 << 3, 0xFFFF);
        rig.engine.run_until(SimTime::us(50));
        EXPECT_EQ(rig.log.data_sent().size(), late == 0 ? 5U : 6U);
        EXPECT_EQ(rig.nic->stopped_priorities(), 1U << 3);
        EXPECT_EQ(rig.nic->flow_control().pauses_received(), 1U);
    }
}

TEST(FlowNicPause, ItEndsAfterItsQuantaOrWithAnXon) {
    for (const bool xon : {false, true}) {
        NicAndPort rig({{0, 1, 3'000, SimTime::us(4), 0, 3}});
        rig.peer.send_pause_at({}, 1 << 3, 2000);
        if (xon) rig.peer.send_pause_at(SimTime::us(6), 1 << 3, 0);
        rig.engine.run_until(SimTime::us(50));
        const int64_t end = kControlPs + (xon ? 6'000'000 : 2000 * 5'120);
        EXPECT_THAT(rig.log.data_times(), testing::ElementsAre(end, end + kFirstPs, end + kFirstPs + kMiddlePs));
        EXPECT_EQ(rig.nic->flow_control().paused_time().in_ps(), end - kControlPs);
    }
}

TEST(FlowNicPause, OtherPrioritiesGoOn) {
    NicAndPort rig({{0, 1, 3'000, SimTime::us(4), 0, 3},
                    {0, 1, 3'000, SimTime::us(4), 0, 5},
                    {0, 1, 3'000, SimTime::us(4), 0, 1}});
    rig.peer.send_pause_at({}, 1 << 3, 0xFFFF);
    rig.engine.run_until(SimTime::us(100));
    std::vector<uint32_t> priorities;
    for (const auto& e : rig.log.entries) priorities.push_back(e.packet.priority);
    EXPECT_THAT(priorities, testing::ElementsAre(5, 5, 5, 1, 1, 1));
}

TEST(FlowNicTrimming, ATrimmedPacketIsSentAgainWithoutATimeout) {
    for (const auto recovery : {flow::LossRecovery::GoBackN, flow::LossRecovery::SelectiveRepeat}) {
        FlowRig rig = FlowRig::single_switch(6);
        rig.config.nics.recovery = recovery;
        rig.config.nics.retransmission_timeout = SimTime::ms(1);
        rig.config.switches.trimming = true;
        rig.config.switches.queue_bytes = 30'000;
        for (uint32_t h = 1; h < 6; ++h) rig.add(h, 0, 100'000);
        FlowFabric& f = rig.build();
        EXPECT_EQ(f.run_until_done().end, FlowRunEnd::Idle);
        EXPECT_GT(f.fabric_switch(0).counters(0).trimmed, 50U);
        EXPECT_EQ(f.fabric_switch(0).counters(0).drops_full, 0U);
        uint64_t again = 0, timeouts = 0;
        for (flow::FlowIndex i = 0; i < 5; ++i) {
            EXPECT_EQ(rig.result(i).status, FlowStatus::Success);
            timeouts += rig.result(i).timeouts;
            again += rig.result(i).retransmitted;
        }
        if (recovery == flow::LossRecovery::SelectiveRepeat) {
            const uint64_t trimmed = f.fabric_switch(0).counters(0).trimmed;
            EXPECT_EQ(timeouts, 0U);
            EXPECT_GE(again, trimmed);
            EXPECT_LE(again, trimmed * 5 / 4) << "where a repeated packet is trimmed, those after it come once more";
        }
        EXPECT_EQ(f.nic(0).counters().data_received, 500'000U);
        EXPECT_EQ(leftovers(f), "");
    }
}

}  // namespace
}  // namespace simverbs::test
