// Keys cannot be guessed one from another, and what belongs to one protection domain is out of reach from all others.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

std::vector<MrKeys> register_many(Rig& rig, Peer& p, size_t count) {
    std::vector<MrKeys> keys;
    for (size_t i = 0; i < count; ++i)
        keys.push_back(p.hca->reg_mr(rig.by(p), {p.pd, p.space, p.base, 64, p.base, kLocalWrite | kRemoteWrite}).value);
    return keys;
}

// Whoever knows some R_Keys knows nothing of the next: steps between them are as varied and as large as by chance.
TEST(Keys, RkeysAreNotInSequence) {
    Rig rig;
    Peer p = rig.open(0);
    const auto keys = register_many(rig, p, 4096);
    std::set<uint32_t> different, steps;
    size_t near = 0, rising = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
        different.insert(keys[i].rkey);
        different.insert(keys[i].lkey);
        if (i == 0) continue;
        const uint32_t a = keys[i - 1].rkey >> 8, b = keys[i].rkey >> 8;
        steps.insert((b - a) & 0xFFFFFF);
        rising += b > a ? 1 : 0;
        near += std::max(a, b) - std::min(a, b) < (1U << 24) / 64 ? 1 : 0;
    }
    EXPECT_EQ(different.size(), 2 * keys.size());
    EXPECT_GT(steps.size(), keys.size() * 99 / 100) << "the same step again and again can be guessed";
    EXPECT_GT(rising, keys.size() * 45 / 100);
    EXPECT_LT(rising, keys.size() * 55 / 100);
    // By chance: 1 - (1 - 1/64)^2, about 3.1%.
    EXPECT_LT(near, keys.size() * 5 / 100);
    // Each bit of the index is set in about half of the keys.
    for (uint32_t bit = 8; bit < 32; ++bit) {
        const auto set = std::ranges::count_if(keys, [&](const MrKeys& k) { return (k.rkey >> bit & 1) != 0; });
        EXPECT_GT(set, 1850) << "bit " << bit;
        EXPECT_LT(set, 2250) << "bit " << bit;
    }
}

TEST(Keys, GuessedRkeysNeverHit) {
    Rig rig;
    auto [a, b] = rig.connect();
    const auto keys = register_many(rig, b, 64);
    const auto known = [&](uint32_t k) {
        return k == b.mr.rkey || std::ranges::any_of(keys, [k](const MrKeys& m) { return m.rkey == k; });
    };
    for (uint32_t i = 0; i < 200; ++i) {
        const uint32_t guess = keys[i % 64].rkey + (i / 64 + 1) * (i % 2 == 0 ? 256 : 1);
        if (known(guess)) continue;
        auto [c, d] = rig.connect();
        ASSERT_EQ(rig.send(c, WrOpcode::RdmaWrite, 1, 0, 8, b.base, guess), 0);
        rig.settle();
        EXPECT_EQ(rig.completions(c), "1:REM_ACCESS_ERR");
    }
}

/// A QP of one domain, and everything that another one of the same program has.
struct OtherDomain : testing::Test {
    void SetUp() override {
        std::tie(a, b) = rig.connect();
        other_a = a.hca->alloc_pd(rig.by(a)).value;
        other_b = b.hca->alloc_pd(rig.by(b)).value;
        mr_a = a.hca->reg_mr(rig.by(a), {other_a, a.space, a.base, 4096, a.base, kAll}).value;
        mr_b = b.hca->reg_mr(rig.by(b), {other_b, b.space, b.base, 4096, b.base, kAll}).value;
        std::fill_n(b.bytes, 64, uint8_t{0xBB});
        std::fill_n(a.bytes, 64, uint8_t{0xAA});
    }
    void untouched() {
        rig.show_memory();
        EXPECT_TRUE(std::all_of(b.bytes, b.bytes + 64, [](uint8_t x) { return x == 0xBB; }));
        EXPECT_TRUE(std::all_of(a.bytes, a.bytes + 64, [](uint8_t x) { return x == 0xAA; }));
    }
    std::string post(SendWr wr) {
        wr.wr_id = 1;
        wr.send_flags = kSignaled;
        EXPECT_EQ(a.hca->post_send(a.qpn, wr, rig.now()), 0);
        rig.settle();
        return rig.completions(a);
    }
    static constexpr uint32_t kAll = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kMwBind;
    Rig rig;
    Peer a, b;
    PdHandle other_a = 0, other_b = 0;
    MrKeys mr_a, mr_b;
};

TEST_F(OtherDomain, ItsMemoryIsNeitherReadNorWrittenNorChangedByAPeer) {
    for (const WrOpcode op : {WrOpcode::RdmaWrite, WrOpcode::RdmaWriteWithImm, WrOpcode::RdmaRead,
                              WrOpcode::AtomicFetchAndAdd, WrOpcode::AtomicCmpAndSwp, WrOpcode::AtomicWrite}) {
        auto [c, d] = rig.connect();
        const auto foreign_pd = d.hca->alloc_pd(rig.by(d)).value;
        const auto foreign = d.hca->reg_mr(rig.by(d), {foreign_pd, d.space, d.base, 4096, d.base, kAll}).value;
        std::fill_n(d.bytes, 64, uint8_t{0xDD});
        ASSERT_EQ(rig.receive(d, 200, 1024, 64), 0);
        ASSERT_EQ(rig.send(c, op, 1, 0, 8, d.base, foreign.rkey), 0);
        rig.settle();
        EXPECT_EQ(rig.completions(c), "1:REM_ACCESS_ERR") << static_cast<int>(op);
        rig.show_memory();
        EXPECT_TRUE(std::all_of(d.bytes, d.bytes + 64, [](uint8_t x) { return x == 0xDD; }));
    }
}

TEST_F(OtherDomain, ItsLkeyNeitherSendsNorReceives) {
    const Sge sge{a.base, 8, mr_a.lkey};
    SendWr wr;
    wr.opcode = WrOpcode::RdmaWrite;
    wr.sges = &sge;
    wr.num_sge = 1;
    wr.remote_addr = b.base;
    wr.rkey = b.mr.rkey;
    EXPECT_EQ(post(wr), "1:LOC_PROT_ERR");
    untouched();
    auto [c, d] = rig.connect();
    const auto pd = d.hca->alloc_pd(rig.by(d)).value;
    const auto mr = d.hca->reg_mr(rig.by(d), {pd, d.space, d.base, 4096, d.base, kAll}).value;
    const Sge into{d.base, 64, mr.lkey};
    ASSERT_EQ(d.hca->post_recv(d.qpn, {200, &into, 1}, rig.now()), 0);
    ASSERT_EQ(rig.send(c, WrOpcode::Send, 1, 0, 8), 0);
    rig.settle();
    EXPECT_EQ(rig.completions(c), "1:REM_OP_ERR");
    EXPECT_EQ(rig.completions(d), "200:LOC_PROT_ERR");
}

TEST_F(OtherDomain, ItsWindowIsNotBoundNorItsRegionBoundTo) {
    for (const bool foreign_window : {true, false}) {
        auto [c, d] = rig.connect();
        const auto pd = c.hca->alloc_pd(rig.by(c)).value;
        const auto mine = c.hca->reg_mr(rig.by(c), {c.pd, c.space, c.base, 4096, c.base, kAll}).value;
        const auto foreign = c.hca->reg_mr(rig.by(c), {pd, c.space, c.base, 4096, c.base, kAll}).value;
        const auto mw = c.hca->alloc_mw(rig.by(c), foreign_window ? pd : c.pd, MwType::Type1).value;
        SendWr wr;
        wr.wr_id = 1;
        wr.opcode = WrOpcode::BindMw;
        wr.send_flags = kSignaled;
        wr.mw = mw.handle;
        wr.mw_rkey = mw.rkey;
        wr.mw_mr = foreign_window ? mine.handle : foreign.handle;
        wr.remote_addr = c.base;
        wr.compare_add = 64;
        wr.mw_access = kRemoteWrite;
        ASSERT_EQ(c.hca->post_send(c.qpn, wr, rig.now()), 0);
        rig.settle();
        EXPECT_EQ(rig.completions(c), "1:MW_BIND_ERR");
    }
}

TEST_F(OtherDomain, ItsSrqAndItsAddressHandleAreNotForThisOne) {
    QpOptions q;
    q.type = QpType::Ud;
    auto [c, d] = rig.connect(q);
    const auto pd = c.hca->alloc_pd(rig.by(c)).value;
    c.ah = c.hca->create_ah(rig.by(c), pd, rig.address_of(1, 0)).value;
    EXPECT_EQ(rig.send(c, WrOpcode::Send, 1, 0, 8), EINVAL);
    SrqSpec spec{pd, 4, 1, 0};
    const auto srq = c.hca->create_srq(rig.by(c), spec).value;
    const ControlContext stranger{c.owner + 1000, rig.now(), nullptr};
    EXPECT_EQ(c.hca->destroy_srq(stranger, srq), ENOENT);
    EXPECT_EQ(c.hca->destroy_ah(stranger, c.ah), ENOENT);
}

// An SRQ may be of another domain than its QPs: then its receives lie in that one.
TEST(Keys, AReceiveOfAnSrqLiesInTheSrqsDomain) {
    for (const bool right : {true, false}) {
        Rig rig;
        QpOptions q;
        Peer a = rig.open(0, q), b = rig.open(1, q);
        const auto pd = b.hca->alloc_pd(rig.by(b)).value;
        SrqSpec spec{pd, 4, 1, 0};
        b.srq = b.hca->create_srq(rig.by(b), spec).value;
        QpInitAttr init;
        init.pd = b.pd;
        init.send_cq = init.recv_cq = b.cq;
        init.srq = b.srq;
        init.cap = {4, 0, 1, 0, 0};
        b.qpn = b.hca->create_qp(rig.by(b), init).value.qp_num;
        const auto mr = b.hca->reg_mr(rig.by(b), {pd, b.space, b.base, 4096, b.base, kLocalWrite}).value;
        ASSERT_EQ(rig.to_init(a, q) + rig.to_init(b, q) + rig.to_rtr(a, b, 1, q) + rig.to_rtr(b, a, 0, q), 0);
        ASSERT_EQ(rig.to_rts(a, q) + rig.to_rts(b, q), 0);
        const Sge sge{b.base, 64, right ? mr.lkey : b.mr.lkey};
        ASSERT_EQ(b.hca->post_srq_recv(b.srq, {200, &sge, 1}, rig.now()), 0);
        ASSERT_EQ(rig.send(a, WrOpcode::Send, 1, 0, 8), 0);
        rig.settle();
        EXPECT_EQ(rig.completions(b), right ? "200:SUCCESS" : "200:LOC_PROT_ERR");
    }
}

}  // namespace
}  // namespace simverbs::test
