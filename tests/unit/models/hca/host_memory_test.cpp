// Which memory each DMA of an adapter reaches, where the host's inside is simulated.
#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"
#include "tests/unit/models/host/fake_complex.hpp"

namespace simverbs::test {
namespace {

constexpr host::MemoryId kRegion = 7, kRings = 3;

using Requests = std::vector<std::string>;

/// Two hosts with a diary each, and a connection between programs whose regions and rings lie in known memories.
struct TwoHosts {
    explicit TwoHosts(QpOptions o = {}) : rig(with_insides(*this)) {
        o.region_memory = kRegion;
        o.ring_memory = kRings;
        o.mtu = Mtu::Mtu1024;
        std::tie(a, b) = rig.connect(o);
    }
    static RigOptions with_insides(TwoHosts& to) {
        RigOptions options;
        options.make_complex = [&to] {
            auto made = std::make_unique<host::FakeComplex>();
            to.inside.push_back(made.get());
            return made;
        };
        return options;
    }
    std::vector<host::FakeComplex*> inside;
    Rig rig;
    Peer a, b;
};

TEST(HostMemory, AWriteReadsItsRegionAndWritesThePeers_CqesGoToTheRings) {
    TwoHosts t;
    t.rig.send(t.a, WrOpcode::RdmaWrite, 1, t.a.base + 64, 2500, t.b.base + 4096, t.b.mr.rkey);
    t.rig.settle();
    EXPECT_EQ(t.rig.completions(t.a), "1:SUCCESS");
    EXPECT_EQ(t.inside[0]->requests, (Requests{"read 1024 of memory 7", "read 1024 of memory 7", "read 452 of memory 7",
                                               "write 64 of memory 3"}));
    EXPECT_EQ(t.inside[1]->requests,
              (Requests{"write 1024 of memory 7", "write 1024 of memory 7", "write 452 of memory 7"}));
    const auto& read = t.inside[0]->targets;
    EXPECT_EQ(read[1].address - read[0].address, 1024U) << "each packet is told apart";
    EXPECT_EQ(t.inside[1]->targets[0].address % (uint64_t{1} << 48), t.b.base + 4096);
}

TEST(HostMemory, ASendFillsTheReceivesRegion) {
    TwoHosts t;
    t.rig.receive(t.b, 9, t.b.base, 2000);
    t.rig.send(t.a, WrOpcode::Send, 1, t.a.base, 1500);
    t.rig.settle();
    EXPECT_EQ(t.inside[1]->requests,
              (Requests{"write 1024 of memory 7", "write 476 of memory 7", "write 64 of memory 3"}));
}

TEST(HostMemory, AReadReadsAtTheFarEndAndWritesHere) {
    TwoHosts t;
    t.rig.send(t.a, WrOpcode::RdmaRead, 1, t.a.base, 1500, t.b.base, t.b.mr.rkey);
    t.rig.settle();
    EXPECT_EQ(t.inside[0]->requests,
              (Requests{"write 1024 of memory 7", "write 476 of memory 7", "write 64 of memory 3"}));
    EXPECT_EQ(t.inside[1]->requests, (Requests{"read 1024 of memory 7", "read 476 of memory 7"}));
}

TEST(HostMemory, AnAtomicReadsAndWritesThere_ItsAnswerComesToTheSges) {
    TwoHosts t;
    SendWr wr;
    wr.opcode = WrOpcode::AtomicFetchAndAdd;
    wr.send_flags = kSignaled;
    const Sge sge{t.a.base, 8, t.a.mr.lkey};
    wr.sges = &sge;
    wr.num_sge = 1;
    wr.remote_addr = t.b.base;
    wr.rkey = t.b.mr.rkey;
    wr.compare_add = 1;
    ASSERT_EQ(t.a.hca->post_send(t.a.qpn, wr, t.rig.now()), 0);
    t.rig.settle();
    EXPECT_EQ(t.inside[1]->requests, (Requests{"read 8 of memory 7", "write 8 of memory 7"}));
    EXPECT_EQ(t.inside[0]->requests, (Requests{"write 8 of memory 7", "write 64 of memory 3"}));
}

TEST(HostMemory, InlineDataAreReadFromNowhere_AndMemoryOnTheAdapterCrossesNothing) {
    TwoHosts t;
    t.rig.send(t.a, WrOpcode::RdmaWrite, 1, t.a.base, 32, t.b.base, t.b.mr.rkey, kSignaled | kInline);
    t.rig.settle();
    EXPECT_EQ(t.inside[0]->requests, (Requests{"write 64 of memory 3"}));
    const auto dm = t.a.hca->alloc_dm(t.rig.by(t.a), {t.a.space, t.a.base, 4096, 0});
    const auto keys = t.a.hca->reg_dm_mr(t.rig.by(t.a), {t.a.pd, dm.value, 0, 4096, kLocalWrite | kZeroBased});
    ASSERT_TRUE(keys.ok());
    t.inside[0]->requests.clear();
    SendWr wr;
    wr.opcode = WrOpcode::RdmaWrite;
    wr.send_flags = kSignaled;
    const Sge sge{0, 512, keys.value.lkey};
    wr.sges = &sge;
    wr.num_sge = 1;
    wr.remote_addr = t.b.base;
    wr.rkey = t.b.mr.rkey;
    ASSERT_EQ(t.a.hca->post_send(t.a.qpn, wr, t.rig.now()), 0);
    t.rig.settle();
    EXPECT_EQ(t.inside[0]->requests, (Requests{"write 64 of memory 3"}));
}

TEST(HostMemory, OutOfReach_HereTheRequestFails_ThereItIsAnOperationalError) {
    for (const size_t where : {0U, 1U}) {
        for (const WrOpcode op : {WrOpcode::RdmaWrite, WrOpcode::RdmaRead}) {
            TwoHosts t;
            t.inside[where]->out_of_reach = kRegion;
            t.rig.send(t.a, op, 1, t.a.base, 1500, t.b.base, t.b.mr.rkey);
            t.rig.settle();
            EXPECT_EQ(t.rig.completions(t.a), where == 0 ? "1:LOC_PROT_ERR" : "1:REM_OP_ERR");
            for (const auto* inside : t.inside)
                for (const std::string& request : inside->requests)
                    EXPECT_TRUE(inside != t.inside[where] || request.ends_with("memory 3")) << request;
        }
    }
}

TEST(HostMemory, AWindowReachesTheMemoryOfItsRegion) {
    TwoHosts t;
    const auto window = t.b.hca->alloc_mw(t.rig.by(t.b), t.b.pd, MwType::Type1);
    ASSERT_TRUE(window.ok());
    MrSpec spec{t.b.pd, t.b.space, t.b.base, 8192, t.b.base, kLocalWrite | kRemoteWrite | kMwBind, 11};
    const auto region = t.b.hca->reg_mr(t.rig.by(t.b), spec);
    ASSERT_TRUE(region.ok());
    SendWr bind;
    bind.opcode = WrOpcode::BindMw;
    bind.send_flags = kSignaled;
    bind.mw = window.value.handle;
    bind.mw_rkey = window.value.rkey;
    bind.mw_mr = region.value.handle;
    bind.mw_access = kRemoteWrite;
    bind.remote_addr = t.b.base;
    bind.compare_add = 4096;
    ASSERT_EQ(t.b.hca->post_send(t.b.qpn, bind, t.rig.now()), 0);
    t.rig.settle();
    ASSERT_EQ(t.rig.completions(t.b), "0:SUCCESS");
    t.inside[1]->requests.clear();
    t.rig.send(t.a, WrOpcode::RdmaWrite, 1, t.a.base, 100, t.b.base, window.value.rkey);
    t.rig.settle();
    EXPECT_EQ(t.inside[1]->requests, (Requests{"write 100 of memory 11"}));
}

}  // namespace
}  // namespace simverbs::test
