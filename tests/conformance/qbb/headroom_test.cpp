// How much a lossless port must set aside: the published vectors, and a pattern that needs as much as any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/qbb/qbb_rig.hpp"
#include "tests/unit/models/flow/flow_rig.hpp"

namespace simverbs::test {
namespace {

using sim::BitRate;
using sim::ByteCount;
using sim::SimTime;

// FACTS §1.8 (SONiC's calculator): KiB of xoff and size by speed and length.
constexpr pfc::Headroom kib(ByteCount xoff, ByteCount size) {
    return {xoff * 1024, size * 1024};
}
static_assert(pfc::headroom({BitRate::gbps(100), 5}) == kib(71, 89));
static_assert(pfc::headroom({BitRate::gbps(100), 40}) == kib(80, 98));
static_assert(pfc::headroom({BitRate::gbps(100), 300}) == kib(144, 162));
static_assert(pfc::headroom({BitRate::gbps(400), 5}) == kib(139, 157));
static_assert(pfc::headroom({BitRate::gbps(400), 300}) == kib(430, 448));

TEST(PfcHeadroom, ResponseTimesAreTheTables) {
    const std::pair<int64_t, uint32_t> rows[] = {{10, 67},   {25, 80},   {40, 118}, {50, 147},
                                                 {100, 394}, {200, 453}, {400, 905}};
    for (const auto& [gbps, quanta] : rows) {
        EXPECT_EQ(pfc::response_quanta(BitRate::gbps(gbps)), quanta) << gbps;
        EXPECT_EQ(pfc::response_time(BitRate::gbps(gbps)).in_ps(), int64_t{quanta} * 512 * 1000 / gbps) << gbps;
    }
    EXPECT_EQ(pfc::response_quanta(BitRate::gbps(1)), 67U) << "slower than the table: its first row";
    EXPECT_EQ(pfc::response_quanta(BitRate::gbps(56)), 394U) << "between rows: the faster one";
    EXPECT_EQ(pfc::response_quanta(BitRate::gbps(800)), 1810U) << "beyond the table: in proportion";
}

TEST(PfcHeadroom, AQuantumIs512BitTimes) {
    EXPECT_EQ(pfc::quanta_time(1, BitRate::gbps(100)).in_ps(), 5'120);
    EXPECT_EQ(pfc::quanta_time(0xFFFF, BitRate::gbps(400)).in_ps(), int64_t{0xFFFF} * 1'280);
    EXPECT_EQ(pfc::quanta_time(0, BitRate::gbps(10)), SimTime::zero());
}

/// "All upstream ports at line rate, a largest packet just begun": three hosts send frames of the worst size at line
/// rate to one egress, which is paused from the beginning; towards the first of them the switch has just begun to send
/// a largest packet of another class when it decides to pause them. With `metres` of cable.
struct WorstCase {
    BitRate rate = BitRate::gbps(100);
    int64_t metres = 5;
    uint16_t payload = 4096;
    ByteCount cell = 96;
    uint16_t largest_payload = 9000;
    SimTime phase;  ///< of the largest packets: the later, the more of one is still to be sent at the pause

    struct Outcome {
        uint64_t drops = 0;
        ByteCount wanted = 0;
    };
    [[nodiscard]] Outcome run(ByteCount headroom) const {
        constexpr uint32_t kSenders = 3;
        fabric::SwitchConfig c;
        c.ports = kSenders + 1;
        c.priorities = 1 << 3 | 1 << 5;
        // The shared part stays the same, so that the pause is decided at the same instant.
        const ByteCount total = (8 << 20) + c.ports * headroom;
        c.buffer = {.total = total, .cell = cell, .lossless = 1 << 3, .headroom = headroom, .alpha = 1.0 / 64};
        c.pipeline_latency = SimTime::ns(300);
        PfcStar star(c);
        const PfcStar::Cable cable{rate, link::kPropagationPerMetre * metres};
        for (uint32_t i = 0; i <= kSenders; ++i) star.add(cable);
        // Renewed long before it ends.
        for (int i = 0; i < 4; ++i) star.hosts[kSenders]->send_pause_at(SimTime::us(100) * i, 1 << 3, 0xFFFF);
        for (uint32_t i = 0; i < kSenders; ++i) star.hosts[i]->send({kSenders, 4000, payload, 3, SimTime::us(10)});
        // Largest packets back to back towards the first sender, so that one is on its way whenever it is paused.
        star.hosts[kSenders]->send({0, 300, largest_payload, 5, SimTime::us(9) + phase});
        star.engine.run_until(SimTime::us(200));
        star.sw->buffer().check();
        EXPECT_GT(star.hosts[0]->pauses.size(), 0U) << "the pattern must pause";
        return {star.headroom_drops(), star.sw->buffer().max_headroom_wanted()};
    }
    [[nodiscard]] ByteCount computed() const {
        const auto frame = [](uint16_t p) { return ByteCount{p} + 82; };
        return pfc::headroom({rate, metres, frame(largest_payload), frame(payload), cell}).size;
    }
    /// The phase in which the most headroom is wanted.
    [[nodiscard]] WorstCase in_worst_phase() const {
        constexpr int kPhases = 64;
        const SimTime largest = rate.time_for(largest_payload + 82);
        WorstCase worst = *this;
        ByteCount most = 0;
        for (int i = 0; i < kPhases; ++i) {
            WorstCase w = *this;
            w.phase = largest * i / kPhases;
            const ByteCount wanted = w.run(computed()).wanted;
            if (wanted <= most) continue;
            most = wanted;
            worst = w;
        }
        return worst;
    }
    /// The smallest number of cells that loses nothing.
    [[nodiscard]] ByteCount smallest() const {
        ByteCount too_small = 0, enough = computed() / cell + 1;
        while (enough - too_small > 1) {
            const ByteCount middle = (enough + too_small) / 2;
            (run(middle * cell).drops == 0 ? enough : too_small) = middle;
        }
        return enough;
    }
};

TEST(PfcHeadroom, TheWorstCaseLosesNothingWithTheComputedHeadroom) {
    // 64-byte frames in cells of 96 bytes leave a third of every cell empty; payloads of 47 just take one more cell.
    for (const int64_t metres : {5, 40, 300})
        for (const uint16_t payload : {uint16_t{0}, uint16_t{48}, uint16_t{1024}, uint16_t{4096}}) {
            WorstCase w;
            w.metres = metres;
            w.payload = payload;
            w = w.in_worst_phase();
            const auto outcome = w.run(w.computed());
            EXPECT_EQ(outcome.drops, 0U) << metres << " m, payload " << payload << ", wanted " << outcome.wanted
                                         << " of " << w.computed();
        }
    WorstCase fast;
    fast.rate = BitRate::gbps(400);
    EXPECT_EQ(fast.in_worst_phase().run(fast.computed()).drops, 0U);
}

TEST(PfcHeadroom, OneCellLessThanTheSmallestThatSufficesDropsAndSaysHowMuchWasWanted) {
    for (const uint16_t payload : {uint16_t{0}, uint16_t{4096}}) {
        WorstCase w;
        w.payload = payload;
        w = w.in_worst_phase();
        const ByteCount smallest = w.smallest();
        EXPECT_LE(smallest * w.cell, w.computed());
        // By hand, in bytes of the wire: the largest packet, the pause frame, two ways of 25 ns, the response of 394
        // quanta, the switch's pipeline of 300 ns; whole frames in whole cells.
        const double wire = 9082 + 84 + 2 * 312.5 + 394 * 64 + 3750;
        const auto frame_wire = std::max(payload + 82, 84);
        const auto frame_cells = static_cast<double>((frame_wire - 20 + 95) / 96);
        EXPECT_NEAR(static_cast<double>(smallest), wire / frame_wire * frame_cells, frame_cells + 3);
        const auto enough = w.run(smallest * w.cell);
        EXPECT_EQ(enough.drops, 0U);
        EXPECT_EQ(enough.wanted, smallest * w.cell) << "what it needed is what it wanted";
        const auto less = w.run((smallest - 1) * w.cell);
        EXPECT_GT(less.drops, 0U);
        EXPECT_GT(less.wanted, (smallest - 1) * w.cell) << "the report says by how much it was too small";
        EXPECT_LE(less.wanted, smallest * w.cell);
    }
}

TEST(PfcHeadroom, TheHeadroomThatWasTooSmallAndTheLackThatIsToldLoseNothing) {
    WorstCase w;
    w = w.in_worst_phase();
    const ByteCount smallest = w.smallest() * w.cell;
    for (const ByteCount percent : {ByteCount{1}, ByteCount{10}, ByteCount{50}, ByteCount{75}}) {
        const ByteCount given = smallest * percent / 100 / w.cell * w.cell;
        const auto too_small = w.run(given);
        EXPECT_GT(too_small.drops, 1U) << percent << " %: more than the one packet";
        EXPECT_GE(too_small.wanted, smallest) << percent << " %";
        EXPECT_LE(too_small.wanted, smallest + 2 * 44 * w.cell) << percent << " %: and not much more";
        EXPECT_EQ(w.run(too_small.wanted).drops, 0U) << percent << " %: " << given << " and the lack";
    }
}

TEST(PfcHeadroom, LongerCablesNeedTwiceTheirLengthInBytesMore) {
    WorstCase near, far;
    far.metres = 105;
    near = near.in_worst_phase();
    far = far.in_worst_phase();
    // 200 m of light at 5 ns a metre: a microsecond, 12,500 bytes; frames of 4178 bytes in 44 cells.
    const ByteCount more = (far.smallest() - near.smallest()) * near.cell;
    EXPECT_NEAR(static_cast<double>(more), 12'500.0 * (44 * 96) / 4178, 2.0 * 44 * 96);
}

TEST(PfcHeadroom, AFabricSaysWhichSwitchHadTooLittleAndByHowMuch) {
    const auto run = [](bool enough) {
        FlowRig rig = FlowRig::single_switch(9);
        rig.config.nics.payload_bytes = 4096;
        rig.use_pfc(2 << 20);
        rig.config.headroom_auto = enough;
        rig.config.switches.buffer.headroom = enough ? 0 : 20 * 1024;
        for (uint32_t h = 1; h < 9; ++h) rig.add(h, 0, 1'000'000);
        FlowFabric& f = rig.build();
        EXPECT_EQ(f.run_until_done().end, FlowRunEnd::Idle);
        EXPECT_EQ(f.ended(), 8U);
        EXPECT_EQ(leftovers(f), "");
        return f.lossless_drops();
    };
    EXPECT_EQ(run(true), "") << "the headroom that follows from speed and length";
    const std::string report = run(false);
    EXPECT_THAT(report, testing::HasSubstr("sw0: "));
    EXPECT_THAT(report, testing::HasSubstr("headroom of 20480 bytes is too small by "));
}

}  // namespace
}  // namespace simverbs::test
