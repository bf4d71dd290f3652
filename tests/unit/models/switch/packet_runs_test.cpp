// Packets that wait come out as they went in, whatever runs they make.
#include "models/switch/packet_runs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <deque>

#include "models/wire/packet.hpp"
#include "sim/rng.hpp"

namespace simverbs::fabric {
namespace {

wire::Packet data(uint32_t flow, uint32_t psn) {
    wire::Packet p;
    p.dest = flow & 0x3FFFF;
    p.dest_qp = (flow * 7) & 0xFFFFFF;
    p.psn = psn & 0xFFFFFF;
    p.flow_hash = static_cast<uint16_t>(flow * 31);
    p.payload_bytes = 4096;
    return p;
}

bool same(const wire::Packet& a, const wire::Packet& b) {
    return std::bit_cast<std::array<uint64_t, 4>>(a) == std::bit_cast<std::array<uint64_t, 4>>(b);
}

TEST(PacketRuns, TheMemoryOfManyPacketsOfAFewFlowsIsThatOfTheFlows) {
    PacketRuns runs(8);
    PacketRuns::Run last = PacketRuns::kNone;
    for (uint32_t psn = 0; psn < 1000; ++psn)
        for (uint32_t flow = 0; flow < 4; ++flow) {
            wire::Packet p = data(flow, 0xFFFF80 + psn);
            if (psn % 5 == flow) p.flags |= wire::kFecn;
            last = runs.add(p, sim::SimTime::ps(3), 0, last);
        }
    EXPECT_LT(runs.memory(), 1000U);
}

TEST(PacketRuns, AFlowHasARunInEachQueueAndForEachIngress) {
    PacketRuns runs(8);
    const auto add = [&](uint32_t psn, bool marked, int64_t ingress, uint32_t queue, PacketRuns::Run last) {
        wire::Packet p = data(1, psn);
        if (marked) p.flags |= wire::kFecn;
        return runs.add(p, sim::SimTime::ps(ingress), queue, last);
    };
    const auto first = add(10, false, 1, 0, PacketRuns::kNone);
    EXPECT_NE(add(11, false, 1, 1, PacketRuns::kNone), first);
    const auto other = add(12, false, 2, 0, first);
    EXPECT_NE(other, first);
    EXPECT_EQ(add(11, false, 1, 0, first), first);
    const auto marked = add(12, true, 1, 0, first);
    EXPECT_TRUE(PacketRuns::is_marked(marked));
    EXPECT_EQ(marked & ~1U, first);
}

TEST(PacketRuns, WhatHasEndedIsNotContinued) {
    PacketRuns runs(8);
    runs.next(runs.add(data(1, 10), sim::SimTime::ps(1), 0, PacketRuns::kNone));
    const auto run = runs.add(data(1, 20), sim::SimTime::ps(1), 0, PacketRuns::kNone);
    EXPECT_TRUE(runs.front(run).psn == 20);
    runs.next(run);
    const size_t memory = runs.memory();
    for (uint32_t i = 0; i < 1000; ++i) runs.next(runs.add(data(i, i), sim::SimTime::ps(1), 0, PacketRuns::kNone));
    EXPECT_EQ(runs.memory(), memory) << "entries were not used again";
}

/// Random traffic through queues beside copies of the packets: gaps, marks, wrapping numbers, flows alike in their
/// hash.
TEST(PacketRuns, EveryPacketComesOutOfItsQueueAsItWentIn) {
    constexpr uint32_t kQueues = 3, kFlows = 12;
    sim::ChunkPool pool;
    PacketRuns runs(8);
    sim::ChunkFifo numbers[kQueues];
    PacketRuns::Run last[kQueues]{};
    std::deque<wire::Packet> copies[kQueues];
    uint32_t psn[kFlows];
    for (uint32_t& n : psn) n = 0xFFFF80;
    const sim::Draws draws(1, 2, sim::DrawPurpose::Ecn);
    uint64_t ordinal = 0;
    const auto draw = [&](uint32_t below) { return static_cast<uint32_t>(draws.u64(ordinal++) % below); };
    for (int step = 0; step < 100'000; ++step) {
        const uint32_t queue = draw(kQueues);
        const bool fills = step % 4000 < 2000;
        if (draw(4) < (fills ? 3U : 1U)) {
            const uint32_t flow = draw(kFlows);
            wire::Packet p = data(flow, psn[flow]++);
            if (draw(20) == 0) psn[flow] += draw(3) - 1;
            if (draw(10) == 0) p.flags |= wire::kFecn;
            if (draw(50) == 0) p.payload_bytes = 100;
            p.aeth_msn = (p.psn / 2) & 0xFFFFFF;
            const auto ingress = sim::SimTime::ps(flow % 5 + (draw(100) == 0 ? 1 : 0));
            last[queue] = runs.add(p, ingress, queue, numbers[queue].empty() ? PacketRuns::kNone : last[queue]);
            numbers[queue].push(last[queue], pool);
            p.arrival = ingress;
            copies[queue].push_back(p);
        } else if (!copies[queue].empty()) {
            const auto run = numbers[queue].front();
            wire::Packet out = runs.front(run);
            if (PacketRuns::is_marked(run)) out.flags |= wire::kFecn;
            ASSERT_TRUE(same(out, copies[queue].front())) << step;
            numbers[queue].pop(pool);
            runs.next(run);
            copies[queue].pop_front();
        }
        ASSERT_EQ(numbers[queue].empty(), copies[queue].empty());
    }
}

}  // namespace
}  // namespace simverbs::fabric
