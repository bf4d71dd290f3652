// The messages of communication management (IBTA vol. 1, 12.6 and 12.11), tables in the order of the standard's.
#pragma once

#include "models/cm/mad.hpp"

namespace simverbs::cm {

using CommId = uint32_t;
using GidBytes = std::array<uint8_t, 16>;

/// Attribute ids of the messages.
enum class Attribute : uint16_t {
    Req = 0x10,
    Mra = 0x11,
    Rej = 0x12,
    Rep = 0x13,
    Rtu = 0x14,
    Dreq = 0x15,
    Drep = 0x16,
    SidrReq = 0x17,
    SidrRep = 0x18,
    Lap = 0x19,
    Apr = 0x1A,
};

/// Transport service type of a REQ.
enum class Transport : uint8_t { Rc = 0, Uc = 1, Rd = 2, Extended = 3 };

inline constexpr uint8_t kExtendedXrc = 1;

/// Reasons of a REJ (IBTA vol. 1, 12.6.7.2), those that are sent here.
enum class RejectReason : uint16_t {
    NoResources = 3,
    Timeout = 4,
    Unsupported = 5,
    InvalidCommId = 6,
    InvalidServiceId = 8,
    StaleConnection = 10,
    InvalidGid = 12,
    InvalidLid = 13,
    ConsumerDefined = 28,
};

/// Which message a MRA or REJ answers.
enum class Answered : uint8_t { Req = 0, Rep = 1, Other = 2 };

/// Status of a SIDR_REP.
enum class SidrStatus : uint8_t { Success = 0, Unsupported = 1, Reject = 2, NoQp = 3 };

/// Request for communication.
struct Req {
    static constexpr Attribute attribute = Attribute::Req;

    CommId local_comm_id = 0;
    uint32_t vendor_id = 0;  ///< ECE: whose options the attribute modifier holds; 0: none
    uint64_t service_id = 0;
    uint64_t local_ca_guid = 0;
    uint32_t local_qkey = 0;
    uint32_t local_qpn = 0;
    uint8_t responder_resources = 0, initiator_depth = 0;
    uint8_t remote_response_timeout = 0;
    Transport transport = Transport::Rc;
    bool flow_control = false;
    uint32_t starting_psn = 0;
    uint8_t local_response_timeout = 0, retry_count = 0;
    uint16_t pkey = 0xFFFF;
    uint8_t path_mtu = 0, rnr_retry_count = 0, max_cm_retries = 0;
    bool srq = false;
    uint8_t extended_transport = 0;  ///< with Transport::Extended: kExtendedXrc
    uint16_t local_lid = 0, remote_lid = 0;
    GidBytes local_gid{}, remote_gid{};
    uint32_t flow_label = 0;
    uint8_t packet_rate = 0, traffic_class = 0, hop_limit = 0, sl = 0;
    bool subnet_local = false;
    uint8_t local_ack_timeout = 0;
    std::array<uint8_t, 92> private_data{};

    static constexpr auto fields() noexcept {
        using M = Req;
        return std::tuple{at<&M::local_comm_id>(0, 32),
                          at<&M::vendor_id>(5, 24),
                          at<&M::service_id>(8, 64),
                          at<&M::local_ca_guid>(16, 64),
                          at<&M::local_qkey>(28, 32),
                          at<&M::local_qpn>(32, 24),
                          at<&M::responder_resources>(35, 8),
                          at<&M::initiator_depth>(39, 8),
                          at<&M::remote_response_timeout>(43, 0, 5),
                          at<&M::transport>(43, 5, 2),
                          at<&M::flow_control>(43, 7, 1),
                          at<&M::starting_psn>(44, 24),
                          at<&M::local_response_timeout>(47, 0, 5),
                          at<&M::retry_count>(47, 5, 3),
                          at<&M::pkey>(48, 16),
                          at<&M::path_mtu>(50, 0, 4),
                          at<&M::rnr_retry_count>(50, 5, 3),
                          at<&M::max_cm_retries>(51, 0, 4),
                          at<&M::srq>(51, 4, 1),
                          at<&M::extended_transport>(51, 5, 3),
                          at<&M::local_lid>(52, 16),
                          at<&M::remote_lid>(54, 16),
                          at<&M::local_gid>(56, 128),
                          at<&M::remote_gid>(72, 128),
                          at<&M::flow_label>(88, 0, 20),
                          at<&M::packet_rate>(91, 2, 6),
                          at<&M::traffic_class>(92, 8),
                          at<&M::hop_limit>(93, 8),
                          at<&M::sl>(94, 0, 4),
                          at<&M::subnet_local>(94, 4, 1),
                          at<&M::local_ack_timeout>(95, 0, 5),
                          at<&M::private_data>(140, 92 * 8)};
    }
};
static_assert(is_sound<Req>(kCmBytes));

/// Message receipt acknowledgement: an answer will take a while.
struct Mra {
    static constexpr Attribute attribute = Attribute::Mra;

    CommId local_comm_id = 0, remote_comm_id = 0;
    Answered answered = Answered::Req;
    uint8_t service_timeout = 0;
    std::array<uint8_t, 222> private_data{};

    static constexpr auto fields() noexcept {
        using M = Mra;
        return std::tuple{at<&M::local_comm_id>(0, 32), at<&M::remote_comm_id>(4, 32), at<&M::answered>(8, 0, 2),
                          at<&M::service_timeout>(9, 0, 5), at<&M::private_data>(10, 222 * 8)};
    }
};
static_assert(is_sound<Mra>(kCmBytes));

/// Reject.
struct Rej {
    static constexpr Attribute attribute = Attribute::Rej;

    CommId local_comm_id = 0, remote_comm_id = 0;
    Answered answered = Answered::Req;
    uint8_t info_length = 0;
    RejectReason reason = RejectReason::ConsumerDefined;
    std::array<uint8_t, 72> additional_info{};
    std::array<uint8_t, 148> private_data{};

    static constexpr auto fields() noexcept {
        using M = Rej;
        return std::tuple{at<&M::local_comm_id>(0, 32),     at<&M::remote_comm_id>(4, 32),
                          at<&M::answered>(8, 0, 2),        at<&M::info_length>(9, 0, 7),
                          at<&M::reason>(10, 16),           at<&M::additional_info>(12, 72 * 8),
                          at<&M::private_data>(84, 148 * 8)};
    }
};
static_assert(is_sound<Rej>(kCmBytes));

/// Reply to a request for communication.
struct Rep {
    static constexpr Attribute attribute = Attribute::Rep;

    CommId local_comm_id = 0, remote_comm_id = 0;
    uint32_t local_qkey = 0, local_qpn = 0, starting_psn = 0;
    uint8_t responder_resources = 0, initiator_depth = 0;
    uint8_t target_ack_delay = 0, failover_accepted = 0;
    bool flow_control = false;
    uint8_t rnr_retry_count = 0;
    bool srq = false;
    uint64_t local_ca_guid = 0;
    std::array<uint8_t, 196> private_data{};
    uint8_t vendor_id_high = 0, vendor_id_middle = 0, vendor_id_low = 0;  ///< ECE

    void set_vendor_id(uint32_t id) noexcept {
        vendor_id_high = static_cast<uint8_t>(id >> 16);
        vendor_id_middle = static_cast<uint8_t>(id >> 8);
        vendor_id_low = static_cast<uint8_t>(id);
    }
    [[nodiscard]] uint32_t vendor_id() const noexcept {
        return uint32_t{vendor_id_high} << 16 | uint32_t{vendor_id_middle} << 8 | vendor_id_low;
    }

    static constexpr auto fields() noexcept {
        using M = Rep;
        return std::tuple{
            at<&M::local_comm_id>(0, 32),   at<&M::remote_comm_id>(4, 32),      at<&M::local_qkey>(8, 32),
            at<&M::local_qpn>(12, 24),      at<&M::vendor_id_high>(15, 8),      at<&M::vendor_id_middle>(19, 8),
            at<&M::starting_psn>(20, 24),   at<&M::vendor_id_low>(23, 8),       at<&M::responder_resources>(24, 8),
            at<&M::initiator_depth>(25, 8), at<&M::target_ack_delay>(26, 0, 5), at<&M::failover_accepted>(26, 5, 2),
            at<&M::flow_control>(26, 7, 1), at<&M::rnr_retry_count>(27, 0, 3),  at<&M::srq>(27, 3, 1),
            at<&M::local_ca_guid>(28, 64),  at<&M::private_data>(36, 196 * 8)};
    }
};
static_assert(is_sound<Rep>(kCmBytes));

/// RTU (ready to use) and DREP (reply to a request for release) are the two ids alone.
template <Attribute Which>
struct IdsOnly {
    static constexpr Attribute attribute = Which;

    CommId local_comm_id = 0, remote_comm_id = 0;
    std::array<uint8_t, 224> private_data{};

    static constexpr auto fields() noexcept {
        using M = IdsOnly;
        return std::tuple{at<&M::local_comm_id>(0, 32), at<&M::remote_comm_id>(4, 32),
                          at<&M::private_data>(8, 224 * 8)};
    }
};
using Rtu = IdsOnly<Attribute::Rtu>;
using Drep = IdsOnly<Attribute::Drep>;
static_assert(is_sound<Rtu>(kCmBytes));

/// Request for communication release.
struct Dreq {
    static constexpr Attribute attribute = Attribute::Dreq;

    CommId local_comm_id = 0, remote_comm_id = 0;
    uint32_t remote_qpn = 0;
    std::array<uint8_t, 220> private_data{};

    static constexpr auto fields() noexcept {
        using M = Dreq;
        return std::tuple{at<&M::local_comm_id>(0, 32), at<&M::remote_comm_id>(4, 32), at<&M::remote_qpn>(8, 24),
                          at<&M::private_data>(12, 220 * 8)};
    }
};
static_assert(is_sound<Dreq>(kCmBytes));

/// Load alternate path: of its fields those by which a connection is found.
struct Lap {
    static constexpr Attribute attribute = Attribute::Lap;

    CommId local_comm_id = 0, remote_comm_id = 0;
    std::array<uint8_t, 56> path{};
    std::array<uint8_t, 168> private_data{};

    static constexpr auto fields() noexcept {
        using M = Lap;
        return std::tuple{at<&M::local_comm_id>(0, 32), at<&M::remote_comm_id>(4, 32), at<&M::path>(8, 56 * 8),
                          at<&M::private_data>(64, 168 * 8)};
    }
};
static_assert(is_sound<Lap>(kCmBytes));

/// Service id resolution request: which QP serves this id?
struct SidrReq {
    static constexpr Attribute attribute = Attribute::SidrReq;

    CommId request_id = 0;
    uint16_t pkey = 0xFFFF;
    uint64_t service_id = 0;
    std::array<uint8_t, 216> private_data{};

    static constexpr auto fields() noexcept {
        using M = SidrReq;
        return std::tuple{at<&M::request_id>(0, 32), at<&M::pkey>(4, 16), at<&M::service_id>(8, 64),
                          at<&M::private_data>(16, 216 * 8)};
    }
};
static_assert(is_sound<SidrReq>(kCmBytes));

/// Its reply.
struct SidrRep {
    static constexpr Attribute attribute = Attribute::SidrRep;

    CommId request_id = 0;
    SidrStatus status = SidrStatus::Success;
    uint8_t info_length = 0;
    uint32_t qpn = 0;
    uint64_t service_id = 0;
    uint32_t qkey = 0;
    std::array<uint8_t, 72> additional_info{};
    std::array<uint8_t, 136> private_data{};

    static constexpr auto fields() noexcept {
        using M = SidrRep;
        return std::tuple{at<&M::request_id>(0, 32),           at<&M::status>(4, 8),
                          at<&M::info_length>(5, 8),           at<&M::qpn>(8, 24),
                          at<&M::service_id>(12, 64),          at<&M::qkey>(20, 32),
                          at<&M::additional_info>(24, 72 * 8), at<&M::private_data>(96, 136 * 8)};
    }
};
static_assert(is_sound<SidrRep>(kCmBytes));

/// Private data that a consumer may give, by message. REQ and SIDR_REQ of rdma_cm begin with an IpCmHeader.
template <class Message>
inline constexpr size_t kPrivateBytes = std::tuple_size_v<decltype(Message::private_data)>;

}  // namespace simverbs::cm
