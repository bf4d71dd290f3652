#include "models/hca/qp/qp_transition_check.hpp"

#include "models/hca/qp/qp_state_table.hpp"

namespace simverbs::hca {

TransitionVerdict check_transition(QpType type, QpState current, const QpAttr& attr, uint32_t mask,
                                   LinkLayer link_layer) noexcept {
    const QpState from = (mask & kCurState) != 0 ? attr.cur_qp_state : current;
    const QpState to = (mask & kState) != 0 ? attr.qp_state : from;
    const auto broken = [&](Rule rule, uint32_t attributes) { return TransitionVerdict{rule, attributes, to}; };

    if ((mask & kAltPath) != 0 && link_layer != LinkLayer::InfiniBand)
        return broken(Rule::AttributeNotAllowed, kAltPath);
    if ((mask & kCurState) != 0) {
        if (attr.cur_qp_state > QpState::Err) return broken(Rule::AttributeOutOfRange, kCurState);
        if (from != QpState::Rtr && from != QpState::Rts && from != QpState::Sqd && from != QpState::Sqe)
            return broken(Rule::AttributeNotAllowed, kCurState);
        if (from != current) return broken(Rule::CurrentStateMismatch, kCurState);
    }
    if ((mask & kState) != 0 && attr.qp_state > QpState::Err) return broken(Rule::AttributeOutOfRange, kState);

    const QpTransition& cell = qp_transition(from, to);
    const auto column = static_cast<size_t>(table_type(type));
    // A reliable QP has no row out of SQE: such a cell is valid, but not for it.
    const bool no_row = from == QpState::Sqe && to == QpState::Rts && type != QpType::Ud && type != QpType::Uc &&
                        type != QpType::RawPacket;
    if (!cell.valid || no_row) return broken(Rule::NoSuchTransition, kState);
    const uint32_t required = cell.required[column];
    if ((mask & required) != required) return broken(Rule::AttributeMissing, required & ~mask);
    const uint32_t allowed = required | cell.optional[column] | kState;
    if ((mask & ~allowed) != 0) return broken(Rule::AttributeNotAllowed, mask & ~allowed);
    return {Rule::None, 0, to};
}

namespace {

/// ibv_rate: 0 is the port's own, then 2.5 Gb/s to 1200 Gb/s.
constexpr bool is_rate(uint8_t code) noexcept {
    constexpr uint8_t kFirst = 2, kLast = 24;
    return code == 0 || (code >= kFirst && code <= kLast);
}

}  // namespace

RangeVerdict check_ranges(const QpAttr& attr, uint32_t mask, const QpAttrLimits& limits) noexcept {
    const auto has = [mask](uint32_t bit) { return (mask & bit) != 0; };
    // Soft-RoCE takes some of them as they come.
    const auto checked = [&](uint32_t bit) { return has(bit) && limits.all_checked; };
    constexpr uint32_t kKnownAccess = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kMwBind | kZeroBased |
                                      kOnDemand | kHugetlb | kFlushGlobal | kFlushPersistent | kRelaxedOrdering;
    if (has(kPort) && (attr.port_num < 1 || attr.port_num > limits.port_count))
        return {kPort, "a port of the device, counted from 1", attr.port_num};
    if (checked(kPkeyIndex) && attr.pkey_index >= limits.pkey_table_length)
        return {kPkeyIndex, "an index into the port's P_Key table", attr.pkey_index};
    if (checked(kAccessFlags) && (attr.qp_access_flags & ~kKnownAccess) != 0)
        return {kAccessFlags, "a combination of IBV_ACCESS_* flags", attr.qp_access_flags};
    constexpr uint8_t kLargestMtu = static_cast<uint8_t>(Mtu::Mtu4096);
    const uint8_t most = limits.all_checked ? limits.port_active_mtu : kLargestMtu;
    if (has(kPathMtu) && (attr.path_mtu > most || (attr.path_mtu < 1 && limits.all_checked)))
        return {kPathMtu, "IBV_MTU_256 (1) up to the port's active MTU", attr.path_mtu};
    if (checked(kAv) && !is_rate(attr.ah_attr.static_rate))
        return {kAv, "an ibv_rate in ah_attr.static_rate: 0, or 2 to 24", attr.ah_attr.static_rate};
    if (has(kTimeout) && attr.timeout > 31) return {kTimeout, "0 to 31", attr.timeout};
    if (checked(kRetryCnt) && attr.retry_cnt > 7) return {kRetryCnt, "0 to 7", attr.retry_cnt};
    if (checked(kRnrRetry) && attr.rnr_retry > 7) return {kRnrRetry, "0 to 7 (7: for ever)", attr.rnr_retry};
    if (checked(kMinRnrTimer) && attr.min_rnr_timer > 31) return {kMinRnrTimer, "0 to 31", attr.min_rnr_timer};
    if (has(kMaxQpRdAtomic) && attr.max_rd_atomic > limits.max_rd_atomic)
        return {kMaxQpRdAtomic, "at most the device's max_qp_init_rd_atom", attr.max_rd_atomic};
    if (checked(kMaxDestRdAtomic) && attr.max_dest_rd_atomic > limits.max_dest_rd_atomic)
        return {kMaxDestRdAtomic, "at most the device's max_qp_rd_atom", attr.max_dest_rd_atomic};
    if (has(kPathMigState) && attr.path_mig_state > static_cast<uint8_t>(MigState::Armed))
        return {kPathMigState, "IBV_MIG_MIGRATED, IBV_MIG_REARM or IBV_MIG_ARMED", attr.path_mig_state};
    return {};
}

}  // namespace simverbs::hca
