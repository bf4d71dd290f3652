// XRC: domains, SRQs that remote QPs name, shared receiving QPs.
#include <gtest/gtest.h>

#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

/// One program's end: a domain with an SRQ, and the receiving QP that the peer sends to.
struct XrcEnd {
    Peer peer;
    XrcdHandle xrcd = 0;
    SrqHandle srq = 0;
    uint32_t recv_qpn = 0;
};

struct Xrc : testing::Test {
    XrcEnd open(size_t host) {
        XrcEnd e;
        e.peer = rig.open(host);
        EXPECT_EQ(e.peer.hca->destroy_qp(rig.by(e.peer), e.peer.qpn), 0);
        e.xrcd = e.peer.hca->open_xrcd(rig.by(e.peer), {}, true, false).value;
        SrqSpec spec{e.peer.pd, 16, 1, 0, e.xrcd, e.peer.cq};
        e.srq = e.peer.hca->create_srq(rig.by(e.peer), spec).value;
        QpInitAttr send;
        send.type = QpType::XrcSend;
        send.pd = e.peer.pd;
        send.send_cq = e.peer.cq;
        send.cap = {16, 0, 1, 0, 0};
        e.peer.qpn = e.peer.hca->create_qp(rig.by(e.peer), send).value.qp_num;
        QpInitAttr recv;
        recv.type = QpType::XrcRecv;
        recv.xrcd = e.xrcd;
        e.recv_qpn = e.peer.hca->create_qp(rig.by(e.peer), recv).value.qp_num;
        return e;
    }
    int modify(XrcEnd& e, uint32_t qpn, QpState to, size_t remote_host, size_t host, uint32_t dest) {
        QpAttr attr;
        attr.qp_state = to;
        attr.port_num = 1;
        attr.qp_access_flags = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic;
        attr.path_mtu = 3;
        attr.dest_qp_num = dest;
        attr.ah_attr = rig.address_of(remote_host, host);
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
        attr.min_rnr_timer = 1;
        attr.timeout = 10;
        attr.retry_cnt = attr.rnr_retry = 3;
        // As to an RC QP: what an end lacks is left out.
        uint32_t mask = kState | kTimeout | kRetryCnt | kRnrRetry | kSqPsn | kMaxQpRdAtomic;
        if (to == QpState::Init) mask = kState | kPkeyIndex | kPort | kAccessFlags;
        if (to == QpState::Rtr) mask = kState | kAv | kPathMtu | kDestQpn | kRqPsn | kMaxDestRdAtomic | kMinRnrTimer;
        return e.peer.hca->modify_qp(rig.by(e.peer), qpn, attr, mask);
    }
    /// a's sender to b's receiver.
    void connect() {
        a = open(0);
        b = open(1);
        for (const QpState s : {QpState::Init, QpState::Rtr, QpState::Rts}) {
            ASSERT_EQ(modify(a, a.peer.qpn, s, 1, 0, b.recv_qpn), 0) << name_of(s);
            if (s != QpState::Rts) {
                ASSERT_EQ(modify(b, b.recv_qpn, s, 0, 1, a.peer.qpn), 0) << name_of(s);
            }
        }
    }
    int post_receive(uint64_t wr_id) {
        const Sge sge{b.peer.base, 4096, b.peer.mr.lkey};
        return b.peer.hca->post_srq_recv(b.srq, {wr_id, &sge, 1}, rig.now());
    }
    std::string send(WrOpcode opcode, uint64_t wr_id, uint32_t length, uint32_t srqn) {
        const Sge sge{a.peer.base, length, a.peer.mr.lkey};
        SendWr wr;
        wr.wr_id = wr_id;
        wr.opcode = opcode;
        wr.send_flags = kSignaled;
        wr.sges = &sge;
        wr.num_sge = 1;
        wr.remote_addr = b.peer.base;
        wr.rkey = b.peer.mr.rkey;
        wr.remote_srqn = srqn;
        EXPECT_EQ(a.peer.hca->post_send(a.peer.qpn, wr, rig.now()), 0);
        rig.settle();
        return rig.completions(a.peer);
    }
    Rig rig;
    XrcEnd a, b;
};

TEST_F(Xrc, ASendTakesAReceiveOfTheSrqThatItNames) {
    connect();
    ASSERT_EQ(post_receive(200), 0);
    EXPECT_EQ(send(WrOpcode::Send, 1, 3000, b.srq), "1:SUCCESS");
    EXPECT_EQ(rig.completions(b.peer), "200:SUCCESS");
    const Cqe& cqe = b.peer.sink->cqes.back().cqe;
    EXPECT_EQ(cqe.srq, b.srq);
    EXPECT_EQ(cqe.qp_num, b.recv_qpn);
    EXPECT_EQ(cqe.byte_len, 3000U);
}

TEST_F(Xrc, ReadsWritesAndAtomicsWorkByTheSrqsDomain) {
    connect();
    EXPECT_EQ(send(WrOpcode::RdmaWrite, 1, 3000, b.srq), "1:SUCCESS");
    EXPECT_EQ(send(WrOpcode::RdmaRead, 2, 3000, b.srq), "2:SUCCESS");
    EXPECT_EQ(send(WrOpcode::AtomicFetchAndAdd, 3, 8, b.srq), "3:SUCCESS");
}

TEST_F(Xrc, AnEmptySrqAnswersRnr) {
    connect();
    EXPECT_EQ(send(WrOpcode::Send, 1, 8, b.srq), "1:RNR_RETRY_EXC_ERR");
}

TEST_F(Xrc, AnSrqOfNoOrAnotherDomainIsAnInvalidRequest) {
    connect();
    EXPECT_EQ(send(WrOpcode::Send, 1, 8, 77), "1:REM_INV_REQ_ERR");
    EXPECT_EQ(b.peer.sink->incidents.back().check, Check::XrcSrq);
}

TEST_F(Xrc, DomainsOfOneFileAreShared_TheKernelsRulesForFlags) {
    Peer p = rig.open(0), q = rig.open(0);
    const XrcdFile file{1, 2};
    EXPECT_EQ(p.hca->open_xrcd(rig.by(p), file, false, false).error, EAGAIN) << "no domain yet, no O_CREAT";
    const auto first = p.hca->open_xrcd(rig.by(p), file, true, true);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(q.hca->open_xrcd(rig.by(q), file, true, true).error, EINVAL) << "O_EXCL";
    const auto second = q.hca->open_xrcd(rig.by(q), file, false, false);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(q.hca->close_xrcd(rig.by(q), first.value), ENOENT) << "another's";
    SrqSpec spec{q.pd, 4, 1, 0, second.value, q.cq};
    const auto srq = q.hca->create_srq(rig.by(q), spec);
    ASSERT_TRUE(srq.ok());
    EXPECT_EQ(q.hca->close_xrcd(rig.by(q), second.value), EBUSY);
    EXPECT_EQ(q.hca->destroy_srq(rig.by(q), srq.value), 0);
    EXPECT_EQ(q.hca->close_xrcd(rig.by(q), second.value), 0);
    EXPECT_EQ(p.hca->close_xrcd(rig.by(p), first.value), 0);
    EXPECT_EQ(p.hca->open_xrcd(rig.by(p), file, false, false).error, EAGAIN) << "the domain went with its last opening";
}

TEST_F(Xrc, AReceivingQpLivesUntilItsLastHandleGoes) {
    Peer p = rig.open(0), q = rig.open(0);
    const XrcdFile file{1, 2};
    const XrcdHandle first = p.hca->open_xrcd(rig.by(p), file, true, false).value;
    const XrcdHandle second = q.hca->open_xrcd(rig.by(q), file, false, false).value;
    QpInitAttr init;
    init.type = QpType::XrcRecv;
    init.xrcd = first;
    const uint32_t qpn = p.hca->create_qp(rig.by(p), init).value.qp_num;
    EXPECT_EQ(q.hca->query_qp(rig.by(q), qpn).error, ENOENT);
    EXPECT_EQ(q.hca->open_qp(rig.by(q), p.qpn, second), EINVAL) << "an RC QP";
    ASSERT_EQ(q.hca->open_qp(rig.by(q), qpn, second), 0);
    EXPECT_EQ(p.hca->destroy_qp(rig.by(p), qpn), 0);
    EXPECT_EQ(q.hca->query_qp(rig.by(q), qpn).error, 0);
    EXPECT_EQ(q.hca->destroy_qp(rig.by(q), qpn), 0);
    EXPECT_EQ(q.hca->query_qp(rig.by(q), qpn).error, ENOENT);
}

TEST_F(Xrc, NothingIsPostedToAReceivingQp) {
    connect();
    const Sge sge{b.peer.base, 64, b.peer.mr.lkey};
    EXPECT_EQ(b.peer.hca->post_recv(b.recv_qpn, {1, &sge, 1}, rig.now()), EINVAL);
    EXPECT_EQ(a.peer.hca->post_recv(a.peer.qpn, {1, &sge, 1}, rig.now()), EINVAL);
}

}  // namespace
}  // namespace simverbs::test
