// The state machine, attribute values and address vectors through ibv_modify_qp's door.
#include <gtest/gtest.h>

#include "models/hca/qp/qp_transition_check.hpp"
#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

TEST(ModifyQp, AMissingMinRnrTimerIsNamed) {
    Rig rig;
    Peer a = rig.open(0), b = rig.open(1);
    ASSERT_EQ(rig.to_init(a) + rig.to_init(b), 0);
    QpAttr attr;
    attr.qp_state = QpState::Rtr;
    attr.path_mtu = 3;
    attr.ah_attr = rig.address_of(1, 0);
    Explanation why;
    EXPECT_EQ(
        a.hca->modify_qp(rig.by(a, &why), a.qpn, attr, kState | kAv | kPathMtu | kDestQpn | kRqPsn | kMaxDestRdAtomic),
        EINVAL);
    EXPECT_EQ(why.rule, Rule::AttributeMissing);
    EXPECT_EQ(why.attribute, "IBV_QP_MIN_RNR_TIMER");
    const std::string said = to_sentence(why);
    EXPECT_NE(said.find("INIT -> RTR"), std::string::npos) << said;
    EXPECT_NE(said.find("IBV_QP_MIN_RNR_TIMER"), std::string::npos) << said;
    EXPECT_EQ(rig.state(a), QpState::Init) << "a refused call changes nothing";
}

TEST(ModifyQp, RoceNeedsAGrhAndAKnownPeer) {
    Rig rig;
    Peer a = rig.open(0);
    ASSERT_EQ(rig.to_init(a), 0);
    const auto rtr = [&](const AhAttr& ah, Explanation* why) {
        QpAttr attr;
        attr.qp_state = QpState::Rtr;
        attr.path_mtu = 3;
        attr.min_rnr_timer = 1;
        attr.ah_attr = ah;
        return a.hca->modify_qp(rig.by(a, why), a.qpn, attr,
                                kState | kAv | kPathMtu | kDestQpn | kRqPsn | kMaxDestRdAtomic | kMinRnrTimer);
    };
    Explanation why;
    AhAttr ah = rig.address_of(1, 0);
    ah.is_global = false;
    EXPECT_EQ(rtr(ah, &why), EINVAL);
    EXPECT_EQ(why.rule, Rule::GrhRequired);
    ah = rig.address_of(1, 0);
    ah.sgid_index = 20;
    EXPECT_EQ(rtr(ah, &why), ENODATA);
    EXPECT_EQ(why.rule, Rule::GidIndexInvalid);
    ah = rig.address_of(1, 0);
    ah.dgid.back() = 77;
    EXPECT_EQ(rtr(ah, &why), ETIMEDOUT);
    EXPECT_EQ(why.rule, Rule::GidUnreachable);
    ah.dgid = {};
    EXPECT_EQ(rtr(ah, &why), EINVAL);
    ah = rig.address_of(1, 0);
    ah.port_num = 2;
    EXPECT_EQ(rtr(ah, &why), EINVAL);
    EXPECT_EQ(rtr(rig.address_of(1, 0), nullptr), 0);
}

TEST(ModifyQp, ImpossibleValuesAreRefusedByName) {
    const QpAttrLimits limits;
    const auto refused = [&](uint32_t mask, auto&& set) {
        QpAttr a;
        a.path_mtu = 3;
        a.port_num = 1;
        set(a);
        return check_ranges(a, mask, limits).attribute;
    };
    EXPECT_EQ(refused(kPort, [](QpAttr& a) { a.port_num = 2; }), kPort);
    EXPECT_EQ(refused(kPathMtu, [](QpAttr& a) { a.path_mtu = 0; }), kPathMtu);
    EXPECT_EQ(refused(kPathMtu, [](QpAttr& a) { a.path_mtu = 6; }), kPathMtu);
    EXPECT_EQ(refused(kTimeout, [](QpAttr& a) { a.timeout = 32; }), kTimeout);
    EXPECT_EQ(refused(kRetryCnt, [](QpAttr& a) { a.retry_cnt = 8; }), kRetryCnt);
    EXPECT_EQ(refused(kRnrRetry, [](QpAttr& a) { a.rnr_retry = 8; }), kRnrRetry);
    EXPECT_EQ(refused(kMinRnrTimer, [](QpAttr& a) { a.min_rnr_timer = 32; }), kMinRnrTimer);
    EXPECT_EQ(refused(kPkeyIndex, [](QpAttr& a) { a.pkey_index = 1000; }), kPkeyIndex);
    EXPECT_EQ(refused(kMaxQpRdAtomic, [](QpAttr& a) { a.max_rd_atomic = 17; }), kMaxQpRdAtomic);
    EXPECT_EQ(refused(kMaxDestRdAtomic, [](QpAttr& a) { a.max_dest_rd_atomic = 255; }), kMaxDestRdAtomic);
    EXPECT_EQ(refused(kAv, [](QpAttr& a) { a.ah_attr.static_rate = 1; }), kAv);
    EXPECT_EQ(refused(kAv, [](QpAttr& a) { a.ah_attr.static_rate = 25; }), kAv);
    EXPECT_EQ(refused(kTimeout | kRetryCnt, [](QpAttr& a) { a.timeout = 31; }), 0U);
}

TEST(ModifyQp, AWrongCurrentStateAndUnknownBits) {
    Rig rig;
    auto [a, b] = rig.connect();
    QpAttr attr;
    attr.qp_state = QpState::Rts;
    attr.cur_qp_state = QpState::Rtr;
    Explanation why;
    EXPECT_EQ(a.hca->modify_qp(rig.by(a, &why), a.qpn, attr, kState | kCurState), EINVAL);
    EXPECT_EQ(why.rule, Rule::CurrentStateMismatch);
    EXPECT_EQ(a.hca->modify_qp(rig.by(a), a.qpn, attr, 1U << 30), EOPNOTSUPP);
    EXPECT_EQ(a.hca->modify_qp(rig.by(a), a.qpn, attr, 0), 0);
    attr.qp_access_flags = kRemoteRead;
    EXPECT_EQ(a.hca->modify_qp(rig.by(a), a.qpn, attr, kAccessFlags), 0);
}

TEST(ModifyQp, PsnsAreTakenModulo24Bits) {
    Rig rig;
    QpOptions q;
    q.sq_psn = 0x1FFFFFF;
    auto [a, b] = rig.connect(q);
    EXPECT_EQ(a.hca->query_qp(rig.by(a), a.qpn).value.attr.sq_psn, 0xFFFFFFU);
    ASSERT_EQ(rig.send(a, WrOpcode::RdmaWrite, 1, 0, 3000, b.base, b.mr.rkey), 0);
    rig.settle();
    EXPECT_EQ(rig.taps[0]->request_psns(), (std::vector<uint32_t>{0xFFFFFF, 0, 1}));
    EXPECT_EQ(rig.completions(a), "1:SUCCESS");
}

TEST(Control, AConnectXGivesAllTheInlineDataThatItsSendWqeHasRoomFor) {
    Rig rig({.profile = "cx6-200g"});
    Peer a = rig.open(0);
    const auto asked = [&](QpType type, uint32_t inline_data, uint32_t sges) {
        QpInitAttr init;
        init.type = type;
        init.pd = a.pd;
        init.send_cq = init.recv_cq = a.cq;
        init.cap = {1, 1, sges, 1, inline_data};
        return a.hca->create_qp(rig.by(a), init).value.cap.max_inline_data;
    };
    EXPECT_EQ(asked(QpType::Rc, 220, 1), 236U);
    EXPECT_EQ(asked(QpType::Rc, 236, 1), 236U);
    EXPECT_EQ(asked(QpType::Rc, 237, 1), 300U);
    EXPECT_EQ(asked(QpType::Rc, 0, 1), 44U);
    EXPECT_EQ(asked(QpType::Rc, 0, 30), 492U);
    EXPECT_EQ(asked(QpType::Uc, 220, 1), 236U);
    EXPECT_EQ(asked(QpType::Ud, 188, 1), 188U);
    EXPECT_EQ(asked(QpType::Ud, 0, 1), 60U);
}

TEST(Control, WhateverInlineDataAConnectXGivesCanBeAskedForAndNotOneByteMoreThanTheMost) {
    Rig rig({.profile = "cx6-200g"});
    Peer a = rig.open(0);
    for (const QpType type : {QpType::Rc, QpType::Uc, QpType::Ud}) {
        const auto make = [&](uint32_t inline_data) {
            QpInitAttr init;
            init.type = type;
            init.pd = a.pd;
            init.send_cq = init.recv_cq = a.cq;
            init.cap = {1, 1, 1, 1, inline_data};
            return a.hca->create_qp(rig.by(a), init);
        };
        uint32_t most = 0;
        for (uint32_t asked = 1; asked < 2048; ++asked) {
            const auto made = make(asked);
            if (made.error != 0) {
                EXPECT_EQ(made.error, EINVAL);
                EXPECT_EQ(asked, most + 1);
                break;
            }
            most = made.value.cap.max_inline_data;
        }
        EXPECT_GE(most, 512U);
        EXPECT_LT(most, 1024U);
    }
}

TEST(Control, LimitsAndBusyObjects) {
    Rig rig;
    Peer a = rig.open(0);
    Explanation why;
    EXPECT_EQ(a.hca->create_cq(rig.by(a, &why), {0, false}).error, EINVAL);
    EXPECT_EQ(why.attribute, "cqe");
    EXPECT_EQ(a.hca->dealloc_pd(rig.by(a, &why), a.pd), EBUSY);
    EXPECT_EQ(a.hca->destroy_cq(rig.by(a, &why), a.cq), EBUSY);
    QpInitAttr init;
    init.pd = a.pd;
    init.send_cq = init.recv_cq = a.cq;
    init.cap.max_send_wr = 1 << 20;
    EXPECT_EQ(a.hca->create_qp(rig.by(a, &why), init).error, EINVAL);
    EXPECT_EQ(why.attribute, "cap.max_send_wr");
    EXPECT_EQ(a.hca->reg_mr(rig.by(a, &why), {a.pd, a.space, a.base, 8, a.base, kRemoteWrite}).error, EINVAL);
    EXPECT_EQ(why.rule, Rule::AccessFlagsInvalid);
    EXPECT_EQ(a.hca->destroy_qp(rig.by(a), a.qpn), 0);
    EXPECT_EQ(a.hca->dereg_mr(rig.by(a), a.mr.handle), 0);
    EXPECT_EQ(a.hca->dealloc_pd(rig.by(a), a.pd), 0);
    EXPECT_EQ(a.hca->destroy_cq(rig.by(a), a.cq), 0);
}

TEST(ModifyQp, TheDrainedEventIsAskedForWithEachTransitionAnew) {
    Rig rig;
    auto [a, b] = rig.connect();
    QpAttr attr;
    attr.qp_state = QpState::Sqd;
    attr.en_sqd_async_notify = 1;
    ASSERT_EQ(a.hca->modify_qp(rig.by(a), a.qpn, attr, kState | kEnSqdAsyncNotify), 0);
    EXPECT_EQ(a.sink->events.size(), 1U);
    ASSERT_EQ(rig.to_state(a, QpState::Rts), 0);
    ASSERT_EQ(rig.to_state(a, QpState::Sqd), 0);
    EXPECT_EQ(a.sink->events.size(), 1U) << "nobody asked for a second one";
}

}  // namespace
}  // namespace simverbs::test
