// GPUDirect RDMA: what the way between an adapter and a GPU is worth.
#include <gtest/gtest.h>

#include "models/host/relation.hpp"
#include "sim/check.hpp"
#include "tests/conformance/pcie/rig.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs {
namespace {

using host::AgentId;
using host::Complex;
using host::Distance;
using sim::SimTime;
using test::Stream;

constexpr AgentId kNic0 = 0;
/// GPUs of two_socket by what lies between them and nic0: a switch, a bridge, two bridges, the sockets' link.
enum : uint16_t { kBelowSwitch = 0, kOtherBridge = 1, kOtherSocket = 2, kSameBridge = 3 };

double rate(Complex& c, Stream::Kind kind, uint16_t gpu) {
    Stream s(kNic0, kind, c.gpu_memory(gpu), 4096, 256 << 10);
    test::run_streams(c, SimTime::us(400), s);
    return s.rate() / 8;
}
double write_rate(const host::PlatformSpec& p, uint16_t gpu) {
    Complex c(p);
    return rate(c, Stream::Kind::Write, gpu);
}
double read_rate(const host::PlatformSpec& p, uint16_t gpu) {
    Complex c(p);
    return rate(c, Stream::Kind::Read, gpu);
}

TEST(Peers, BelowOneSwitchTheLinkIsTheLimit) {
    EXPECT_NEAR(write_rate(test::two_socket(), kBelowSwitch), 26.0, 0.5);
    EXPECT_NEAR(read_rate(test::two_socket(), kBelowSwitch), 26.4, 0.5);
}

/// Source: GPUDirect measurements through root complexes: 11 of 23 GB/s reading, 16 of 24 GB/s writing.
TEST(Peers, ThroughTheRootComplexReadsGetElevenAndWritesSixteenGigabytesASecond) {
    EXPECT_NEAR(write_rate(test::two_socket(), kSameBridge), 16, 0.3);
    EXPECT_NEAR(read_rate(test::two_socket(), kSameBridge), 11, 0.3);
}

TEST(Peers, TheFartherTheSlower) {
    const host::PlatformSpec p = test::two_socket();
    for (const auto& measure : {write_rate, read_rate}) {
        EXPECT_GT(measure(p, kBelowSwitch), 1.3 * measure(p, kSameBridge));
        EXPECT_GE(measure(p, kSameBridge), measure(p, kOtherBridge));
        EXPECT_GT(measure(p, kOtherBridge), 1.1 * measure(p, kOtherSocket));
    }
}

TEST(Peers, TheFartherTheLater) {
    Complex c(test::two_socket());
    auto took = [&, at = 0](uint16_t gpu) mutable {
        const SimTime now = SimTime::us(++at * 10);
        return c.dma_write(kNic0, now, c.gpu_memory(gpu), 64) - now;
    };
    const SimTime pix = took(kBelowSwitch), phb = took(kSameBridge), node = took(kOtherBridge),
                  sys = took(kOtherSocket);
    EXPECT_LT(pix, phb);
    EXPECT_LT(phb, node);
    EXPECT_LT(node, sys);
}

TEST(Peers, AcsSendsThemThroughTheRootAndTheSwitchsOwnLink) {
    host::PlatformSpec p = test::two_socket();
    Complex direct(p);
    const double without = rate(direct, Stream::Kind::Write, kBelowSwitch);
    EXPECT_EQ(direct.parts()[0].part->bytes, 0U);
    const auto uplink = static_cast<AgentId>(p.nics.size() + p.gpus.size());
    EXPECT_EQ(direct.up(uplink).bytes, 0U);

    Complex redirected(p);
    redirected.set_acs(0, true);
    const double with = rate(redirected, Stream::Kind::Write, kBelowSwitch);
    EXPECT_GT(redirected.up(uplink).bytes, 0U);
    EXPECT_EQ(redirected.up(uplink).bytes, redirected.down(uplink).bytes);
    EXPECT_NEAR(with, 16, 0.3);
    EXPECT_LT(with, 0.7 * without);
}

TEST(Peers, AcsIsTakenOffAgain) {
    Complex c(test::two_socket());
    c.set_acs(0, true);
    c.set_acs(0, false);
    EXPECT_NEAR(rate(c, Stream::Kind::Write, kBelowSwitch), 26.0, 0.5);
}

TEST(Peers, AnIommuSeesRequestsThatAreNotTranslatedYet) {
    host::PlatformSpec p = test::two_socket();
    p.iommu.enabled = true;
    EXPECT_NEAR(write_rate(p, kBelowSwitch), 16, 0.3);
    p.nics[0].ats = true;
    EXPECT_NEAR(write_rate(p, kBelowSwitch), 26.0, 0.5);
}

TEST(Peers, ABridgeThatRefusesThemPutsGpusOutOfReach) {
    host::PlatformSpec p = test::two_socket();
    p.bridges[0].peer_to_peer = false;
    Complex c(p);
    EXPECT_TRUE(c.reachable(kNic0, c.gpu_memory(kBelowSwitch)));
    EXPECT_FALSE(c.reachable(kNic0, c.gpu_memory(kSameBridge)));
    EXPECT_FALSE(c.reachable(kNic0, c.gpu_memory(kOtherSocket)));
    EXPECT_TRUE(c.reachable(kNic0, host::kNearestMemory));
}

TEST(Peers, TwoAdaptersBelowOneSwitchShareItsLinkInHalves) {
    host::PlatformSpec p = test::two_socket();
    p.nics[1].upstream = test::under_switch(0);
    Complex c(p);
    Stream a(0, Stream::Kind::Write, host::kNearestMemory, 4096, 128 << 10);
    Stream b(1, Stream::Kind::Write, host::kNearestMemory, 4096, 128 << 10);
    test::run_streams(c, SimTime::us(400), a, b);
    EXPECT_NEAR(a.rate() + b.rate(), 207.9, 3);
    EXPECT_NEAR(a.rate(), b.rate(), 0.1 * a.rate());
}

/// Without credits the fast link would have taken everything long ago.
TEST(Credits, ASlowLinkHoldsUpTheFastOneBeforeIt) {
    host::PlatformSpec p = test::two_socket({5, 16, 256});
    p.switches[0].slot.generation = 3;
    Complex c(p);
    SimTime last;
    for (int i = 0; i < 100; ++i) last = c.dma_write(0, SimTime::us(1), host::kNearestMemory, 4096);
    // 400 KiB take 31.5 us through gen3 x16; all but the receiver's 32 KiB and what flies have to wait for that.
    const double waited = (c.up(0).occupancy.free_at() - SimTime::us(1)).in_us();
    EXPECT_NEAR((last - SimTime::us(1)).in_us(), 31.5 + 0.4, 0.4);
    EXPECT_NEAR(waited, 31.5 * (409.6 - 32.8) / 409.6, 1.5);
    EXPECT_NEAR(c.up(0).use.total().in_us(), 409.6e3 * 8 / 415.8e3, 0.1) << "it is busy only as long as bytes take";
}

TEST(Complex, IsNotBuiltFromAPlatformWithMistakes) {
    const sim::ThrowingChecks throwing;
    host::PlatformSpec p = test::two_socket();
    p.gpus[1].slot.lanes = 3;
    EXPECT_THROW(Complex c(p), sim::CheckError);
}

TEST(Relations, AreThoseOfNvidiaSmi) {
    const host::PlatformSpec p = test::two_socket();
    const Complex c(p);
    const auto text = [&](uint16_t gpu) { return to_string(c.relation(kNic0, c.gpu_agent(gpu))); };
    EXPECT_EQ(text(kBelowSwitch), "PIX");
    EXPECT_EQ(text(kSameBridge), "PHB");
    EXPECT_EQ(text(kOtherBridge), "NODE");
    EXPECT_EQ(text(kOtherSocket), "SYS");
    EXPECT_EQ(to_string(c.relation(0, 0)), "X");
    const Complex h100(test::hgx_h100());
    EXPECT_EQ(to_string(h100.relation(h100.gpu_agent(0), h100.gpu_agent(7))), "NV18");
    EXPECT_EQ(to_string(h100.relation(0, h100.gpu_agent(1))), "PIX");
}

TEST(Relations, ASwitchBelowASwitchIsPxb) {
    host::PlatformSpec p = test::two_socket();
    p.switches.push_back(test::pcie_switch("plx1", test::under_switch(0)));
    p.gpus[0].upstream = test::under_switch(1);
    EXPECT_EQ(to_string(host::relation_between(p, 0, 2)), "PXB");
}

}  // namespace
}  // namespace simverbs
