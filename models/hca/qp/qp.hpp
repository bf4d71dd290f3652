// A queue pair: the transport's hot state, and the verbs objects around it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/hca/hca.hpp"
#include "models/hca/qp/qp_congestion.hpp"
#include "models/hca/srq/receive_queue.hpp"
#include "models/hca/transport/message.hpp"
#include "models/hca/transport/path.hpp"
#include "models/hca/transport/requester.hpp"
#include "models/hca/transport/responder.hpp"
#include "models/hca/transport/work_source.hpp"
#include "models/wire/opcode.hpp"
#include "sim/timer.hpp"

namespace simverbs::hca {

struct Cq;

/// The part of a send WQE that only its execution needs.
struct SendWqe {
    uint64_t wr_id = 0, remote_addr = 0, compare_add = 0, swap = 0;
    uint32_t rkey = 0, imm_or_rkey = 0;
    uint32_t num_sge = 0, inline_bytes = 0;
    uint32_t ah = 0, remote_qpn = 0, remote_qkey = 0, remote_srqn = 0;
    uint32_t mw = 0, mw_rkey = 0, mw_mr = 0, mw_access = 0;
};

/// A range of memory that passed its checks.
struct ResolvedSge {
    host::AddressSpaceId space = 0;
    uint64_t va = 0;
    uint32_t length = 0;
};

/// The receive WQE that an inbound message fills.
struct CurrentReceive {
    uint64_t wr_id = 0;
    uint64_t capacity = 0;  ///< bytes of all its SGEs
    std::vector<Sge> sges;
    // where the last packet ended, so that the next need not search
    uint32_t sge = 0, sge_offset = 0, at = 0;
};

/// Queues, CQs and attributes: everything that a scenario's flow does not need.
struct VerbsQp {
    uint32_t owner = 0;
    QpInitAttr init;
    QpAttr attr;
    Cq* send_cq = nullptr;
    Cq* recv_cq = nullptr;
    Srq* srq = nullptr;             ///< XRC_RECV: that of the message in progress
    std::vector<uint32_t> openers;  ///< XRC_RECV: owners of further handles
    // send queue: parallel to Qp::messages
    std::vector<SendWqe> wqes;
    std::vector<Sge> sges;
    std::vector<uint8_t> inline_data;
    uint32_t posted = 0;                   ///< send WQEs ever posted
    uint32_t rung = 0;                     ///< of these, a doorbell has been rung for
    sim::SimTime last_post, last_receive;  ///< posts of a queue stay in order
    ReceiveQueue rq;
    CurrentReceive receive;
    std::vector<ResolvedSge> gather;  ///< scratch: SGEs of the message being sent
    std::vector<std::pair<Gid, uint16_t>> mcast;
    bool sq_drained_told = false;

    /// Room for inline data a WQE: an ATOMIC WRITE's eight bytes always fit.
    [[nodiscard]] uint32_t inline_stride() const noexcept { return std::max(init.cap.max_inline_data, kAtomicBytes); }
};

/// Which timer of a QP; together with the QP number the source of its expiry.
enum class QpTimer : uint8_t { Ack = 0, Rnr = 1, Pace = 2, Cnp = 3 };

struct Qp {
    uint32_t qpn = 0;
    uint32_t slot = 0;
    QpType type = QpType::Rc;
    QpState state = QpState::Reset;
    bool destroyed = false;  ///< a tombstone: still acknowledges what its peer sends again
    sim::SimTime destroyed_at;
    uint32_t mtu = 1024;
    uint32_t dest_qpn = 0;
    uint16_t pkey = 0xFFFF;
    uint8_t port_index = 0;
    uint8_t retry_cnt = 0, rnr_retry = 0, timeout = 0, min_rnr_timer = 0;
    uint8_t max_rd_atomic = 0, max_dest_rd_atomic = 0;
    uint32_t access = 0, qkey = 0, pd = 0;
    sim::SimTime ack_timeout = sim::SimTime::max();
    Path path;
    Requester rq;
    Responder rs;
    std::vector<Message> messages;  ///< a power of two of slots
    uint32_t message_mask = 0;
    // responder resources: the last max_dest_rd_atomic READs and atomics
    std::vector<ResponseResource> resources;
    uint32_t resources_head = 0, resources_next = 0;  ///< accepted, answered (counts)
    std::vector<ResponseResource> replays;            ///< answers to duplicates, oldest first
    sim::Timer ack_timer, rnr_timer, pace_timer, cnp_timer;
    std::unique_ptr<QpCongestion> congestion;  ///< once it has sent or been marked, where the adapter has an algorithm
    std::unique_ptr<VerbsQp> verbs;            ///< null for flows
    WorkSource* source = nullptr;              ///< null for verbs QPs

    /// Acknowledged and retransmitted: RC and both ends of XRC.
    [[nodiscard]] bool is_reliable() const noexcept {
        return type == QpType::Rc || type == QpType::XrcSend || type == QpType::XrcRecv;
    }
    /// Service bits of the opcodes that it sends.
    [[nodiscard]] wire::Transport transport() const noexcept {
        switch (type) {
            case QpType::Rc:
                return wire::Transport::Rc;
            case QpType::Uc:
                return wire::Transport::Uc;
            case QpType::Ud:
            case QpType::RawPacket:
                return wire::Transport::Ud;
            case QpType::XrcSend:
            case QpType::XrcRecv:
                return wire::Transport::Xrc;
        }
        return wire::Transport::Rc;
    }
    [[nodiscard]] Message& message(uint32_t number) noexcept { return messages[number & message_mask]; }
    [[nodiscard]] bool responses_waiting() const noexcept {
        return resources_next != resources_head || !replays.empty();
    }
    /// States in which requests are executed, and in which packets are accepted.
    [[nodiscard]] bool sends() const noexcept { return state == QpState::Rts || state == QpState::Sqd; }
    [[nodiscard]] bool receives() const noexcept {
        return state == QpState::Rtr || state == QpState::Rts || state == QpState::Sqd || state == QpState::Sqe;
    }
};

}  // namespace simverbs::hca
