// ibv_modify_qp: checks in the kernel's order, then the change.
#include <algorithm>
#include <bit>

#include "models/hca/device.hpp"
#include "models/hca/qp/qp_transition_check.hpp"
#include "models/hca/rc/rc_requester.hpp"
#include "models/hca/rc/rc_responder.hpp"
#include "models/wire/aeth_syndrome.hpp"

namespace simverbs::hca {

namespace {

std::string transition_text(const Qp& qp, QpState to) {
    char number[16];
    std::snprintf(number, sizeof number, "0x%06x", qp.qpn);
    return std::string("ibv_modify_qp of ") + name_of(qp.type) + " QP " + number + ", " + name_of(qp.state) + " -> " +
           name_of(to);
}

int refuse_transition(const ControlContext& by, const Qp& qp, const TransitionVerdict& v) {
    return refuse(by, EINVAL, v.rule, [&](Explanation& e) {
        e.where = transition_text(qp, v.to);
        e.attribute = names_of_attr_mask(v.attributes);
        if (v.rule == Rule::AttributeMissing) {
            e.required = e.attribute;
            e.advice = "set the attribute and add it to attr_mask";
        } else if (v.rule == Rule::AttributeNotAllowed) {
            e.advice = "remove it from attr_mask";
        } else if (v.rule == Rule::NoSuchTransition) {
            e.advice = "the way is RESET -> INIT -> RTR -> RTS; every state may go to RESET, all but RESET to ERR";
        }
    });
}

/// An index beyond the table, where an adapter takes it, means the default P_Key.
uint16_t pkey_at(const HcaPortConfig& port, uint16_t index) noexcept {
    return port.pkeys[index < port.pkeys.size() ? index : 0];
}

constexpr uint32_t kKnownMask = kState | kCurState | kEnSqdAsyncNotify | kAccessFlags | kPkeyIndex | kPort | kQkey |
                                kAv | kPathMtu | kTimeout | kRetryCnt | kRnrRetry | kRqPsn | kMaxQpRdAtomic | kAltPath |
                                kMinRnrTimer | kSqPsn | kMaxDestRdAtomic | kPathMigState | kCap | kDestQpn | kRateLimit;

}  // namespace

int Hca::modify_qp(const ControlContext& by, uint32_t qp_num, const QpAttr& attr, uint32_t given_mask) {
    Device& d = *device_;
    Qp* found = d.find_owned(by, qp_num);
    if (found == nullptr) return refuse(by, ENOENT, Rule::NoSuchObject, [](Explanation& e) { e.attribute = "qp"; });
    Qp& qp = *found;
    const uint32_t mask = mask_of_type(qp.type, given_mask);
    if ((mask & ~kKnownMask) != 0)
        return refuse(by, EOPNOTSUPP, Rule::AttributeNotAllowed, [](Explanation& e) { e.attribute = "attr_mask"; });

    const uint8_t port_num = (mask & kPort) != 0 ? attr.port_num : qp.verbs->attr.port_num;
    const auto port_count = static_cast<uint8_t>(d.config.ports.size());
    const size_t port_index = port_num >= 1 && port_num <= port_count ? port_num - 1U : 0U;
    const HcaPortConfig& port = d.config.ports[port_index];
    const TransitionVerdict verdict = check_transition(qp.type, qp.state, attr, mask, port.link_layer);
    if (verdict.rule != Rule::None) return refuse_transition(by, qp, verdict);

    QpAttrLimits limits;
    limits.port_count = port_count;
    limits.pkey_table_length = static_cast<uint16_t>(port.pkeys.size());
    limits.port_active_mtu = static_cast<uint8_t>(port.active_mtu);
    limits.max_rd_atomic = static_cast<uint8_t>(d.attr.max_qp_init_rd_atom);
    limits.max_dest_rd_atomic = static_cast<uint8_t>(d.attr.max_qp_rd_atom);
    limits.all_checked = d.profile.behaviour.checks_attributes;
    const RangeVerdict range = check_ranges(attr, mask, limits);
    if (range.attribute != 0)
        return refuse(by, EINVAL, Rule::AttributeOutOfRange, [&](Explanation& e) {
            e.where = transition_text(qp, verdict.to);
            e.attribute = names_of_attr_mask(range.attribute);
            e.required = range.allowed;
            e.given = std::to_string(range.given);
        });
    if ((mask & kPkeyIndex) != 0 && (pkey_at(port, attr.pkey_index) & 0x7FFF) == 0)
        return refuse(by, EINVAL, Rule::PkeyInvalid, [](Explanation& e) { e.attribute = "IBV_QP_PKEY_INDEX"; });

    Path path = qp.path;
    if ((mask & kAv) != 0) {
        const uint32_t remote = (mask & kDestQpn) != 0 ? attr.dest_qp_num : qp.dest_qpn;
        const uint8_t av_port = attr.ah_attr.port_num;
        if (const int error = d.resolve_path(by, attr.ah_attr, av_port, qp.qpn, remote & 0xFFFFFF, path); error != 0) {
            if (by.why != nullptr) by.why->where = transition_text(qp, verdict.to);
            return error;
        }
    }
    d.apply_attributes(qp, attr, mask, path);
    if (verdict.to != qp.state || (mask & kState) != 0) {
        if (verdict.to != qp.state) {
            Incident told = d.incident_of(qp, Check::None, by.now);
            told.to = verdict.to;
            told.by_program = true;
            d.report(told);
        }
        d.enter_state(qp, verdict.to, by.now);
    }
    d.wake();
    return 0;
}

void Device::apply_attributes(Qp& qp, const QpAttr& a, uint32_t mask, const Path& path) {
    QpAttr& kept = qp.verbs->attr;
    const auto has = [mask](uint32_t bit) { return (mask & bit) != 0; };
    if (has(kPort)) {
        kept.port_num = a.port_num;
        qp.port_index = static_cast<uint8_t>(a.port_num - 1);
    }
    if (has(kPkeyIndex)) {
        kept.pkey_index = a.pkey_index;
        qp.pkey = pkey_at(config.ports[qp.port_index], a.pkey_index);
    }
    if (has(kAccessFlags)) qp.access = kept.qp_access_flags = a.qp_access_flags;
    if (has(kQkey)) qp.qkey = kept.qkey = a.qkey;
    if (has(kAv)) {
        kept.ah_attr = a.ah_attr;
        qp.path = path;
        qp.port_index = path.port_index;
    }
    if (has(kPathMtu)) {
        kept.path_mtu = a.path_mtu;
        qp.mtu = bytes_of(static_cast<Mtu>(a.path_mtu));
    }
    if (has(kTimeout)) {
        qp.timeout = kept.timeout = a.timeout;
        const int64_t ps = wire::ack_timeout_picoseconds(a.timeout);
        qp.ack_timeout = ps == 0
                             ? sim::SimTime::max()
                             : sim::SimTime::ps(static_cast<int64_t>(static_cast<double>(ps) * timing.timeout_scale));
    }
    if (has(kRetryCnt)) qp.rq.retries = qp.retry_cnt = kept.retry_cnt = a.retry_cnt;
    if (has(kRnrRetry)) qp.rq.rnr_retries = qp.rnr_retry = kept.rnr_retry = a.rnr_retry;
    if (has(kMinRnrTimer)) qp.min_rnr_timer = kept.min_rnr_timer = a.min_rnr_timer;
    if (has(kMaxQpRdAtomic)) qp.max_rd_atomic = kept.max_rd_atomic = a.max_rd_atomic;
    if (has(kMaxDestRdAtomic)) {
        qp.max_dest_rd_atomic = kept.max_dest_rd_atomic = a.max_dest_rd_atomic;
        if (!qp.responses_waiting()) {
            qp.resources.assign(std::bit_ceil(std::max<uint32_t>(a.max_dest_rd_atomic, 1)), {});
            qp.resources_head = qp.resources_next = 0;
        }
    }
    if (has(kDestQpn)) qp.dest_qpn = kept.dest_qp_num = a.dest_qp_num & wire::Psn::kMask;
    if (has(kRqPsn)) {
        qp.rs.expected_psn = wire::Psn(a.rq_psn);
        kept.rq_psn = qp.rs.expected_psn.value();
    }
    if (has(kSqPsn)) {
        Requester& r = qp.rq;
        r.next_psn = r.una_psn = r.high_psn = wire::Psn(a.sq_psn);
        kept.sq_psn = r.next_psn.value();
    }
    // Asked for with each transition anew. Source: the kernel's mlx5 driver, "sqd_event".
    const bool enters_sqd = has(kState) && a.qp_state == QpState::Sqd && qp.state != QpState::Sqd;
    if (has(kEnSqdAsyncNotify) || enters_sqd)
        kept.en_sqd_async_notify = has(kEnSqdAsyncNotify) ? a.en_sqd_async_notify : 0;
    if (has(kPathMigState)) kept.path_mig_state = a.path_mig_state;
    if (has(kAltPath)) {
        kept.alt_ah_attr = a.alt_ah_attr;
        kept.alt_port_num = a.alt_port_num;
        kept.alt_timeout = a.alt_timeout;
        kept.alt_pkey_index = a.alt_pkey_index;
    }
    if (has(kRateLimit)) kept.rate_limit = a.rate_limit;
}

void Device::enter_state(Qp& qp, QpState to, sim::SimTime now) {
    switch (to) {
        case QpState::Reset:
            reset_qp(qp);
            break;
        case QpState::Err:
            if (qp.state != QpState::Err) enter_error(qp, false, now);
            return;
        case QpState::Sqd:
            if (qp.state != QpState::Sqd) qp.verbs->sq_drained_told = false;
            qp.state = to;
            note_drained(qp, now);
            return;
        case QpState::Rts:
            qp.state = to;
            make_requester_ready(qp, now);
            return;
        case QpState::Init:
        case QpState::Rtr:
        case QpState::Sqe:
            break;
    }
    qp.state = to;
}

/// RESET forgets everything: no completions, no memory of the peer. Counters of WQEs go on, so that what is still
/// inside the adapter cannot be mistaken for new work.
void Device::reset_qp(Qp& qp) {
    release_streams(qp);
    for (Message& m : qp.messages) m = Message{};
    qp.ack_timer.cancel();
    qp.rnr_timer.cancel();
    qp.pace_timer.cancel();
    qp.cnp_timer.cancel();
    qp.congestion.reset();
    VerbsQp& v = *qp.verbs;
    const uint32_t in_pipeline = qp.rs.responses_in_pipeline;
    const bool requester_queued = qp.rq.queued, responder_queued = qp.rs.queued;
    if (v.srq != nullptr && qp.rs.has_wqe) v.srq->queue.retire();
    if (qp.type == QpType::XrcRecv) {
        v.srq = nullptr;
        v.recv_cq = nullptr;
    }
    qp.rq = Requester{};
    qp.rs = Responder{};
    qp.rq.queued = requester_queued;
    qp.rs.queued = responder_queued;
    qp.rs.responses_in_pipeline = in_pipeline;
    qp.rq.una = qp.rq.cur = qp.rq.end = v.rung = v.posted;
    v.rq.clear();
    v.attr = QpAttr{};
    qp.replays.clear();
    qp.resources.assign(1, {});
    qp.resources_head = qp.resources_next = 0;
    qp.retry_cnt = qp.rnr_retry = qp.timeout = qp.min_rnr_timer = 0;
    qp.max_rd_atomic = qp.max_dest_rd_atomic = 0;
    qp.access = qp.qkey = 0;
    qp.ack_timeout = sim::SimTime::max();
    qp.pkey = 0xFFFF;
    last_fault.erase(qp.qpn);
}

}  // namespace simverbs::hca
