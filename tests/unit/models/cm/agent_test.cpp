// Two adapters' CMs and the link between them: set-up, teardown, and each of their messages lost.
#include <gtest/gtest.h>

#include "models/cm/agent.hpp"
#include "models/cm/ip_cm_header.hpp"
#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {
namespace {

using cm::Agent;
using cm::Attribute;
using cm::EventType;
using cm::State;

constexpr uint64_t kService = cm::ip_service_id(cm::PortSpace::Tcp, 7471);
constexpr uint32_t kClientQpn = 0x111, kServerQpn = 0x222;

/// A consumer that does what rdma_cm and a well-behaved program do.
class Side final : public cm::Consumer {
  public:
    explicit Side(Hca& adapter) : agent(adapter, *this) {}

    void on_cm_event(Agent&, const cm::Event& event, SimTime now) override {
        told += name_of(event.type);
        told += event.type == EventType::RejReceived ? std::to_string(event.reason) + " " : " ";
        last = event;
        id = event.id;
        if (event.type == EventType::ReqReceived && on_request) on_request(event, now);
        if (event.type == EventType::Timer && on_timer) on_timer(now);
        if (event.type == EventType::RepReceived && confirms) (void)agent.confirm(event.id, now);
        if (event.type == EventType::DreqReceived && answers_release) (void)agent.disconnect(event.id, now);
    }
    static const char* name_of(EventType type) {
        switch (type) {
            case EventType::ReqReceived:
                return "REQ";
            case EventType::RepReceived:
                return "REP";
            case EventType::RtuReceived:
                return "RTU";
            case EventType::RejReceived:
                return "REJ";
            case EventType::Unreachable:
                return "UNREACHABLE";
            case EventType::DreqReceived:
                return "DREQ";
            case EventType::Disconnected:
                return "DISCONNECTED";
            case EventType::TimewaitExit:
                return "TIMEWAIT_EXIT";
            case EventType::SidrReqReceived:
                return "SIDR_REQ";
            case EventType::SidrRepReceived:
                return "SIDR_REP";
            case EventType::Timer:
                return "TIMER";
        }
        return "?";
    }
    void accept(const cm::Event& event, SimTime now) {
        cm::AcceptParams params;
        params.qpn = kServerQpn;
        params.responder_resources = 4;
        params.initiator_depth = 2;
        params.private_data = {'y', 'e', 's'};
        EXPECT_EQ(agent.accept(event.id, params, now), 0);
    }

    Agent agent;
    std::function<void(const cm::Event&, SimTime)> on_request = [this](const cm::Event& e, SimTime t) { accept(e, t); };
    std::function<void(SimTime)> on_timer;
    bool confirms = true, answers_release = true;
    std::string told;
    cm::Event last;
    cm::CommId id = 0;
};

class Cm {
  public:
    explicit Cm(RigOptions options = {})
        : rig(std::move(options)), client(rig.fabric().nic(1)), server(rig.fabric().nic(0)) {
        server.agent.listen(kService);
    }
    cm::ConnectParams params() {
        cm::ConnectParams p;
        p.path.ah = rig.address_of(0, 1);
        p.service_id = kService;
        p.qpn = kClientQpn;
        p.responder_resources = 2;
        p.initiator_depth = 8;
        p.retry_count = 3;
        p.rnr_retry_count = 5;
        p.private_data = {'h', 'i'};
        return p;
    }
    void connect() { ASSERT_EQ(client.agent.connect(params(), conn, rig.now()), 0); }
    /// Until neither side does anything for a while, repetitions included.
    void settle(SimTime limit = SimTime::s(200)) { rig.settle(limit); }
    [[nodiscard]] State state(Side& side, cm::CommId id) {
        const cm::Connection* c = std::as_const(side.agent).find(id);
        return c == nullptr ? State::Idle : c->state;
    }

    Rig rig;
    Side client, server;
    cm::CommId conn = 0;
};

/// Host 0 is the server: `in` are the client's messages, `out` the server's.
RigOptions dropping(std::vector<uint64_t> in, std::vector<uint64_t> out) {
    RigOptions o;
    const auto drop = [](uint64_t nth) {
        link::LinkFault f;
        f.nth = nth;
        return f;
    };
    for (const uint64_t n : in) o.faults_in.push_back(drop(n));
    for (const uint64_t n : out) o.faults_out.push_back(drop(n));
    return o;
}

TEST(CmAgent, ThreeMessagesMakeAConnectionAndBothSidesKnowTheOther) {
    Cm cm;
    cm.connect();
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP ");
    EXPECT_EQ(cm.server.told, "REQ RTU ");
    const cm::Connection* a = std::as_const(cm.client.agent).find(cm.conn);
    const cm::Connection* b = std::as_const(cm.server.agent).find(cm.server.id);
    ASSERT_NE(a, nullptr);
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(a->state, State::Established);
    EXPECT_EQ(b->state, State::Established);
    EXPECT_EQ(a->remote_qpn, kServerQpn);
    EXPECT_EQ(b->remote_qpn, kClientQpn);
    EXPECT_EQ(a->sq_psn, b->rq_psn);
    EXPECT_EQ(b->sq_psn, a->rq_psn);
    EXPECT_EQ(a->timeout, b->timeout);
    // What one side can take is what the other may ask for.
    EXPECT_EQ(a->initiator_depth, 4);
    EXPECT_EQ(a->responder_resources, 2);
    EXPECT_EQ(b->initiator_depth, 2);
    EXPECT_EQ(cm.client.agent.counters().sent, 2U);
    EXPECT_EQ(cm.server.agent.counters().sent, 1U);
}

TEST(CmAgent, PrivateDataArrivesWithItsMessage) {
    Cm cm;
    std::vector<uint8_t> request;
    cm.server.on_request = [&](const cm::Event& e, SimTime t) {
        request = e.private_data;
        cm.server.accept(e, t);
    };
    cm.connect();
    cm.settle();
    ASSERT_EQ(request.size(), 92U);
    EXPECT_EQ(request[0], 'h');
    ASSERT_EQ(cm.client.last.private_data.size(), 196U);
    EXPECT_EQ(cm.client.last.private_data[0], 'y');
}

TEST(CmAgent, EceTravelsInRequestAndReply_WithAllItsBits) {
    Cm cm;
    cm::Ece asked;
    cm.server.on_request = [&](const cm::Event& e, SimTime t) {
        asked = e.ece;
        cm::AcceptParams params;
        params.qpn = kServerQpn;
        params.ece = {0xABCDEF, 0x80000001};
        EXPECT_EQ(cm.server.agent.accept(e.id, params, t), 0);
    };
    auto p = cm.params();
    p.ece = {0x15B3, 0xDEADBEEF};
    ASSERT_EQ(cm.client.agent.connect(p, cm.conn, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(asked, (cm::Ece{0x15B3, 0xDEADBEEF}));
    EXPECT_EQ(cm.client.last.ece, (cm::Ece{0xABCDEF, 0x80000001}));
    EXPECT_EQ(cm.client.told, "REP ");
}

TEST(CmAgent, AnAlternatePathIsTakenNoteOf_NeverAnswered_AndRepetitionsAreCounted) {
    for (const LinkLayer layer : {LinkLayer::InfiniBand, LinkLayer::Ethernet}) {
        Cm cm({.layer = layer});
        cm.connect();
        cm.settle();
        const uint64_t sent = cm.server.agent.counters().sent;
        cm::Lap lap;
        lap.local_comm_id = cm.conn;
        lap.remote_comm_id = cm.server.id;
        cm::MadHeader header;
        header.mgmt_class = cm::kCmClass;
        header.class_version = cm::kCmClassVersion;
        header.method = cm::kMethodSend;
        header.attribute_id = static_cast<uint16_t>(Attribute::Lap);
        cm::MadBytes bytes{};
        cm::encode(header, std::span(bytes));
        cm::encode(lap, cm::cm_part(std::span(bytes)));
        cm.client.on_timer = [&](SimTime t) {
            EXPECT_TRUE(cm.client.agent.adapter().send_mad(cm.rig.address_of(0, 1), bytes, t));
        };
        const uint64_t received = cm.server.agent.counters().received;
        for (int i = 0; i < 3; ++i) {
            cm.client.agent.set_timer(1, cm.rig.now());
            cm.settle();
        }
        EXPECT_EQ(cm.server.agent.counters().received, received + 3);
        EXPECT_EQ(cm.server.agent.counters().sent, sent);
        EXPECT_EQ(cm.server.agent.counters().duplicates, layer == LinkLayer::InfiniBand ? 2U : 0U);
        EXPECT_EQ(cm.server.told, "REQ RTU ");
        EXPECT_EQ(cm.state(cm.server, cm.server.id), State::Established);
    }
}

TEST(CmAgent, TooMuchPrivateDataIsRefused) {
    Cm cm;
    auto p = cm.params();
    p.private_data.resize(93);
    EXPECT_EQ(cm.client.agent.connect(p, cm.conn, cm.rig.now()), EINVAL);
    cm.server.on_request = [&](const cm::Event& e, SimTime t) {
        cm::AcceptParams a;
        a.private_data.resize(197);
        EXPECT_EQ(cm.server.agent.accept(e.id, a, t), EINVAL);
        EXPECT_EQ(cm.server.agent.reject(e.id, cm::RejectReason::ConsumerDefined, std::vector<uint8_t>(149), t),
                  EINVAL);
        EXPECT_EQ(cm.server.agent.reject(e.id, cm::RejectReason::ConsumerDefined, std::vector<uint8_t>(148), t), 0);
    };
    cm.connect();
    cm.settle();
    EXPECT_EQ(cm.client.told, "REJ28 ");
}

TEST(CmAgent, WithoutAListenerTheReasonIs8) {
    Cm cm;
    cm.server.agent.unlisten(kService);
    cm.connect();
    cm.settle();
    EXPECT_EQ(cm.client.told, "REJ8 ");
    EXPECT_EQ(cm.server.told, "");
}

TEST(CmAgent, DestroyingARequestRejectsItWith28) {
    Cm cm;
    cm.server.on_request = [&](const cm::Event& e, SimTime t) { cm.server.agent.destroy(e.id, t); };
    cm.connect();
    cm.settle();
    EXPECT_EQ(cm.client.told, "REJ28 ");
}

TEST(CmAgent, WhoDestroysBeforeTheAnswerTellsThePeerByATimeoutRejection) {
    Cm cm;
    cm.server.on_request = nullptr;
    cm.connect();
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.server.told == "REQ "; }));
    cm.client.agent.destroy(cm.conn, cm.rig.now());
    cm.settle();
    EXPECT_EQ(cm.server.told, "REQ REJ4 TIMEWAIT_EXIT ");
}

TEST(CmAgent, OneSideDisconnectsTheOtherAnswersAndBothLeaveTimewait) {
    Cm cm;
    cm.connect();
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.server.told == "REQ RTU "; }));
    const SimTime began = cm.rig.now();
    ASSERT_EQ(cm.client.agent.disconnect(cm.conn, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP DISCONNECTED TIMEWAIT_EXIT ");
    EXPECT_EQ(cm.server.told, "REQ RTU DREQ TIMEWAIT_EXIT ");
    EXPECT_GE(cm.rig.now() - began, SimTime::ms(2048));  // Linux: 2.1 s
    EXPECT_EQ(cm.client.agent.disconnect(cm.conn, cm.rig.now()), EINVAL);
}

TEST(CmAgent, BothSidesMayDisconnectAtOnce) {
    Cm cm;
    cm.connect();
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.server.told == "REQ RTU "; }));
    ASSERT_EQ(cm.client.agent.disconnect(cm.conn, cm.rig.now()), 0);
    ASSERT_EQ(cm.server.agent.disconnect(cm.server.id, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP DREQ TIMEWAIT_EXIT ");
    EXPECT_EQ(cm.server.told, "REQ RTU DREQ TIMEWAIT_EXIT ");
}

TEST(CmAgent, WhoseProcessDiesSendsADreq) {
    Cm cm;
    cm.connect();
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.server.told == "REQ RTU "; }));
    cm.client.agent.destroy(cm.conn, cm.rig.now());
    cm.settle();
    EXPECT_EQ(cm.server.told, "REQ RTU DREQ TIMEWAIT_EXIT ");
}

TEST(CmAgent, DataBeforeTheRtuEstablishesTheConnection) {
    Cm cm;
    cm.client.confirms = false;
    cm.connect();
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.client.told == "REP "; }));
    EXPECT_EQ(cm.server.agent.established_by_data(cm.server.id, cm.rig.now()), 0);
    EXPECT_EQ(cm.server.agent.established_by_data(cm.server.id, cm.rig.now()), EISCONN);
    EXPECT_EQ(cm.client.agent.confirm(cm.conn, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(cm.server.told, "REQ RTU ");
}

/// One message of the set-up lost, or two in a row: it is repeated, and the connection comes about all the same.
struct Lost {
    const char* what;
    std::vector<uint64_t> of_client, of_server;
};
class CmSetUpLoss : public testing::TestWithParam<Lost> {};

TEST_P(CmSetUpLoss, TheConnectionComesAboutAllTheSame) {
    Cm cm(dropping(GetParam().of_client, GetParam().of_server));
    cm.connect();
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP ");
    EXPECT_EQ(cm.server.told, "REQ RTU ");
    EXPECT_EQ(cm.state(cm.client, cm.conn), State::Established);
    EXPECT_EQ(cm.state(cm.server, cm.server.id), State::Established);
    EXPECT_GT(cm.client.agent.counters().retries + cm.server.agent.counters().retries, 0U);
}
INSTANTIATE_TEST_SUITE_P(Messages, CmSetUpLoss,
                         testing::Values(Lost{"Req", {1}, {}}, Lost{"Rep", {}, {1}}, Lost{"Rtu", {2}, {}},
                                         Lost{"TwoReqs", {1, 2}, {}}, Lost{"TwoReps", {}, {1, 2}},
                                         Lost{"TwoRtus", {2, 3}, {}}, Lost{"ReqAndRep", {1}, {1}}),
                         [](const auto& p) { return std::string(p.param.what); });

class CmTeardownLoss : public testing::TestWithParam<Lost> {};

TEST_P(CmTeardownLoss, BothSidesAreDisconnectedAllTheSame) {
    Cm cm(dropping(GetParam().of_client, GetParam().of_server));
    cm.connect();
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.server.told == "REQ RTU "; }));
    ASSERT_EQ(cm.client.agent.disconnect(cm.conn, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP DISCONNECTED TIMEWAIT_EXIT ");
    EXPECT_EQ(cm.server.told, "REQ RTU DREQ TIMEWAIT_EXIT ");
}
INSTANTIATE_TEST_SUITE_P(Messages, CmTeardownLoss,
                         testing::Values(Lost{"Dreq", {3}, {}}, Lost{"Drep", {}, {2}}, Lost{"TwoDreqs", {3, 4}, {}}),
                         [](const auto& p) { return std::string(p.param.what); });

TEST(CmAgent, ARequestThatNobodyEverAnswersIsRepeated15TimesAndThenUnreachable) {
    RigOptions o;
    link::LinkFault all;
    all.every = 1;
    o.faults_in = {all};
    Cm cm(o);
    cm.connect();
    cm.settle();
    EXPECT_EQ(cm.client.told, "UNREACHABLE ");
    EXPECT_EQ(cm.client.agent.counters().sent, 16U);
    EXPECT_EQ(cm.client.agent.counters().retries, 15U);
}

TEST(CmAgent, AReleaseThatNobodyEverAnswersEndsDisconnected) {
    RigOptions o;
    for (uint64_t n = 3; n < 40; ++n) {
        link::LinkFault f;
        f.nth = n;
        o.faults_in.push_back(f);
    }
    Cm cm(o);
    cm.connect();
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.server.told == "REQ RTU "; }));
    ASSERT_EQ(cm.client.agent.disconnect(cm.conn, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP DISCONNECTED TIMEWAIT_EXIT ");
    EXPECT_EQ(cm.server.told, "REQ RTU ");
}

TEST(CmAgent, ASlowConsumerAsksARepeatedRequestForPatience) {
    Cm cm;
    cm.server.on_request = nullptr;
    cm.connect();
    cm.settle(SimTime::s(7));  // the first repetition comes after 6.1 s
    EXPECT_EQ(cm.state(cm.client, cm.conn), State::MraReqRcvd);
    cm.server.accept(cm.server.last, cm.rig.now());
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP ");
    EXPECT_EQ(cm.server.told, "REQ RTU ");
}

/// Whatever is lost: connected on both sides, or told of the failure on the side that asked; and then down again.
class CmRandomLoss : public testing::TestWithParam<int> {};

TEST_P(CmRandomLoss, EndsConnectedOrWithTheRightEvent) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        RigOptions o;
        o.seed = seed;
        link::LinkFault f;
        f.probability = GetParam() / 100.0;
        o.faults_in = {f};
        o.faults_out = {f};
        Cm cm(o);
        cm.connect();
        cm.settle(SimTime::s(600));
        const bool connected = cm.state(cm.client, cm.conn) == State::Established;
        EXPECT_TRUE(connected || cm.client.told == "UNREACHABLE ") << cm.client.told << " seed " << seed;
        if (!connected) continue;
        EXPECT_EQ(cm.state(cm.server, cm.server.id), State::Established) << cm.server.told << " seed " << seed;
        ASSERT_EQ(cm.client.agent.disconnect(cm.conn, cm.rig.now()), 0);
        cm.settle(SimTime::s(600));
        EXPECT_EQ(cm.client.told, "REP DISCONNECTED TIMEWAIT_EXIT ") << "seed " << seed;
        EXPECT_EQ(cm.server.told, "REQ RTU DREQ TIMEWAIT_EXIT ") << "seed " << seed;
    }
}
INSTANTIATE_TEST_SUITE_P(Percent, CmRandomLoss, testing::Values(1, 5, 10, 20, 30));

TEST(CmAgent, AServiceIdIsResolvedToAQpAndItsKey) {
    Cm cm;
    std::vector<uint8_t> hello{'u', 'd'};
    ASSERT_EQ(cm.client.agent.resolve(cm.params().path, kService, hello, cm.conn, cm.rig.now()), 0);
    ASSERT_TRUE(cm.rig.run_until([&] { return cm.server.told == "SIDR_REQ "; }));
    EXPECT_EQ(cm.server.last.private_data.size(), 216U);
    EXPECT_EQ(cm.server.last.private_data[1], 'd');
    ASSERT_EQ(cm.server.agent.answer_resolve(cm.server.id, cm::SidrStatus::Success, 0x77, 0x1234, {}, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(cm.client.told, "SIDR_REP ");
    EXPECT_EQ(cm.client.last.remote_qpn, 0x77U);
    EXPECT_EQ(cm.client.last.qkey, 0x1234U);
    EXPECT_EQ(cm.client.last.private_data.size(), 136U);
}

TEST(CmAgent, AServiceIdOfNobodyIsUnsupported) {
    Cm cm;
    cm.server.agent.unlisten(kService);
    ASSERT_EQ(cm.client.agent.resolve(cm.params().path, kService, {}, cm.conn, cm.rig.now()), 0);
    cm.settle();
    EXPECT_EQ(cm.client.told, "SIDR_REP ");
    EXPECT_EQ(cm.client.last.reason, static_cast<uint16_t>(cm::SidrStatus::Unsupported));
}

TEST(CmAgent, InfiniBandConnectsByLid) {
    RigOptions o;
    o.layer = LinkLayer::InfiniBand;
    Cm cm(o);
    cm.connect();
    cm.settle();
    EXPECT_EQ(cm.client.told, "REP ");
    EXPECT_EQ(cm.server.told, "REQ RTU ");
}

}  // namespace
}  // namespace simverbs::test
