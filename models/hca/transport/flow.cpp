// Flows: QPs of scenarios, without verbs objects.
#include <bit>

#include "models/hca/device.hpp"
#include "models/wire/aeth_syndrome.hpp"

namespace simverbs::hca {

namespace {
/// Messages that a flow has outstanding at most; its memory is bounded by them.
constexpr uint32_t kFlowMessages = 16;
}  // namespace

uint32_t Hca::create_flow(QpType type, WorkSource* source) {
    Qp& qp = device_->new_qp(type);
    ++device_->live_qps;
    qp.source = source;
    qp.messages.resize(source != nullptr ? kFlowMessages : 1);
    qp.message_mask = static_cast<uint32_t>(qp.messages.size()) - 1;
    return qp.qpn;
}

int Hca::connect_flow(const ControlContext& by, uint32_t qp_num, const FlowPath& path) {
    Device& d = *device_;
    Qp* qp = d.find_qp(qp_num);
    if (qp == nullptr || qp->verbs != nullptr) return EINVAL;
    if (const int error = d.resolve_path(by, path.ah, path.ah.port_num, qp_num, path.dest_qpn, qp->path); error != 0)
        return error;
    qp->port_index = qp->path.port_index;
    qp->dest_qpn = path.dest_qpn;
    qp->mtu = bytes_of(path.mtu);
    qp->rq.next_psn = qp->rq.una_psn = qp->rq.high_psn = qp->rs.expected_psn = wire::Psn(path.first_psn);
    qp->timeout = path.timeout;
    qp->rq.retries = qp->retry_cnt = path.retry_cnt;
    qp->rq.rnr_retries = qp->rnr_retry = path.rnr_retry;
    qp->max_rd_atomic = qp->max_dest_rd_atomic = path.max_rd_atomic;
    qp->resources.assign(std::bit_ceil(std::max<uint32_t>(path.max_rd_atomic, 1)), {});
    const int64_t timeout = wire::ack_timeout_picoseconds(path.timeout);
    if (timeout != 0) qp->ack_timeout = sim::SimTime::ps(timeout);
    qp->state = QpState::Rts;
    if (qp->source != nullptr) wake_flow(qp_num, by.now);
    return 0;
}

void Hca::wake_flow(uint32_t qp_num, sim::SimTime t) {
    Device& d = *device_;
    Qp* qp = d.find_qp(qp_num);
    if (qp == nullptr) return;
    qp->pace_timer.set(t);
    d.node.engine().wake(d.node.id(), t);
}

}  // namespace simverbs::hca
