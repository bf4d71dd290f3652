// The responder's half of a QP.
#pragma once

#include <cstdint>

#include "models/hca/transport/fifo.hpp"
#include "models/host/host_memory.hpp"
#include "models/wire/packet_extra.hpp"
#include "models/wire/psn.hpp"

namespace simverbs::hca {

/// What a responder keeps of a READ or atomic: to answer it, and to answer it again.
struct ResponseResource {
    wire::Psn first_psn;
    uint32_t packets = 1;
    uint32_t sent = 0;  ///< packets of the answer that were handed to the port
    uint32_t msn = 0;   ///< of the request
    uint64_t va = 0;
    uint32_t length = 0, rkey = 0;
    uint64_t atomic_result = 0;
    bool is_atomic = false;
    bool is_empty = false;  ///< of an ATOMIC WRITE: a READ response without payload
    bool ready = true;      ///< an atomic is not until it was executed
    bool failed = false;    ///< an atomic whose memory could not be reached
    wire::StreamId stream = wire::kNoStream;
    uint32_t stream_base = 0;
};

enum class InboundMessage : uint8_t { None, Send, Write };

/// Hot state of a responder.
struct Responder {
    wire::Psn expected_psn;
    uint32_t msn = 0;  ///< 24 bits on the wire
    InboundMessage inbound = InboundMessage::None;
    bool nak_outstanding = false;  ///< a NAK was sent; silence until expected_psn comes
    bool queued = false;           ///< in the port's round robin
    bool ack_pending = false;      ///< behind the responses that are still to be sent
    uint8_t pending_syndrome = 0;
    bool closing = false;           ///< in ERR, but answers and a NAK are still owed
    bool comm_established = false;  ///< told that a packet came before RTS
    bool has_wqe = false;           ///< a receive WQE has been taken for the inbound message
    wire::Psn pending_ack_psn;
    uint32_t ack_number = 0;  ///< of the last acknowledge in the port's queue
    bool ack_queued = false;
    uint32_t responses_in_pipeline = 0;  ///< handed to the port, not on the wire yet
    // WRITE: what is left of the RETH's range; SEND: bytes so far
    uint64_t va = 0;
    uint32_t remaining = 0, received = 0;
    uint32_t rkey = 0, mr_epoch = 0;
    host::AddressSpaceId space = 0;
    uint64_t host_va = 0;  ///< where `va` is in the process
};

}  // namespace simverbs::hca
