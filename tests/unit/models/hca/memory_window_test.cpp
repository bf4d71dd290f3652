// Memory windows and other keys: what may be bound, who may use it, and how it ends.
#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "models/hca/mr/mw_bind_check.hpp"
#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

constexpr uint32_t kAllRights = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kMwBind;

/// b owns a region that windows can be bound to; a uses them.
struct Window : testing::Test {
    void start(MwType type, QpType qp_type = QpType::Rc) {
        QpOptions q;
        q.type = qp_type;
        std::tie(a, b) = rig.connect(q);
        region = b.hca->reg_mr(rig.by(b), {b.pd, b.space, b.base, 65536, b.base, kAllRights}).value;
        mw = b.hca->alloc_mw(rig.by(b), b.pd, type).value;
    }
    SendWr bind_wr(uint64_t wr_id, uint32_t rkey, uint64_t va, uint64_t length, uint32_t access) const {
        SendWr wr;
        wr.wr_id = wr_id;
        wr.opcode = WrOpcode::BindMw;
        wr.send_flags = kSignaled;
        wr.remote_addr = va;
        wr.compare_add = length;
        wr.mw = mw.handle;
        wr.mw_rkey = rkey;
        wr.mw_mr = region.handle;
        wr.mw_access = access;
        return wr;
    }
    void bind(uint64_t wr_id, uint32_t rkey, uint64_t va, uint64_t length, uint32_t access) {
        ASSERT_EQ(b.hca->post_send(b.qpn, bind_wr(wr_id, rkey, va, length, access), rig.now()), 0);
        rig.settle();
    }
    int invalidate(Peer& p, WrOpcode opcode, uint64_t wr_id, uint32_t rkey) {
        SendWr wr;
        wr.wr_id = wr_id;
        wr.opcode = opcode;
        wr.send_flags = kSignaled;
        wr.imm_or_rkey = rkey;
        return p.hca->post_send(p.qpn, wr, rig.now());
    }
    std::string write(uint64_t wr_id, uint64_t va, uint32_t length, uint32_t rkey) {
        EXPECT_EQ(rig.send(a, WrOpcode::RdmaWrite, wr_id, 0, length, va, rkey), 0);
        rig.settle();
        return rig.completions(a);
    }
    Rig rig;
    Peer a, b;
    MrKeys region, mw;
};

TEST_F(Window, ABoundWindowIsWritable_WithinItsBoundsOnly) {
    start(MwType::Type1);
    bind(1, mw.rkey + 1, b.base + 4096, 256, kRemoteWrite);
    EXPECT_EQ(rig.completions(b), "1:SUCCESS");
    EXPECT_EQ(write(2, b.base + 4096, 256, mw.rkey + 1), "2:SUCCESS");
    EXPECT_EQ(write(3, b.base + 4096, 257, mw.rkey + 1), "3:REM_ACCESS_ERR");
}

TEST_F(Window, AWindowWithoutRemoteReadIsNotReadable) {
    start(MwType::Type1);
    bind(1, mw.rkey + 1, b.base, 256, kRemoteWrite);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaRead, 2, 0, 8, b.base, mw.rkey + 1), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "2:REM_ACCESS_ERR");
}

TEST_F(Window, BeforeABindAndAfterARebindTheKeyIsNone) {
    start(MwType::Type1);
    bind(1, mw.rkey + 1, b.base, 256, kRemoteWrite);
    bind(2, mw.rkey + 2, b.base, 256, kRemoteWrite);
    EXPECT_EQ(rig.completions(b), "1:SUCCESS 2:SUCCESS");
    EXPECT_EQ(write(3, b.base, 8, mw.rkey + 2), "3:SUCCESS");
    EXPECT_EQ(write(4, b.base, 8, mw.rkey + 1), "4:REM_ACCESS_ERR");
}

TEST_F(Window, ABindOfNoBytesEndsAType1Window) {
    start(MwType::Type1);
    bind(1, mw.rkey + 1, b.base, 256, kRemoteWrite);
    EXPECT_EQ(b.hca->dereg_mr(rig.by(b), region.handle), EBUSY) << "a window lies in it";
    bind(2, mw.rkey + 2, 0, 0, 0);
    EXPECT_EQ(rig.completions(b), "1:SUCCESS 2:SUCCESS");
    EXPECT_EQ(b.hca->dereg_mr(rig.by(b), region.handle), 0);
    EXPECT_EQ(write(3, b.base, 8, mw.rkey + 2), "3:REM_ACCESS_ERR");
}

TEST_F(Window, AZeroBasedType2WindowCountsFromItsOwnStart) {
    start(MwType::Type2);
    bind(1, mw.rkey + 1, b.base + 4096, 256, kRemoteWrite | kZeroBased);
    a.bytes[0] = 0x5A;
    EXPECT_EQ(write(2, 16, 1, mw.rkey + 1), "2:SUCCESS");
    rig.show_memory();
    EXPECT_EQ(b.bytes[4096 + 16], 0x5A);
}

TEST_F(Window, AType2WindowIsBoundOnceUntilItIsInvalidated) {
    start(MwType::Type2);
    bind(1, mw.rkey + 1, b.base, 256, kRemoteWrite);
    ASSERT_EQ(invalidate(b, WrOpcode::LocalInv, 2, mw.rkey + 1), 0);
    bind(3, mw.rkey + 2, b.base, 256, kRemoteWrite);
    EXPECT_EQ(rig.completions(b), "1:SUCCESS 2:SUCCESS 3:SUCCESS");
    EXPECT_EQ(write(4, b.base, 8, mw.rkey + 2), "4:SUCCESS");
    bind(5, mw.rkey + 3, b.base, 256, kRemoteWrite);
    EXPECT_EQ(rig.completions(b), "5:MW_BIND_ERR");
    EXPECT_EQ(rig.state(b), QpState::Err);
}

TEST_F(Window, AType2WindowServesOnlyTheQpThatBoundIt) {
    start(MwType::Type2);
    auto [c, d] = rig.connect();
    bind(1, mw.rkey + 1, b.base, 256, kRemoteWrite);
    ASSERT_EQ(rig.send(c, WrOpcode::RdmaWrite, 2, 0, 8, b.base, mw.rkey + 1), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(c), "2:REM_ACCESS_ERR");
    EXPECT_EQ(write(3, b.base, 8, mw.rkey + 1), "3:SUCCESS");
}

TEST_F(Window, SendWithInvalidateEndsAType2Window) {
    start(MwType::Type2);
    bind(1, mw.rkey + 1, b.base, 256, kRemoteWrite);
    ASSERT_EQ(rig.receive(b, 200, 0, 64), 0);
    ASSERT_EQ(invalidate(a, WrOpcode::SendWithInv, 2, mw.rkey + 1), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "2:SUCCESS");
    EXPECT_EQ(rig.completions(b), "1:SUCCESS 200:SUCCESS");
    EXPECT_EQ(b.sink->cqes.back().cqe.wc_flags, kWcWithInv);
    EXPECT_EQ(b.sink->cqes.back().cqe.imm_or_rkey, mw.rkey + 1);
    EXPECT_EQ(write(3, b.base, 8, mw.rkey + 1), "3:REM_ACCESS_ERR");
}

TEST_F(Window, SendWithInvalidateOfARegionIsRefused) {
    start(MwType::Type2);
    ASSERT_EQ(rig.receive(b, 200, 0, 64), 0);
    ASSERT_EQ(invalidate(a, WrOpcode::SendWithInv, 1, region.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(a), "1:REM_ACCESS_ERR");
    EXPECT_EQ(rig.completions(b), "200:WR_FLUSH_ERR");
}

TEST_F(Window, LocalInvalidateOfNothingIsALocalOperationError) {
    start(MwType::Type2);
    ASSERT_EQ(invalidate(b, WrOpcode::LocalInv, 1, 0), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(b), "1:LOC_QP_OP_ERR");
}

TEST_F(Window, BindsCompleteInTheOrderOfTheQueue) {
    start(MwType::Type1);
    ASSERT_EQ(rig.receive(a, 100, 0, 8192), 0);
    ASSERT_EQ(rig.send(b, WrOpcode::Send, 1, 0, 8192), 0);
    ASSERT_EQ(b.hca->post_send(b.qpn, bind_wr(2, mw.rkey + 1, b.base, 256, kRemoteWrite), rig.now()), 0);
    ASSERT_EQ(rig.send(b, WrOpcode::RdmaRead, 3, 0, 64, a.base, a.mr.rkey), 0);
    ASSERT_EQ(b.hca->post_send(b.qpn, bind_wr(4, mw.rkey + 2, b.base, 256, kRemoteWrite), rig.now()), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(b), "1:SUCCESS 2:SUCCESS 3:SUCCESS 4:SUCCESS");
    EXPECT_EQ(b.sink->cqes.at(1).cqe.opcode, WcOpcode::BindMw);
}

TEST_F(Window, UnreliableConnectionsBindToo) {
    start(MwType::Type1, QpType::Uc);
    bind(1, mw.rkey + 1, b.base, 256, kRemoteWrite);
    bind(2, mw.rkey + 2, b.base, 256, kRemoteWrite);
    EXPECT_EQ(rig.completions(b), "1:SUCCESS 2:SUCCESS");
    a.bytes[0] = 0x77;
    EXPECT_EQ(write(3, b.base + 8, 1, mw.rkey + 2), "3:SUCCESS");
    rig.show_memory();
    EXPECT_EQ(b.bytes[8], 0x77);
}

TEST(MwBindCheck, EachRuleIsToldByName) {
    Mr window, region;
    window.kind = KeyKind::WindowType2;
    window.rkey = 0x100;
    window.pd = region.pd = 1;
    region.access = kAllRights;
    region.iova = 0x1000;
    region.length = 0x1000;
    const MwBind good{0x1FF, 0x1000, 0x1000, kRemoteWrite, 1};
    EXPECT_EQ(check_bind(window, &region, good), MwBindVerdict::Ok);
    MwBind wrong = good;
    wrong.rkey = 0x200;
    EXPECT_EQ(check_bind(window, &region, wrong), MwBindVerdict::WrongKey);
    wrong = good;
    wrong.pd = 2;
    EXPECT_EQ(check_bind(window, &region, wrong), MwBindVerdict::WrongPd);
    wrong = good;
    wrong.length = 0x1001;
    EXPECT_EQ(check_bind(window, &region, wrong), MwBindVerdict::OutOfBounds);
    wrong.length = 0;
    EXPECT_EQ(check_bind(window, &region, wrong), MwBindVerdict::OutOfBounds) << "only type 1 is unbound so";
    wrong = good;
    wrong.access = kOnDemand;
    EXPECT_EQ(check_bind(window, &region, wrong), MwBindVerdict::BadAccess);
    EXPECT_EQ(check_bind(window, nullptr, good), MwBindVerdict::NoRegion);
    region.access = kLocalWrite;
    EXPECT_EQ(check_bind(window, &region, good), MwBindVerdict::NoRight) << "no MW_BIND";
    region.access = kMwBind;
    EXPECT_EQ(check_bind(window, &region, good), MwBindVerdict::NoRight) << "no LOCAL_WRITE";
    region.access = kAllRights;
    window.bound_to = 1;
    EXPECT_EQ(check_bind(window, &region, good), MwBindVerdict::AlreadyBound);
}

TEST(WindowTypes, EveryAdapterHasType1AndType2b_AndNone2a) {
    constexpr uint32_t kType1 = 1U << 17, kType2a = 1U << 23, kType2b = 1U << 24;
    for (const DeviceProfile* profile : all_profiles())
        EXPECT_EQ(profile->attr.device_cap_flags & (kType1 | kType2a | kType2b), kType1 | kType2b) << profile->name;
}

TEST(NullRegion, ReadsAsZerosSwallowsWritesAndIsNotRemote) {
    Rig rig;
    Peer a, b;
    std::tie(a, b) = rig.connect();
    const MrKeys null = a.hca->alloc_null_mr(rig.by(a), a.pd).value;
    std::fill_n(b.bytes, 64, uint8_t{0xEE});
    const auto post = [&](uint64_t wr_id, WrOpcode opcode) {
        const Sge sge{0x1234, 32, null.lkey};
        SendWr wr;
        wr.wr_id = wr_id;
        wr.opcode = opcode;
        wr.send_flags = kSignaled;
        wr.sges = &sge;
        wr.num_sge = 1;
        wr.remote_addr = b.base;
        wr.rkey = b.mr.rkey;
        ASSERT_EQ(a.hca->post_send(a.qpn, wr, rig.now()), 0);
        rig.settle();
    };
    post(1, WrOpcode::RdmaRead);
    post(2, WrOpcode::RdmaWrite);
    EXPECT_EQ(rig.completions(a), "1:SUCCESS 2:SUCCESS");
    rig.show_memory();
    EXPECT_EQ(b.bytes[31], 0);
    EXPECT_EQ(b.bytes[32], 0xEE);
    ASSERT_EQ(rig.send(b, WrOpcode::RdmaWrite, 3, 0, 8, 0, null.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(b), "3:REM_ACCESS_ERR");
}

TEST(DeviceMemoryRules, SizesRangesAndUsers) {
    Rig rig;
    Peer a = rig.open(0);
    const uint64_t most = a.hca->query_device().max_dm_size;
    EXPECT_EQ(a.hca->alloc_dm(rig.by(a), {a.space, a.base, 0, 0}).error, EINVAL);
    EXPECT_EQ(a.hca->alloc_dm(rig.by(a), {a.space, a.base, most + 1, 0}).error, EINVAL);
    const auto dm = a.hca->alloc_dm(rig.by(a), {a.space, a.base, most, 0});
    ASSERT_TRUE(dm.ok());
    EXPECT_EQ(a.hca->alloc_dm(rig.by(a), {a.space, a.base, 1, 0}).error, ENOMEM);
    const uint32_t access = kLocalWrite | kRemoteWrite;
    EXPECT_EQ(a.hca->reg_dm_mr(rig.by(a), {a.pd, dm.value, 0, 64, access}).error, EINVAL) << "not zero-based";
    EXPECT_EQ(a.hca->reg_dm_mr(rig.by(a), {a.pd, dm.value, most, 1, access | kZeroBased}).error, EINVAL);
    const auto mr = a.hca->reg_dm_mr(rig.by(a), {a.pd, dm.value, 64, 64, access | kZeroBased});
    ASSERT_TRUE(mr.ok());
    EXPECT_EQ(a.hca->free_dm(rig.by(a), dm.value), EBUSY);
    EXPECT_EQ(a.hca->dereg_mr(rig.by(a), mr.value.handle), 0);
    EXPECT_EQ(a.hca->free_dm(rig.by(a), dm.value), 0);
    EXPECT_EQ(a.hca->free_dm(rig.by(a), dm.value), ENOENT);
}

TEST(Advice, IsForOnDemandRegionsOfThePdAndTheirRange) {
    Rig rig;
    Peer a = rig.open(0);
    const auto odp = a.hca->reg_mr(rig.by(a), {a.pd, a.space, a.base, 4096, a.base, kLocalWrite | kOnDemand}).value;
    const PdHandle other = a.hca->alloc_pd(rig.by(a)).value;
    const auto advise = [&](PdHandle pd, uint64_t at, uint32_t length, uint32_t lkey) {
        const Sge range{at, length, lkey};
        return a.hca->advise_mr(rig.by(a), pd, MrAdvice::PrefetchWrite, std::span(&range, 1));
    };
    EXPECT_EQ(advise(a.pd, a.base, 4096, odp.lkey), 0);
    EXPECT_EQ(advise(a.pd, a.base, 4097, odp.lkey), EFAULT);
    EXPECT_EQ(advise(other, a.base, 8, odp.lkey), EPERM);
    EXPECT_EQ(advise(a.pd, a.base, 8, a.mr.lkey), ENOENT) << "not on demand";
    EXPECT_EQ(advise(a.pd, a.base, 8, odp.lkey ^ 1), ENOENT);
}

TEST(AtomicWrite, PutsEightBytesAndNeedsTheRightOfAWrite) {
    Rig rig;
    Peer a, b;
    std::tie(a, b) = rig.connect();
    const uint64_t value = 0x0123456789ABCDEF;
    const auto post = [&](uint64_t wr_id, uint64_t va) {
        SendWr wr;
        wr.wr_id = wr_id;
        wr.opcode = WrOpcode::AtomicWrite;
        wr.send_flags = kSignaled | kInline;
        wr.inline_data = reinterpret_cast<const uint8_t*>(&value);
        wr.inline_bytes = sizeof value;
        wr.remote_addr = va;
        wr.rkey = b.mr.rkey;
        ASSERT_EQ(a.hca->post_send(a.qpn, wr, rig.now()), 0);
        rig.settle();
    };
    post(1, b.base + 8);
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
    EXPECT_EQ(a.sink->cqes.back().cqe.opcode, WcOpcode::AtomicWrite);
    rig.show_memory();
    EXPECT_EQ(std::memcmp(b.bytes + 8, &value, sizeof value), 0);
    post(2, b.base + 12);
    EXPECT_EQ(rig.completions(a), "2:REM_INV_REQ_ERR") << "not a multiple of 8";
}

}  // namespace
}  // namespace simverbs::test
