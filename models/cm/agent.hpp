// Communication management on one adapter: connections are set up and torn down by messages between the QPs 1 of two
// ports, repeated until they are answered (IBTA vol. 1, chapter 12).
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "models/cm/connection.hpp"
#include "models/cm/messages.hpp"
#include "models/cm/timing.hpp"
#include "models/hca/hca.hpp"

namespace simverbs::cm {

enum class EventType : uint8_t {
    ReqReceived,  ///< `id` is a new connection for the listener of `service_id`
    RepReceived,
    RtuReceived,
    RejReceived,
    Unreachable,  ///< the REQ, REP or SIDR_REQ was never answered
    DreqReceived,
    Disconnected,  ///< a DREP came, or the DREQ was never answered
    TimewaitExit,
    SidrReqReceived,  ///< `id` is a new exchange for the listener of `service_id`
    SidrRepReceived,
    Timer,  ///< Agent::set_timer
};

/// What a consumer is told.
struct Event {
    EventType type = EventType::Timer;
    CommId id = 0;
    uint64_t service_id = 0;
    uint64_t timer = 0;
    uint16_t reason = 0;  ///< RejReceived: reason; SidrRepReceived: status; Unreachable: that of the repetitions
    uint32_t remote_qpn = 0, qkey = 0;
    uint8_t responder_resources = 0, initiator_depth = 0, retry_count = 0, rnr_retry_count = 0;
    bool srq = false, flow_control = false;
    hca::QpType qp_type = hca::QpType::Rc;
    hca::AhAttr ah;  ///< the way back
    uint16_t pkey = 0xFFFF;
    Ece ece;  ///< ReqReceived, RepReceived
    std::vector<uint8_t> private_data;
};

class Agent;

/// Told in the adapter's window. It may call the agent.
class Consumer {
  public:
    virtual ~Consumer() = default;
    virtual void on_cm_event(Agent& agent, const Event& event, sim::SimTime now) = 0;
};

/// Calls return 0 or an errno value: EINVAL where the state does not allow them. `now`: the engine's frontier, or the
/// present event.
class Agent final : public hca::ManagementAgent {
  public:
    /// Becomes the adapter's agent, and must live as long as that runs.
    Agent(hca::Hca& adapter, Consumer& consumer);
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    [[nodiscard]] hca::Hca& adapter() noexcept { return *adapter_; }

    /// From now on there is (not) somebody behind this service id.
    void listen(uint64_t service_id) { listeners_.insert(service_id); }
    void unlisten(uint64_t service_id) { listeners_.erase(service_id); }

    /// Starts a connection; `id` becomes its number.
    int connect(const ConnectParams& params, CommId& id, sim::SimTime now);
    int accept(CommId id, const AcceptParams& params, sim::SimTime now);
    /// The consumer has taken the REP: RTU.
    int confirm(CommId id, sim::SimTime now);
    /// The QP has got data before the RTU: the connection is up.
    int established_by_data(CommId id, sim::SimTime now);
    int reject(CommId id, RejectReason reason, std::span<const uint8_t> private_data, sim::SimTime now);
    /// DREQ, or the DREP that answers one.
    int disconnect(CommId id, sim::SimTime now);
    /// Asks for the QP behind a service id.
    int resolve(const PathRecord& path, uint64_t service_id, std::span<const uint8_t> private_data, CommId& id,
                sim::SimTime now);
    int answer_resolve(CommId id, SidrStatus status, uint32_t qpn, uint32_t qkey, std::span<const uint8_t> private_data,
                       sim::SimTime now);
    /// The consumer lets go of it: the peer is told whatever its state makes necessary.
    void destroy(CommId id, sim::SimTime now);

    /// nullptr if there is none with that number (any more).
    [[nodiscard]] const Connection* find(CommId id) const;

    /// Consumer::on_cm_event with EventType::Timer and `what` at `when`.
    void set_timer(uint64_t what, sim::SimTime when);

    // hca::ManagementAgent
    void on_mad(const hca::ReceivedMad& mad, sim::SimTime now) override;
    [[nodiscard]] sim::SimTime next_time() const noexcept override;
    void on_time(sim::SimTime now) override;

    struct Counters {
        uint64_t sent = 0, received = 0, retries = 0, duplicates = 0;
    };
    [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  private:
    enum class WorkKind : uint8_t { Arrive, Send, AnswerTimeout, TimewaitEnd, ConsumerTimer };
    struct Work {
        WorkKind kind = WorkKind::Send;
        CommId id = 0;
        uint64_t what = 0;  ///< AnswerTimeout: its number; ConsumerTimer: the consumer's
        hca::ReceivedMad mad;
        hca::AhAttr to;
    };

    // agent.cpp
    uint64_t push(sim::SimTime at, Work work);
    Connection& make(State state);
    Connection* find_mutable(CommId id);
    void tell(const Event& event, sim::SimTime now);
    void on_answer_timeout(Connection& c, uint64_t timer, sim::SimTime now);

    // agent_send.cpp
    template <class Message>
    static void put(MadBytes& out, uint64_t transaction_id, const Message& message, uint32_t ece_options = 0);
    void send(const hca::AhAttr& to, const MadBytes& bytes, sim::SimTime now);
    /// Sends c.message, and again whenever `answer_time` passes without an answer.
    void send_until_answered(Connection& c, sim::SimTime answer_time, sim::SimTime now);
    void stop_repeating(Connection& c) noexcept { c.timer = 0; }
    template <typename Message>
    void answer(const Connection& c, const Message& message, sim::SimTime now);
    void send_rej(const Connection& c, RejectReason reason, std::span<const uint8_t> private_data, sim::SimTime now);
    void send_mra(const Connection& c, Answered answered, sim::SimTime now);
    void send_rtu(const Connection& c, sim::SimTime now);
    void send_dreq(Connection& c, sim::SimTime now, bool once);
    void send_drep(const Connection& c, sim::SimTime now);
    void enter_timewait(Connection& c, sim::SimTime now);

    // agent_receive.cpp
    void dispatch(const hca::ReceivedMad& mad, sim::SimTime now);
    void on_req(const Req& req, const MadHeader& header, const hca::ReceivedMad& mad, sim::SimTime now);
    void on_duplicate_req(Connection& c, sim::SimTime now);
    void on_rep(const Rep& rep, const hca::ReceivedMad& mad, const MadHeader& header, sim::SimTime now);
    void on_rtu(const Rtu& rtu, sim::SimTime now);
    void on_rej(const Rej& rej, sim::SimTime now);
    void on_mra(const Mra& mra, sim::SimTime now);
    void on_dreq(const Dreq& dreq, const hca::ReceivedMad& mad, uint64_t transaction_id, sim::SimTime now);
    void on_drep(const Drep& drep, sim::SimTime now);
    void on_lap(const Lap& lap, const hca::ReceivedMad& mad);
    void on_sidr_req(const SidrReq& req, uint64_t transaction_id, const hca::ReceivedMad& mad, sim::SimTime now);
    void on_sidr_rep(const SidrRep& rep, sim::SimTime now);
    [[nodiscard]] hca::AhAttr way_back(const hca::ReceivedMad& mad) const;
    [[nodiscard]] uint8_t gid_index_of(uint8_t port, const hca::Gid& gid) const;
    [[nodiscard]] uint64_t transaction_of(CommId id) const noexcept { return (uint64_t{agent_number_} << 32) | id; }

    hca::Hca* adapter_;
    Consumer* consumer_;
    uint32_t agent_number_;
    CommId last_id_;
    bool in_window_ = false;  ///< the adapter asks for next_time() itself
    std::set<uint64_t> listeners_;
    std::map<CommId, Connection> connections_;
    std::map<std::pair<uint64_t, CommId>, CommId> by_remote_;  ///< CA GUID and id of the peer → connection
    std::map<std::pair<sim::SimTime, uint64_t>, Work> work_;   ///< by time and order of making
    uint64_t last_work_ = 0;
    Counters counters_;
};

template <class Message>
void Agent::put(MadBytes& out, uint64_t transaction_id, const Message& message, uint32_t ece_options) {
    MadHeader header;
    header.mgmt_class = kCmClass;
    header.class_version = kCmClassVersion;
    header.method = kMethodSend;
    header.transaction_id = transaction_id;
    header.attribute_id = static_cast<uint16_t>(Message::attribute);
    header.attribute_modifier = ece_options;
    out = {};
    encode(header, std::span(out));
    encode(message, cm_part(std::span(out)));
}

/// Copies what fits of a consumer's private data.
template <size_t N>
void fill_private(std::array<uint8_t, N>& to, std::span<const uint8_t> from) {
    for (size_t i = 0; i < std::min(N, from.size()); ++i) to[i] = from[i];
}

}  // namespace simverbs::cm
