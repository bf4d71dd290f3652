#include "models/host/host_port.hpp"

#include <gtest/gtest.h>

#include "tests/unit/models/host/fake_complex.hpp"

namespace simverbs::host {
namespace {

using sim::SimTime;

/// 8 Gb/s: a nanosecond a byte.
HostPortParams params() {
    return {SimTime::ns(150), SimTime::ns(600), SimTime::ns(250), sim::BitRate::gbps(8), sim::BitRate::gbps(8)};
}

SimTime read_done(HostPort& port, SimTime now, uint32_t bytes) {
    port.request_read(now, bytes, 1);
    const SimTime at = port.next_completion();
    (void)port.take_completion();
    return at;
}

TEST(HostPort, WithoutAComplex_RequestsTakeWhatTheParametersSay_AndWaitForTheirLikes) {
    HostPort port(params());
    EXPECT_EQ(port.doorbell_arrival(SimTime::ns(10)), SimTime::ns(160));
    EXPECT_EQ(read_done(port, SimTime::zero(), 100), SimTime::ns(700));
    EXPECT_EQ(read_done(port, SimTime::zero(), 100), SimTime::ns(800));
    EXPECT_EQ(port.post_write(SimTime::zero(), 64), SimTime::ns(314));
    EXPECT_EQ(port.read_write_delay(SimTime::zero(), 8), SimTime::zero());
}

TEST(HostPort, OnTheNominalPath_AComplexAddsNothing) {
    FakeComplex complex;
    complex.read = complex.nominal;
    complex.write = complex.nominal - SimTime::ns(100);
    complex.mmio = SimTime::ns(80);
    HostPort port(params());
    port.attach(complex, 3);
    EXPECT_EQ(port.doorbell_arrival(SimTime::ns(10)), SimTime::ns(160));
    EXPECT_EQ(read_done(port, SimTime::zero(), 100), SimTime::ns(700));
    EXPECT_EQ(port.post_write(SimTime::zero(), 64), SimTime::ns(314));
    EXPECT_EQ(complex.diary, (std::vector<std::string>{"0 read 3", "0 write 3"}));
}

TEST(HostPort, AFartherPath_AddsTheDifferenceToTheNominalOne) {
    FakeComplex complex;  // reads 100 ns, writes nothing, doorbells 20 ns beyond nominal
    HostPort port(params());
    port.attach(complex, 0);
    EXPECT_EQ(port.doorbell_arrival(SimTime::zero()), SimTime::ns(170));
    EXPECT_EQ(read_done(port, SimTime::zero(), 100), SimTime::ns(800));
    complex.write = SimTime::ns(370);
    EXPECT_EQ(port.post_write(SimTime::us(1), 64), SimTime::ns(1384));
    EXPECT_EQ(port.read_write_delay(SimTime::us(2), 8), SimTime::ns(170));
    EXPECT_EQ(port.interrupt(SimTime::us(3), SimTime::us(4), 0), SimTime::ns(4070));
}

TEST(HostPort, ANearerPath_IsNoFasterThanTheAdapter) {
    FakeComplex complex;
    complex.read = SimTime::ns(10);
    HostPort port(params());
    port.attach(complex, 0);
    EXPECT_EQ(read_done(port, SimTime::zero(), 100), SimTime::ns(700));
}

TEST(HostPort, WhereTheHostIsSlower_ItsQueueIsWhatRequestsWaitFor) {
    FakeComplex complex;
    complex.read = complex.nominal;
    complex.busy = SimTime::ns(200);
    HostPort port(params());
    port.attach(complex, 0);
    for (int i = 0; i < 5; ++i) port.request_read(SimTime::zero(), 100, static_cast<ReadTag>(i));
    SimTime last;
    for (ReadTag i = 0; i < 5; ++i) {
        last = port.next_completion();
        EXPECT_EQ(port.take_completion(), i);
    }
    EXPECT_EQ(last, SimTime::ns(700 + 4 * 200));
}

TEST(HostPort, WritesStayInOrder_WhateverTheirPaths) {
    FakeComplex complex;
    HostPort port(params());
    port.attach(complex, 0);
    complex.write = SimTime::us(5);
    const SimTime far = port.post_write(SimTime::zero(), 8);
    complex.write = SimTime::ns(300);
    EXPECT_EQ(port.post_write(SimTime::ns(1), 8), far);
}

TEST(HostPort, ATargetCountsForTheNextRequestAlone) {
    FakeComplex complex;
    HostPort port(params());
    port.attach(complex, 0);
    port.aim({2, 4096});
    port.request_read(SimTime::zero(), 8, 0);
    port.request_read(SimTime::zero(), 8, 0);
    ASSERT_EQ(complex.targets.size(), 2U);
    EXPECT_EQ(complex.targets[0].memory, 2);
    EXPECT_EQ(complex.targets[0].address, 4096U);
    EXPECT_EQ(complex.targets[1].memory, kNearestMemory);
}

TEST(HostPort, MemoryOnTheAdapter_IsNotTheHostsMatter) {
    FakeComplex complex;
    HostPort port(params());
    port.attach(complex, 0);
    port.aim(kAdapterMemory);
    EXPECT_EQ(read_done(port, SimTime::zero(), 100), SimTime::ns(700));
    EXPECT_TRUE(complex.diary.empty());
}

}  // namespace
}  // namespace simverbs::host
