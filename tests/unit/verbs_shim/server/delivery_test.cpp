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

}  // namespace
}  // namespace simverbs::server
