// A tap on a port.
#pragma once

#include <cstdint>

#include "models/wire/packet.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::link {

enum class Direction : uint8_t { Out, In };

/// Sees each packet of one port: Out when its transmission starts, In when the port takes it (after faults of the
/// link). Called in the node's event order, so times of one port never decrease. The packet's extra record is still
/// there.
class PacketObserver {
  public:
    virtual ~PacketObserver() = default;
    virtual void on_packet(sim::SimTime time, const wire::Packet& packet, Direction direction) = 0;
};

}  // namespace simverbs::link
