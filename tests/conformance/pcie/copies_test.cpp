// Copies by GPUs' engines: how long they take, and what they leave to others.
#include <gtest/gtest.h>

#include <vector>

#include "tests/conformance/pcie/rig.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using host::Complex;
using host::CopySpec;
using sim::SimTime;
using test::Stream;

struct Sink final : host::CopySink {
    void on_copy_done(uint64_t cookie, SimTime visible_at) override { done.emplace_back(cookie, visible_at); }
    std::vector<std::pair<uint64_t, SimTime>> done;
};

constexpr SimTime kNow = SimTime::us(1);

CopySpec copy(const Complex& c, uint16_t gpu, host::DmaTarget from, host::DmaTarget to, uint64_t bytes) {
    CopySpec s;
    s.gpu = c.gpu_agent(gpu);
    s.from = from;
    s.to = to;
    s.bytes = bytes;
    return s;
}
SimTime took(Complex& c, const CopySpec& s) {
    Sink sink;
    c.submit(s, kNow, sink);
    c.run_until(SimTime::s(100));
    EXPECT_EQ(sink.done.size(), 1U);
    return sink.done.empty() ? SimTime::max() : sink.done[0].second - kNow;
}
double copy_gbps(Complex& c, const CopySpec& s) {
    return test::gbps(s.bytes, took(c, s));
}

TEST(Copies, OfAFewBytesTakeTheSixToSevenMicrosecondsOfCudaMemcpy) {
    Complex c(test::two_socket());
    EXPECT_NEAR(took(c, copy(c, 1, host::kNearestMemory, c.gpu_memory(1), 8)).in_us(), 7.0, 0.6);
    Complex d(test::two_socket());
    EXPECT_NEAR(took(d, copy(d, 1, d.gpu_memory(1), host::kNearestMemory, 8)).in_us(), 7.0, 0.6);
}

TEST(Copies, OfALotGoAtTheRateOfTheLink) {
    for (const auto& [generation, in, out] : {std::tuple{3, 105.5, 104.0}, {4, 210.9, 207.9}, {5, 421.8, 415.8}}) {
        const host::PlatformSpec p = test::two_socket({static_cast<uint8_t>(generation), 16, 256});
        Complex c(p), d(p);
        EXPECT_NEAR(copy_gbps(c, copy(c, 1, 0, c.gpu_memory(1), 64 << 20)), in, 0.02 * in);
        EXPECT_NEAR(copy_gbps(d, copy(d, 1, d.gpu_memory(1), 0, 64 << 20)), out, 0.02 * out);
    }
}

TEST(Copies, BetweenGpusGoByNvlinkWhereThereIsOne) {
    Complex c(test::hgx_h100());
    EXPECT_NEAR(copy_gbps(c, copy(c, 0, c.gpu_memory(0), c.gpu_memory(5), 256 << 20)) / 8, 18 * 20.6, 18);
    EXPECT_EQ(c.up(c.gpu_agent(0)).bytes, 0U);
    Complex pull(test::hgx_h100());
    EXPECT_NEAR(copy_gbps(pull, copy(pull, 5, pull.gpu_memory(0), pull.gpu_memory(5), 256 << 20)) / 8, 18 * 20.6, 25);
    Complex pcie(test::two_socket());
    EXPECT_NEAR(copy_gbps(pcie, copy(pcie, 0, pcie.gpu_memory(0), pcie.gpu_memory(3), 64 << 20)) / 8, 16, 0.5);
}

TEST(Copies, BetweenGpusOutOfEachOthersReachGoByWayOfTheHost) {
    host::PlatformSpec p = test::two_socket();
    p.bridges[0].peer_to_peer = false;
    Complex push(p), pull(p);
    ASSERT_FALSE(push.reachable(push.gpu_agent(0), push.gpu_memory(3)));
    EXPECT_NEAR(copy_gbps(push, copy(push, 0, push.gpu_memory(0), push.gpu_memory(3), 64 << 20)), 207.9, 5);
    EXPECT_NEAR(copy_gbps(pull, copy(pull, 3, pull.gpu_memory(0), pull.gpu_memory(3), 64 << 20)), 207.9, 5);
    for (const Complex* c : {&push, &pull}) {
        EXPECT_EQ(c->up(c->gpu_agent(0)).bytes, 64U << 20);
        EXPECT_EQ(c->down(c->gpu_agent(3)).bytes, 64U << 20);
    }
}

TEST(Copies, WithinAGpuPassItsMemoryTwice) {
    Complex c(test::two_socket());
    EXPECT_NEAR(copy_gbps(c, copy(c, 0, c.gpu_memory(0), c.gpu_memory(0), 1ULL << 30)) / 8, 1500, 40);
}

TEST(Copies, OfOneEngineFollowEachOtherAndThoseOfTwoOverlap) {
    Complex c(test::two_socket());
    Sink sink;
    CopySpec in = copy(c, 1, 0, c.gpu_memory(1), 1 << 20), out = copy(c, 1, c.gpu_memory(1), 0, 1 << 20);
    in.cookie = 1;
    c.submit(in, kNow, sink);
    in.cookie = 2;
    c.submit(in, kNow, sink);
    out.cookie = 3;
    out.engine = 1;
    c.submit(out, kNow, sink);
    c.run_until(SimTime::s(1));
    ASSERT_EQ(sink.done.size(), 3U);
    const auto [first, second, other] = std::tuple{sink.done[0], sink.done[1], sink.done[2]};
    EXPECT_EQ(first.first + second.first, 4U) << "1 and 3, in either order";
    EXPECT_EQ(other.first, 2U);
    EXPECT_GT(other.second - first.second, SimTime::us(39));
    EXPECT_LT(second.second - first.second, SimTime::us(3));
}

TEST(Copies, DoNothingBeforeTheirTimeAndNothingTwice) {
    Complex c(test::two_socket());
    Sink sink;
    EXPECT_EQ(c.next_event_time(), SimTime::max());
    c.submit(copy(c, 1, 0, c.gpu_memory(1), 1 << 20), kNow, sink);
    EXPECT_GT(c.next_event_time(), kNow);
    // However often the node looks in between.
    while (c.next_event_time() < SimTime::max()) c.run_until(c.next_event_time() + SimTime::ps(1));
    Complex d(test::two_socket());
    EXPECT_EQ(sink.done.at(0).second - kNow, took(d, copy(d, 1, 0, d.gpu_memory(1), 1 << 20)));
    EXPECT_EQ(c.down(c.gpu_agent(1)).bytes, 1U << 20);
}

TEST(Copies, ToTheHostShareASwitchsLinkWithAnAdapterInHalves) {
    Complex c(test::two_socket());
    Sink sink;
    c.submit(copy(c, 0, c.gpu_memory(0), 0, 256 << 20), SimTime::zero(), sink);
    Stream nic(0, Stream::Kind::Write, host::kNearestMemory, 4096, 128 << 10);
    test::run_streams(c, SimTime::us(1000), nic);
    EXPECT_NEAR(nic.rate(), 207.9 / 2, 15);
    const auto gpu = c.up(c.gpu_agent(0)).bytes;
    EXPECT_NEAR(test::gbps(gpu, SimTime::us(1000)), 207.9 / 2, 15);
}

TEST(Copies, FromTheHostAndAnAdaptersReadsFillTheLinkTogether) {
    Complex c(test::two_socket());
    Sink sink;
    c.submit(copy(c, 0, 0, c.gpu_memory(0), 256 << 20), SimTime::zero(), sink);
    // As many bytes under way as the engine has.
    Stream nic(0, Stream::Kind::Read, host::kNearestMemory, 4096, 48 << 10);
    test::run_streams(c, SimTime::us(1000), nic);
    const double gpu = test::gbps(c.down(c.gpu_agent(0)).bytes, SimTime::us(1000));
    EXPECT_NEAR(nic.rate() + gpu, 210.9, 5);
    EXPECT_GT(nic.rate(), 210.9 / 3);
    EXPECT_GT(gpu, 210.9 / 3);
}

/// Both live: the adapter's small requests do not wait for a whole copy.
TEST(Copies, ALongCopyDelaysASmallReadByAFewMicrosecondsAtMost) {
    Complex c(test::two_socket());
    Sink sink;
    c.submit(copy(c, 0, 0, c.gpu_memory(0), 256 << 20), SimTime::zero(), sink);
    c.run_until(SimTime::us(500));
    EXPECT_LT(c.dma_read(0, SimTime::us(500), host::kNearestMemory, 64) - SimTime::us(500), SimTime::us(4));
}

TEST(Utilisation, OfALinkIsItsBusyTimeByBins) {
    Complex c(test::two_socket());
    (void)took(c, copy(c, 1, 0, c.gpu_memory(1), 16 << 20));
    const host::Part& down = c.down(c.gpu_agent(1));
    SimTime sum;
    for (uint32_t i = 0; i < pcie::Utilisation::kBins; ++i) {
        EXPECT_LE(down.use.bin(i), down.use.width());
        sum += down.use.bin(i);
    }
    EXPECT_EQ(sum, down.use.total());
    EXPECT_NEAR(down.use.total().in_us(), (16 << 20) * 8 / 210.9e3, 6);
    EXPECT_EQ(down.bytes, 16U << 20);
    EXPECT_EQ(down.wire_bytes, (16U << 20) / 256 * 276);
}

}  // namespace
}  // namespace simverbs
