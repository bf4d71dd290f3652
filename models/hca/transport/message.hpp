// What a requester keeps of a work request while it is outstanding.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/hca/verbs_types.hpp"
#include "models/wire/packet_extra.hpp"
#include "models/wire/psn.hpp"

namespace simverbs::hca {

/// One outstanding message. The ring of messages of a verbs QP runs parallel to its send queue.
struct Message {
    uint32_t length = 0;
    uint32_t packets = 0;    ///< PSNs that it takes
    wire::Psn first_psn;     ///< once started
    uint32_t responses = 0;  ///< READ, atomic: responses received in order
    wire::StreamId stream = wire::kNoStream;
    uint32_t stream_base = 0;  ///< offset in the message where the stream begins
    WrOpcode opcode = WrOpcode::Send;
    uint8_t send_flags = 0;  ///< SendFlags
    bool started = false;    ///< has its PSNs
    uint32_t ssn = 0;        ///< send sequence number: counts messages
    uint64_t cookie = 0;     ///< flows only

    /// Answered by more than an acknowledge: counts against max_rd_atomic.
    [[nodiscard]] bool has_responses() const noexcept { return fills_sges() || opcode == WrOpcode::AtomicWrite; }
    /// Its SGEs are where the answer goes, not what is sent.
    [[nodiscard]] bool fills_sges() const noexcept {
        return opcode == WrOpcode::RdmaRead || opcode == WrOpcode::AtomicCmpAndSwp ||
               opcode == WrOpcode::AtomicFetchAndAdd;
    }
    /// Executed inside the adapter: no packets, no PSNs.
    [[nodiscard]] bool is_local() const noexcept { return opcode == WrOpcode::BindMw || opcode == WrOpcode::LocalInv; }
    [[nodiscard]] wire::Psn last_psn() const noexcept { return first_psn + static_cast<int32_t>(packets - 1); }
    [[nodiscard]] bool contains(wire::Psn psn) const noexcept {
        const auto d = wire::Psn::distance(first_psn, psn);
        return d >= 0 && d < static_cast<int32_t>(packets);
    }
};
static_assert(sizeof(Message) <= 48);

/// What an atomic reads or writes.
inline constexpr uint32_t kAtomicBytes = 8;

/// Packets of a message of `length` bytes: at least one.
[[nodiscard]] constexpr uint32_t packets_for(uint32_t length, uint32_t mtu) noexcept {
    return std::max<uint32_t>(1, (length + mtu - 1) / mtu);
}

}  // namespace simverbs::hca
