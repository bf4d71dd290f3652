#include "verbs_shim/server/delivery.hpp"

#include <gtest/gtest.h>

namespace simverbs::server {
namespace {

using sim::SimTime;

Delivery at(int64_t ns, uint32_t device, uint64_t ordinal, uint64_t fd_key = 0) {
    Delivery d;
    d.stamp = SimTime::ns(ns);
    d.device = device;
    d.ordinal = ordinal;
    d.fd_key = fd_key;
    if (fd_key != 0) d.kind = DeliveryKind::ChannelEvent;
    return d;
}

TEST(DeliveryQueue, TheEarliestComesFirstWhateverTheOrderOfArrival) {
    DeliveryQueue queue;
    EXPECT_EQ(queue.next(), SimTime::max());
    for (const int64_t ns : {30, 10, 20}) queue.push(at(ns, 0, 1));
    EXPECT_EQ(queue.pop().stamp, SimTime::ns(10));
    EXPECT_EQ(queue.pop().stamp, SimTime::ns(20));
    EXPECT_EQ(queue.next(), SimTime::ns(30));
}

TEST(DeliveryQueue, EqualStampsAreOrderedByDeviceAndThenByTheDevicesOwnOrder) {
    DeliveryQueue queue;
    queue.push(at(10, 1, 1));
    queue.push(at(10, 0, 8));
    queue.push(at(10, 0, 7));
    EXPECT_EQ(queue.pop().ordinal, 7U);
    EXPECT_EQ(queue.pop().ordinal, 8U);
    EXPECT_EQ(queue.pop().device, 1U);
}

TEST(DeliveryQueue, TheNextEventOfAnFdIsFoundAmongOthers) {
    DeliveryQueue queue;
    queue.push(at(10, 0, 1));
    queue.push(at(30, 0, 2, 77));
    queue.push(at(20, 0, 3, 77));
    queue.push(at(15, 0, 4, 78));
    EXPECT_EQ(queue.next_for_fd(77), SimTime::ns(20));
    EXPECT_EQ(queue.next_for_fd(79), SimTime::max());
}

TEST(DeliveryQueue, AWriteOfAPartIsDueButIsNotAWholeMessage) {
    DeliveryQueue queue;
    EXPECT_TRUE(queue.push_written(SimTime::ns(10), true, SimTime::zero()));
    EXPECT_TRUE(queue.push_written(SimTime::ns(20), false, SimTime::zero()));
    EXPECT_FALSE(queue.push_written(SimTime::ns(30), false, SimTime::zero()));
    EXPECT_FALSE(queue.push_written(SimTime::ns(30), true, SimTime::zero()));
    EXPECT_EQ(queue.next(), SimTime::ns(10));
    EXPECT_EQ(queue.next_whole(), SimTime::ns(20));
    SimTime last;
    EXPECT_FALSE(queue.pop_written(SimTime::ns(19), last));
    EXPECT_TRUE(queue.pop_written(SimTime::ns(30), last));
    EXPECT_EQ(last, SimTime::ns(30));
    EXPECT_EQ(queue.next_whole(), SimTime::max());
    EXPECT_EQ(queue.next_part(), SimTime::ns(10));
}

TEST(StampQueue, StampsThatComeOutOfOrderAreSorted_EqualOnesKeptOnce) {
    StampQueue queue;
    for (const int64_t ns : {30, 10, 20, 20, 30}) queue.push(SimTime::ns(ns), SimTime::zero());
    SimTime last;
    for (const int64_t ns : {10, 20, 30}) {
        EXPECT_EQ(queue.next(), SimTime::ns(ns));
        EXPECT_TRUE(queue.pop_due(SimTime::ns(ns), last));
    }
    EXPECT_EQ(queue.next(), SimTime::max());
    EXPECT_FALSE(queue.pop_due(SimTime::max(), last));
}

TEST(StampQueue, WhatIsSettledIsThinnedOut_ItsFirstAndLastStampStay) {
    StampQueue queue;
    for (int64_t ns = 1; ns <= 5000; ++ns) queue.push(SimTime::ns(ns), SimTime::ns(ns - 10));
    EXPECT_EQ(queue.next(), SimTime::ns(1));
    SimTime last;
    EXPECT_TRUE(queue.pop_due(SimTime::ns(4995), last));
    EXPECT_EQ(last, SimTime::ns(4995));
    EXPECT_EQ(queue.next(), SimTime::ns(4996));
}

}  // namespace
}  // namespace simverbs::server
