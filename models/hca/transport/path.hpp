// Where a QP's or an address handle's packets go, resolved once.
#pragma once

#include <cstdint>

#include "models/hca/verbs_types.hpp"
#include "models/wire/packet.hpp"

namespace simverbs::hca {

/// A resolved address vector.
struct Path {
    wire::LeafId leaf = 0;
    uint8_t port_index = 0;  ///< of the sending port, from 0
    uint8_t framing = 0;
    uint8_t priority = 0;
    uint8_t hop_limit = 64;
    uint16_t flow_hash = 0;
    bool loopback = false;  ///< to the same port: through the adapter's internal loopback
    bool multicast = false;
    bool has_grh = false;
    uint8_t traffic_class = 0, sl = 0, path_bits = 0, sgid_index = 0;
    uint16_t dlid = 0;
    uint32_t flow_label = 0;
    Gid dgid{};
};

}  // namespace simverbs::hca
