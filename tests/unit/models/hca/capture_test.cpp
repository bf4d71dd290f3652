// Captures and determinism of a whole fabric.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "models/hca/transport/work_source.hpp"
#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A run with losses and real bytes, captured at host 0: the file's bytes. `flush_each`: so often the capture is
/// written out, zero: at the end.
std::string captured(LinkLayer layer, unsigned threads, uint64_t seed, SimTime flush_each = SimTime::zero()) {
    RigOptions o;
    o.layer = layer;
    o.threads = threads;
    o.seed = seed;
    o.hosts = 3;
    o.profile = "cx6-hdr100";
    link::LinkFault drop;
    drop.probability = 0.02;
    o.faults_out = {drop};
    Rig rig(o);
    const std::string path = testing::TempDir() + "capture_" + std::to_string(threads) + "_" + std::to_string(seed);
    EXPECT_EQ(rig.fabric().adapters().capture(0, 1, path), "");
    auto [a, b] = rig.connect();
    auto [c, d] = rig.connect({}, 2, 0);
    for (uint32_t i = 0; i < 20000; ++i) a.bytes[i] = static_cast<uint8_t>(i * 3);
    for (uint64_t i = 0; i < 20; ++i) {
        EXPECT_EQ(rig.receive(d, i, 0, 8192), 0);
        EXPECT_EQ(rig.send(a, WrOpcode::RdmaWrite, i, 0, 5000, b.base, b.mr.rkey), 0);
        EXPECT_EQ(rig.send(c, WrOpcode::Send, i, 0, 3000), 0);
        EXPECT_EQ(rig.send(a, WrOpcode::RdmaRead, i, 30000, 4000, b.base, b.mr.rkey), 0);
    }
    if (flush_each > SimTime::zero()) {
        for (int i = 0; i < 4000; ++i) {
            rig.engine().run_until(rig.now() + flush_each);
            EXPECT_EQ(rig.fabric().adapters().flush_captures(), "");
        }
    }
    rig.settle();
    EXPECT_EQ(rig.fabric().adapters().close_captures(), "");
    const std::string bytes = contents(path);
    std::remove(path.c_str());
    EXPECT_GT(bytes.size(), 100000U);
    return bytes;
}

TEST(Capture, TwoRunsGiveTheSameBytesWithAnyNumberOfThreads_AnotherSeedOthers) {
    for (const LinkLayer layer : {LinkLayer::Ethernet, LinkLayer::InfiniBand}) {
        const std::string once = captured(layer, 1, 1);
        EXPECT_EQ(once, captured(layer, 1, 1));
        EXPECT_EQ(once, captured(layer, 2, 1));
        EXPECT_NE(once, captured(layer, 1, 2));
    }
}

TEST(Capture, HowOftenItIsWrittenOutChangesNothing_RecordsStayInTheOrderOfTime) {
    for (const LinkLayer layer : {LinkLayer::Ethernet, LinkLayer::InfiniBand}) {
        const std::string once = captured(layer, 1, 1);
        EXPECT_EQ(once, captured(layer, 1, 1, SimTime::ns(37)));
        EXPECT_EQ(once, captured(layer, 1, 1, SimTime::us(1)));
    }
}

class Messages final : public WorkSource {
  public:
    Messages(uint32_t count, uint32_t length) : left_(count), length_(length) {}
    bool next(FlowMessage& m, SimTime) override {
        if (left_ == 0) return false;
        m = {WrOpcode::RdmaWrite, length_, left_--};
        return true;
    }
    void done(uint64_t, WcStatus status, SimTime) override { done_ok += status == WcStatus::Success ? 1 : 0; }
    void arrived(uint32_t bytes, SimTime) override { received += bytes; }
    uint32_t done_ok = 0;
    uint64_t received = 0;

  private:
    uint32_t left_, length_;
};

TEST(Flows, NeedNeitherQueuesNorMemory) {
    RigOptions o;
    o.with_memory = false;
    link::LinkFault drop;
    drop.every = 50;
    o.faults_out = {drop};
    Rig rig(o);
    Messages source(40, 100000), target(0, 0);
    Hca& x = rig.fabric().nic(0);
    Hca& y = rig.fabric().nic(1);
    const uint32_t from = x.create_flow(QpType::Rc, &source), to = y.create_flow(QpType::Rc, &target);
    FlowPath path;
    path.ah = rig.address_of(0, 1);
    path.dest_qpn = from;
    path.timeout = 5;
    ASSERT_EQ(y.connect_flow({0, rig.now(), nullptr}, to, path), 0);
    path.ah = rig.address_of(1, 0);
    path.dest_qpn = to;
    ASSERT_EQ(x.connect_flow({0, rig.now(), nullptr}, from, path), 0);
    rig.settle();
    EXPECT_EQ(source.done_ok, 40U);
    EXPECT_EQ(target.received, 40U * 100000);
    EXPECT_EQ(rig.fabric().pool().in_use(), 0U);
}

}  // namespace
}  // namespace simverbs::test
