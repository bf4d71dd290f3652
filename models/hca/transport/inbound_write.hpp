// The steps of an inbound SEND or WRITE that RC and UC share.
#pragma once

#include <cstdint>

#include "models/hca/device.hpp"

namespace simverbs::hca {

/// What stopped an inbound packet; the transport decides what to do about it.
struct InboundFault {
    Check check = Check::None;
    uint64_t va = 0, length = 0;
    uint32_t key = 0;
};

/// Access flag on the QP, R_Key, bounds of a WRITE's whole range. A length of 0 skips the R_Key.
[[nodiscard]] InboundFault check_remote(const Device& d, const Qp& qp, uint64_t va, uint32_t rkey, uint64_t length,
                                        AccessFlags needed);

/// FIRST or ONLY of a WRITE: checks, and remembers where the bytes go.
[[nodiscard]] InboundFault begin_write(Device& d, Qp& qp, const wire::Packet& packet);

/// Payload of a SEND or WRITE packet into memory. Returns what is wrong with the receive WQE or the range.
[[nodiscard]] InboundFault take_payload(Device& d, Qp& qp, const wire::Packet& packet, const wire::OpcodeInfo& info,
                                        sim::SimTime now);

/// LAST or ONLY: completes the receive WQE if the message has one.
void end_message(Device& d, Qp& qp, const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now);

}  // namespace simverbs::hca
