// Somebody else's model in the place of a part of a host.
#include "models/host/part_model.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/host/complex.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs::host {
namespace {

using sim::SimTime;

/// Takes 5 us for everything, and remembers what came.
class Slow final : public PartModel {
  public:
    SimTime pass(const PartTransfer& t) override {
        seen.push_back(t);
        return t.arrival + SimTime::us(5);
    }
    std::vector<PartTransfer> seen;
};

constexpr DmaTarget kSomewhere{0, 0x1000};

TEST(PartModels, AMemoryOfSomebodyElseSaysWhenReadsAndWritesAreDone) {
    Complex plain(test::one_adapter()), with(test::one_adapter());
    Slow slow;
    ASSERT_TRUE(with.replace("node0", &slow));
    const SimTime read = plain.dma_read(0, SimTime::zero(), kSomewhere, 4096);
    const SimTime written = plain.dma_write(0, SimTime::us(50), kSomewhere, 4096);
    const SimTime slow_read = with.dma_read(0, SimTime::zero(), kSomewhere, 4096);
    const SimTime slow_written = with.dma_write(0, SimTime::us(50), kSomewhere, 4096);
    ASSERT_EQ(slow.seen.size(), 2U);
    EXPECT_FALSE(slow.seen[0].is_write);
    EXPECT_TRUE(slow.seen[1].is_write);
    for (const PartTransfer& t : slow.seen) {
        EXPECT_EQ(t.address, kSomewhere.address);
        EXPECT_EQ(t.bytes, 4096U);
    }
    EXPECT_GT(slow_read - read, SimTime::ns(4500));
    EXPECT_LT(slow_read - read, SimTime::us(5));
    EXPECT_GT(slow_written - written, SimTime::ns(4500));
}

TEST(PartModels, ALinkOfSomebodyElseSeesTlpsWithTheirFraming) {
    Complex with(test::one_adapter());
    Slow slow;
    ASSERT_TRUE(with.replace("nic0 up", &slow));
    const SimTime written = with.dma_write(0, SimTime::zero(), kSomewhere, 1024);
    ASSERT_EQ(slow.seen.size(), 1U);
    EXPECT_EQ(slow.seen[0].bytes, 1024U + 4 * 24);
    EXPECT_GT(written, SimTime::us(5));
    EXPECT_TRUE(with.replace("nic0 up", nullptr));
    EXPECT_LT(with.dma_write(0, SimTime::us(20), kSomewhere, 1024), SimTime::us(22));
}

TEST(PartModels, ANameThatIsNoPartIsRefused) {
    Complex with(test::one_adapter());
    Slow slow;
    EXPECT_FALSE(with.replace("node7", &slow));
}

}  // namespace
}  // namespace simverbs::host
