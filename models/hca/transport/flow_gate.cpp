// A port whose link has flow control: what may not be sent waits aside, so that other priorities pass it.
#include <bit>

#include "models/hca/device.hpp"

namespace simverbs::hca {

bool Device::take_permitted(Port& port, sim::SimTime now, TxEntry& entry, bool& is_ack) {
    FlowGate& gate = *port.gate;
    const link::ServiceMap& classes = port.config->classes;
    const auto may_go = [&](const TxEntry& e) {
        const uint32_t priority = classes[e.packet.priority];
        if (!gate.control.may_send(port.egress, priority, e.wire_bytes, now)) return false;
        gate.control.sent(priority, e.wire_bytes);
        return true;
    };
    for (const bool acks : {true, false}) {
        is_ack = acks;
        uint32_t& held = acks ? gate.held_acks : gate.held_data;
        auto& aside = acks ? gate.acks : gate.data;
        for (uint32_t rest = held & ~uint32_t{port.egress.blocked}; rest != 0;) {
            const auto priority = static_cast<uint32_t>(std::bit_width(rest) - 1);
            rest &= ~(1U << priority);
            if (!may_go(aside[priority].front())) continue;
            entry = aside[priority].front();
            aside[priority].pop();
            if (aside[priority].empty()) held &= ~(1U << priority);
            return true;
        }
        Fifo<TxEntry>& queue = acks ? port.acks : port.data;
        while (!queue.empty() && queue.front().ready <= now) {
            entry = queue.front();
            queue.pop();
            if (!acks) port.ahead_bytes -= entry.packet.payload_bytes;
            const uint32_t priority = classes[entry.packet.priority];
            if (((held >> priority) & 1) == 0 && may_go(entry)) return true;
            aside[priority].push(entry);
            held |= 1U << priority;
        }
    }
    return false;
}

bool Device::park_if_blocked(Port& port, const Qp& qp, uint32_t entity) {
    // A UD QP's next datagram has a priority of its own.
    const uint32_t priority = port.config->classes[qp.path.priority];
    if (qp.type == QpType::Ud || qp.type == QpType::RawPacket || ((port.egress.blocked >> priority) & 1) == 0)
        return false;
    port.gate->parked[priority].push(entity);
    return true;
}

void Device::on_flow_control(Port& port, sim::SimTime now) {
    FlowGate& gate = *port.gate;
    const uint32_t before = port.egress.blocked;
    gate.control.run(port.egress, now);
    const uint32_t opened = before & ~uint32_t{port.egress.blocked};
    if (opened == 0) return;
    gate.opened = now;
    for (uint32_t rest = opened; rest != 0; rest &= rest - 1) {
        Fifo<uint32_t>& parked = gate.parked[static_cast<size_t>(std::countr_zero(rest))];
        for (; !parked.empty(); parked.pop()) port.ready.push(parked.front());
    }
    port.transmit_at = next_transmit(port);
    pump(port, now);
}

void Device::give_credits(Port& port, const wire::Packet& packet, sim::SimTime now) {
    const uint32_t vl = port.config->peer_classes[packet.priority];
    port.gate->control.received(port.egress, vl, port.ingress.bytes_of(packet), now);
    port.busy_until = std::max(port.busy_until, port.egress.busy_until);
    port.transmit_at = next_transmit(port);
}

}  // namespace simverbs::hca
