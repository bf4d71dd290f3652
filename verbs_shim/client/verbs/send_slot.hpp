// Writing one WQE into a send queue's slot. Nothing is visible to the HCA before the ring's `produced` moves.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs_shim/client/verbs/objects.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::verbs {

inline protocol::WireSge* sges_of(protocol::SendSlot& slot) noexcept {
    return reinterpret_cast<protocol::WireSge*>(&slot + 1);
}
inline uint8_t* inline_data_of(protocol::SendSlot& slot) noexcept {
    return reinterpret_cast<uint8_t*>(&slot + 1);
}

/// The next free slot, `taken` WQEs after what was posted, cleared; null if the queue is full.
protocol::SendSlot* claim_send_slot(Qp& qp, uint32_t taken) noexcept;

/// Makes `count` WQEs visible to the HCA and rings the doorbell.
void publish_sends(Qp& qp, uint32_t count);

/// Address range and keys of a bind; 0 or an errno.
int fill_bind(protocol::SendSlot& slot, const ibv_mw* mw, uint32_t rkey, const ibv_mw_bind_info& info) noexcept;

}  // namespace simverbs::client::verbs
