// One port of the adapter: its queues towards the wire, and its counters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "models/hca/hca_config.hpp"
#include "models/hca/transport/fifo.hpp"
#include "models/link/flow_control_end.hpp"
#include "models/link/ports.hpp"
#include "models/wire/packet.hpp"
#include "sim/link_ring.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// Names as in sysfs `counters`.
struct PortCounters {
    uint64_t xmit_bytes = 0, xmit_packets = 0, rcv_bytes = 0, rcv_packets = 0;
    uint64_t multicast_xmit_packets = 0, multicast_rcv_packets = 0;
    uint64_t rcv_errors = 0, xmit_discards = 0;
    uint64_t bad_pkey = 0, qkey_violations = 0;
};

/// Names as in sysfs `hw_counters`.
struct HwCounters {
    uint64_t duplicate_request = 0, implied_nak_seq_err = 0, local_ack_timeout_err = 0, out_of_buffer = 0;
    uint64_t out_of_sequence = 0, packet_seq_err = 0, req_cqe_error = 0, req_cqe_flush_error = 0;
    uint64_t req_remote_access_errors = 0, req_remote_invalid_request = 0, resp_cqe_error = 0;
    uint64_t resp_cqe_flush_error = 0, resp_local_length_error = 0, resp_remote_access_errors = 0;
    uint64_t rnr_nak_retry_err = 0, rx_atomic_requests = 0, rx_read_requests = 0, rx_write_requests = 0;
    uint64_t rx_icrc_encapsulated = 0, np_cnp_sent = 0, rp_cnp_handled = 0, np_ecn_marked_roce_packets = 0;
};

/// What a packet in the port's pipeline is, beside its bytes.
enum class TxKind : uint8_t { Request, Response, Ack, Management };

struct TxEntry {
    sim::SimTime ready = sim::SimTime::max();  ///< max(): its payload is still being read
    sim::SimTime not_before;                   ///< message rate limit
    wire::Packet packet;
    uint32_t wire_bytes = 0;
    uint32_t qp_slot = 0;
    uint32_t message = 0;  ///< Request: number of its message
    TxKind kind = TxKind::Request;
    bool completes = false;   ///< UC, UD: the message is done once this has left
    bool arms_timer = false;  ///< asks for an answer
};

struct RxEntry {
    sim::SimTime at = sim::SimTime::max();  ///< when the transport sees it
    wire::Packet packet;
};

/// What a port of a link with flow control has beside its queues: packets whose priority may not send lie aside, so
/// that the others pass them.
struct FlowGate {
    static constexpr uint32_t kPriorities = 16;

    link::FlowControlEnd control;
    sim::SimTime opened;                    ///< when a priority was last let go
    uint32_t held_acks = 0, held_data = 0;  ///< priorities with packets aside
    std::array<Fifo<TxEntry>, kPriorities> acks;
    std::array<Fifo<TxEntry>, kPriorities> data;
    std::array<Fifo<uint32_t>, kPriorities> parked;  ///< entries of Port::ready that could only add to them
};

struct Port {
    const HcaPortConfig* config = nullptr;
    uint8_t index = 0;
    bool is_loopback = false;
    PortState state = PortState::Active;  ///< what is told of it; whether packets pass is the link's matter
    link::EgressPort egress;
    link::IngressPort ingress;
    // towards the wire
    Fifo<TxEntry> data;
    Fifo<TxEntry> acks;
    uint32_t unread = 0;       ///< number of the first entry of `data` that may still wait for its DMA read
    uint32_t ahead_bytes = 0;  ///< payload in `data`
    bool pumping = false;
    Fifo<uint32_t> ready;  ///< round robin: QP slot × 2 + (0 requester, 1 responder)
    sim::SimTime busy_until;
    std::unique_ptr<FlowGate> gate;  ///< null: the link has no flow control
    // from the wire: packets that came through faults, or through the loopback
    sim::LinkRing<RxEntry, &RxEntry::at> rx;
    sim::SimTime last_rx;
    // times of the port's next events, kept up to date by whoever changes them
    sim::SimTime wire_at = sim::SimTime::max();  ///< the wire's next packet at the transport; max(): look
    sim::SimTime transmit_at = sim::SimTime::max();
    PortCounters counters;
    HwCounters hw;
};

}  // namespace simverbs::hca
