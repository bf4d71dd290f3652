// Which of several equally good ports a packet takes, where it is not the flow's hash that says so.
#include <algorithm>
#include <bit>

#include "models/switch/switch.hpp"

namespace simverbs::fabric {

using sim::SimTime;
using wire::Packet;

PortIndex Switch::balance(const Packet& packet, const Port& in, SimTime now) {
    switch (config_.balancing) {
        case LoadBalancing::Ecmp:
            break;
        case LoadBalancing::PacketSpray:
            return table_.route(packet, in.rx_packets);
        case LoadBalancing::Flowlet: {
            const uint64_t hash =
                sim::mix64(uint64_t{packet.dest} << 40 | uint64_t{packet.dest_qp} << 16 | packet.flow_hash);
            FlowletEntry& entry = flowlets_[hash & (flowlets_.size() - 1)];
            if (now - entry.last > config_.flowlet_gap) ++entry.salt;
            entry.last = now;
            return table_.route(packet, entry.salt);
        }
        case LoadBalancing::Adaptive: {
            PortIndex best = kNoPort;
            SimTime best_wait = SimTime::max();
            for (const PortIndex p : table_.ports_of(packet.dest)) {
                const link::EgressPort& out = ports_[p].egress;
                SimTime wait = std::max(out.busy_until, now);
                for (uint32_t rest = out.backlog; rest != 0; rest &= rest - 1)
                    wait = wait + out.byte_time.of(static_cast<uint32_t>(
                                      queue_of(p, static_cast<uint32_t>(std::countr_zero(rest))).bytes));
                if (wait < best_wait) {
                    best_wait = wait;
                    best = p;
                }
            }
            return best;
        }
    }
    return table_.route(packet);
}

}  // namespace simverbs::fabric
