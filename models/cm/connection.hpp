// One side of a connection, or of one datagram service resolution, as communication management keeps it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/cm/messages.hpp"
#include "models/hca/verbs_types.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::cm {

/// States of IBTA vol. 1, 12.9, active and passive side in one list.
enum class State : uint8_t {
    Idle,
    ReqSent,
    MraReqRcvd,  ///< REQ sent, and the peer asked for patience
    ReqRcvd,
    RepSent,
    MraRepRcvd,  ///< REP sent, and the peer asked for patience
    RepRcvd,
    Established,
    DreqSent,
    DreqRcvd,
    Timewait,
    SidrReqSent,
    SidrReqRcvd,
};
[[nodiscard]] const char* name_of(State state) noexcept;

/// What a path record says: where packets go, and how.
struct PathRecord {
    hca::AhAttr ah;
    hca::Gid sgid{};
    uint16_t slid = 0, pkey = 0xFFFF;
    uint8_t mtu = 5, rate = 0, packet_life_time = 18;
};

/// Options of an adapter's vendor that both sides of a connection could use (enhanced connection establishment).
struct Ece {
    uint32_t vendor_id = 0;  ///< 24 bits; 0: none
    uint32_t options = 0;
    friend bool operator==(const Ece&, const Ece&) = default;
};

/// What the consumer gives for a REQ.
struct ConnectParams {
    PathRecord path;
    uint64_t service_id = 0;
    uint32_t qpn = 0;
    hca::QpType type = hca::QpType::Rc;
    bool srq = false, flow_control = false;
    uint8_t responder_resources = 0, initiator_depth = 0, retry_count = 0, rnr_retry_count = 0;
    std::optional<uint8_t> ack_timeout;  ///< instead of the one that follows from the path
    Ece ece;
    std::vector<uint8_t> private_data;  ///< with the IpCmHeader
};

/// What the consumer gives for a REP.
struct AcceptParams {
    uint32_t qpn = 0;
    bool srq = false, flow_control = false;
    uint8_t responder_resources = 0, initiator_depth = 0, rnr_retry_count = 0;
    Ece ece;
    std::vector<uint8_t> private_data;
};

struct Connection {
    State state = State::Idle;
    bool lap_received = false;
    bool orphan = false;  ///< its consumer has let go of it; it only waits for the end of TIMEWAIT
    CommId local_id = 0, remote_id = 0;
    uint64_t transaction_id = 0;  ///< of the REQ or SIDR_REQ
    uint64_t service_id = 0, remote_ca_guid = 0;
    hca::QpType type = hca::QpType::Rc;
    hca::AhAttr ah;
    uint16_t pkey = 0xFFFF;
    uint8_t mtu = 5, timeout = 0;  ///< of the QP
    uint32_t local_qpn = 0, remote_qpn = 0, sq_psn = 0, rq_psn = 0;
    uint8_t responder_resources = 0, initiator_depth = 0, retry_count = 0, rnr_retry_count = 0;
    // The message that waits for an answer.
    MadBytes message{};
    uint8_t retries_left = 0;
    sim::SimTime answer_time;
    uint64_t timer = 0;  ///< 0: none; else that of its pending timeout
};

}  // namespace simverbs::cm
