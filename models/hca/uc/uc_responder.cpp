#include "models/hca/uc/uc_responder.hpp"

#include "models/hca/transport/header_checks.hpp"

namespace simverbs::hca {

void UcResponder::on_request(const wire::Packet& packet, const wire::OpcodeInfo& info, sim::SimTime now) {
    const wire::Psn psn(packet.psn);
    const UcVerdict verdict = decide_uc_packet(rs_.expected_psn, rs_.inbound, info, psn);
    if (psn != rs_.expected_psn) ++d_.ports[qp_.port_index]->hw.out_of_sequence;
    rs_.expected_psn = psn.next();
    if (verdict == UcVerdict::DropPacket || !payload_length_ok(info, packet.payload_bytes, qp_.mtu)) {
        drop_message();
        return;
    }
    if (info.starts_message()) {
        rs_.received = 0;
        const bool write = info.operation == wire::Operation::Write;
        rs_.inbound = write ? InboundMessage::Write : InboundMessage::Send;
        if (write) {
            ++d_.ports[qp_.port_index]->hw.rx_write_requests;
            const InboundFault fault = begin_write(d_, qp_, packet);
            if (fault.check != Check::None) {
                drop_message();
                return;
            }
        }
    }
    if (info.consumes_receive_wqe && !d_.take_receive(qp_, now)) {
        drop_message();
        return;
    }
    const InboundFault fault = take_payload(d_, qp_, packet, info, now);
    if (fault.check != Check::None) {
        on_fault(fault, packet, now);
        return;
    }
    if (info.ends_message()) end_message(d_, qp_, packet, info, now);
}

void UcResponder::on_fault(const InboundFault& fault, const wire::Packet& packet, sim::SimTime now) {
    if (rs_.inbound == InboundMessage::Write) {
        drop_message();
        return;
    }
    // The receive WQE itself is at fault: it completes in error.
    Incident incident = d_.incident_of(qp_, fault.check, packet, now);
    incident.va = fault.va;
    incident.length = fault.length;
    incident.key = fault.key;
    incident.status = d_.receive_status_of(fault.check);
    d_.fail_receive(qp_, incident, std::nullopt, now);
}

}  // namespace simverbs::hca
