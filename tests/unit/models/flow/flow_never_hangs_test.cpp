// Whatever is lost, every flow ends, and nothing is left behind.
#include <gtest/gtest.h>

#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

using flow::LossRecovery;

struct Outcome {
    uint64_t succeeded = 0;
    uint64_t failed = 0;
};

Outcome run(const cc::AlgorithmInfo& algorithm, LossRecovery recovery, double loss, bool lossless, int64_t bytes) {
    FlowRig rig = FlowRig::fat_tree(4, SimTime::ns(200));
    for (auto& l : rig.topology.links) l.packet_loss = loss;
    rig.algorithm = cc::make(algorithm, {});
    rig.config.nics.recovery = recovery;
    rig.config.nics.retransmission_timeout = SimTime::us(100);
    rig.config.switches.ecn = {1 << 3, {20'000, 80'000, 0.2}, false};
    rig.config.switches.buffer.total = 4 << 20;
    if (lossless)
        rig.use_pfc(4 << 20);
    else
        rig.config.switches.queue_bytes = 60'000;
    for (uint32_t h = 0; h < 16; ++h) rig.add(h, (h + 5) % 16, bytes);
    for (uint32_t h = 1; h < 6; ++h) rig.add(h + 8, 0, bytes / 2);
    FlowFabric& fabric = rig.build();
    const auto end = fabric.run_until_done();
    EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
    EXPECT_EQ(leftovers(fabric), "");
    EXPECT_EQ(fabric.ended(), fabric.flows().size());
    Outcome o;
    for (flow::FlowIndex f = 0; f < fabric.flows().size(); ++f) {
        const auto& r = rig.result(f);
        EXPECT_NE(r.status, FlowStatus::Pending) << f;
        EXPECT_TRUE(r.status != FlowStatus::Success || r.received < r.acknowledged) << f;
        EXPECT_TRUE(r.status != FlowStatus::RetryExceeded || r.timeouts > 7) << f;
        ++(r.status == FlowStatus::Success ? o.succeeded : o.failed);
    }
    return o;
}

void run_matrix(std::initializer_list<double> losses, int64_t bytes) {
    for (const cc::AlgorithmInfo* algorithm : cc::algorithms())
        for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat})
            for (const double loss : losses) {
                SCOPED_TRACE(std::string(algorithm->name) + " loss " + std::to_string(loss) +
                             (recovery == LossRecovery::GoBackN ? " go-back-N" : " selective repeat"));
                const Outcome o = run(*algorithm, recovery, loss, loss > 0.005, bytes);
                if (loss <= 0.01) {
                    EXPECT_EQ(o.failed, 0U);
                }
                if (loss >= 0.5) {
                    EXPECT_GT(o.failed, 0U) << "six links that lose half: hardly anything comes through";
                }
            }
}

TEST(FlowNeverHangs, EveryAlgorithmEndsAtLowAndAtHopelessLoss) {
    run_matrix({0.001, 0.5}, 60'000);
}

TEST(FlowNeverHangs, EveryAlgorithmEndsASmallFabricAtEveryLossBetween) {
    run_matrix({0.00001, 0.01, 0.1}, 12'000);
}

/// One cable, so that each packet meets one loss: at 1% and below all must succeed, at 50% whatever ends says why.
TEST(FlowNeverHangs, EveryAlgorithmEndsBetweenTwoHostsAtEveryLoss) {
    for (const cc::AlgorithmInfo* algorithm : cc::algorithms())
        for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat})
            for (const double loss : {0.00001, 0.001, 0.01, 0.1, 0.5}) {
                SCOPED_TRACE(std::string(algorithm->name) + " loss " + std::to_string(loss) +
                             (recovery == LossRecovery::GoBackN ? " go-back-N" : " selective repeat"));
                FlowRig rig = FlowRig::back_to_back(SimTime::ns(500));
                rig.topology.links.front().packet_loss = loss;
                rig.algorithm = cc::make(*algorithm, {});
                rig.config.nics.recovery = recovery;
                rig.config.nics.retransmission_timeout = SimTime::us(100);
                rig.use_pfc(4 << 20);
                for (int i = 0; i < 3; ++i) {
                    rig.add(0, 1, 100'000);
                    rig.add(1, 0, 20'000);
                }
                FlowFabric& fabric = rig.build();
                const auto end = fabric.run_until_done();
                EXPECT_EQ(end.end, FlowRunEnd::Idle) << end.dump;
                EXPECT_EQ(leftovers(fabric), "");
                for (flow::FlowIndex f = 0; f < fabric.flows().size(); ++f) {
                    const auto& r = rig.result(f);
                    if (r.status == FlowStatus::Success)
                        EXPECT_LT(r.received, r.acknowledged) << f;
                    else
                        EXPECT_TRUE(r.status == FlowStatus::RetryExceeded && r.timeouts > 7 && loss > 0.01) << f;
                }
            }
}

TEST(FlowNeverHangs, DISABLED_FullMatrixOfLossAlgorithmAndRecovery) {
    run_matrix({0.00001, 0.001, 0.01, 0.1, 0.5}, 1'000'000);
}

TEST(FlowNeverHangs, CorruptionDelayReorderingAndDuplicatesTogetherAreSurvived) {
    for (const auto recovery : {LossRecovery::GoBackN, LossRecovery::SelectiveRepeat}) {
        for (const char* name : {"hpcc", "dcqcn", "none"}) {
            FlowRig rig = FlowRig::single_switch(4);
            rig.use(name);
            rig.config.nics.recovery = recovery;
            rig.config.nics.retransmission_timeout = SimTime::us(100);
            rig.use_pfc(2 << 20);
            using enum link::FaultKind;
            for (uint32_t l = 0; l < 4; ++l) {
                for (const bool from_a : {true, false}) {
                    rig.config.faults.push_back({l, from_a, {.kind = Corrupt, .probability = 0.003}});
                    rig.config.faults.push_back({l, from_a, {.kind = Duplicate, .probability = 0.02}});
                    rig.config.faults.push_back(
                        {l, from_a, {.kind = Delay, .probability = 0.003, .by = SimTime::us(3)}});
                    rig.config.faults.push_back({l, from_a, {.kind = Reorder, .probability = 0.003, .behind = 3}});
                }
            }
            for (uint32_t h = 0; h < 4; ++h)
                for (uint32_t d = 1; d < 4; ++d) rig.add(h, (h + d) % 4, 200'000);
            FlowFabric& fabric = rig.build();
            EXPECT_EQ(fabric.run_until_done().end, FlowRunEnd::Idle);
            EXPECT_EQ(leftovers(fabric), "") << name;
            uint64_t received = 0, corrupt = 0;
            for (flow::FlowIndex f = 0; f < fabric.flows().size(); ++f)
                EXPECT_EQ(rig.result(f).status, FlowStatus::Success) << name << ' ' << f;
            for (uint32_t h = 0; h < 4; ++h) {
                received += fabric.nic(h).counters().data_received;
                corrupt += fabric.nic(h).counters().corrupt;
            }
            EXPECT_EQ(received, 12U * 200'000) << name;
            EXPECT_GT(corrupt, 0U);
        }
    }
}

/// More than 2^24 packets of a byte each, with a loss where PSNs wrap around.
void run_psn_wrap(LossRecovery recovery) {
    constexpr int64_t kPackets = (1 << 24) + 50'000;
    FlowRig rig = FlowRig::back_to_back(SimTime::ns(100));
    rig.config.nics.recovery = recovery;
    rig.config.nics.payload_bytes = 1;
    rig.config.nics.ack_every = 1024;
    rig.config.faults.push_back({0, true, {.kind = link::FaultKind::Drop, .nth = (1 << 24) - 2}});
    rig.config.faults.push_back({0, true, {.kind = link::FaultKind::Drop, .nth = (1 << 24) + 500}});
    rig.add(0, 1, kPackets);
    FlowFabric& fabric = rig.build();
    EXPECT_EQ(fabric.run_until_done().end, FlowRunEnd::Idle);
    EXPECT_EQ(rig.result(0).status, FlowStatus::Success);
    EXPECT_EQ(rig.result(0).timeouts, 0U);
    EXPECT_EQ(fabric.nic(1).counters().data_received, static_cast<uint64_t>(kPackets));
    EXPECT_EQ(leftovers(fabric), "");
    EXPECT_LT(rig.result(0).retransmitted, recovery == LossRecovery::SelectiveRepeat ? 3U : 200U);
}

TEST(FlowNeverHangs, DISABLED_FullPsnsWrapAroundWithinAFlow_GoBackN) {
    run_psn_wrap(LossRecovery::GoBackN);
}
TEST(FlowNeverHangs, DISABLED_FullPsnsWrapAroundWithinAFlow_SelectiveRepeat) {
    run_psn_wrap(LossRecovery::SelectiveRepeat);
}

}  // namespace
}  // namespace simverbs::test
