// The QP state table once more, as text: what the reference model believes about ibv_modify_qp. Written from
// include/rdma's table (release in docs/spec), without a look at models/hca/qp.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/hca/verbs_types.hpp"

namespace simverbs::test::model {

/// A row for some types: attributes beyond STATE that must and that may be there.
struct TransitionRule {
    hca::QpState from, to;
    std::string_view types;  ///< letters: R RC, C UC, D UD
    uint32_t required, optional;
};

namespace rules {
using namespace hca;
inline constexpr uint32_t kInitMust = kPkeyIndex | kPort | kAccessFlags;
inline constexpr uint32_t kDatagramInit = kPkeyIndex | kPort | kQkey;
inline constexpr uint32_t kConnect = kAv | kPathMtu | kDestQpn | kRqPsn;
inline constexpr uint32_t kRcSend = kTimeout | kRetryCnt | kRnrRetry | kSqPsn | kMaxQpRdAtomic;
inline constexpr uint32_t kRtsMayUc = kCurState | kAltPath | kAccessFlags | kPathMigState;
inline constexpr uint32_t kRtsMayRc = kRtsMayUc | kMinRnrTimer;
inline constexpr uint32_t kSqdMayUc = kAv | kAltPath | kAccessFlags | kPkeyIndex | kPathMigState;
inline constexpr uint32_t kSqdMayRc =
    kSqdMayUc | kPort | kTimeout | kRetryCnt | kRnrRetry | kMaxQpRdAtomic | kMaxDestRdAtomic | kMinRnrTimer;
inline constexpr TransitionRule kTable[] = {
    {QpState::Reset, QpState::Init, "RC", kInitMust, 0},
    {QpState::Reset, QpState::Init, "D", kDatagramInit, 0},
    {QpState::Init, QpState::Init, "RC", 0, kInitMust},
    {QpState::Init, QpState::Init, "D", 0, kDatagramInit},
    {QpState::Init, QpState::Rtr, "R", kConnect | kMaxDestRdAtomic | kMinRnrTimer,
     kAltPath | kAccessFlags | kPkeyIndex},
    {QpState::Init, QpState::Rtr, "C", kConnect, kAltPath | kAccessFlags | kPkeyIndex},
    {QpState::Init, QpState::Rtr, "D", 0, kPkeyIndex | kQkey},
    {QpState::Rtr, QpState::Rts, "R", kRcSend, kRtsMayRc},
    {QpState::Rtr, QpState::Rts, "C", kSqPsn, kRtsMayUc},
    {QpState::Rtr, QpState::Rts, "D", kSqPsn, kCurState | kQkey},
    {QpState::Rts, QpState::Rts, "R", 0, kRtsMayRc},
    {QpState::Rts, QpState::Rts, "C", 0, kRtsMayUc},
    {QpState::Rts, QpState::Rts, "D", 0, kCurState | kQkey},
    {QpState::Rts, QpState::Sqd, "RCD", 0, kEnSqdAsyncNotify},
    {QpState::Sqd, QpState::Rts, "R", 0, kRtsMayRc},
    {QpState::Sqd, QpState::Rts, "C", 0, kRtsMayUc},
    {QpState::Sqd, QpState::Rts, "D", 0, kCurState | kQkey},
    {QpState::Sqd, QpState::Sqd, "R", 0, kSqdMayRc},
    {QpState::Sqd, QpState::Sqd, "C", 0, kSqdMayUc},
    {QpState::Sqd, QpState::Sqd, "D", 0, kPkeyIndex | kQkey},
    {QpState::Sqe, QpState::Rts, "C", 0, kCurState | kAccessFlags},
    {QpState::Sqe, QpState::Rts, "D", 0, kCurState | kQkey},
};
}  // namespace rules

[[nodiscard]] constexpr char letter_of(hca::QpType type) noexcept {
    return type == hca::QpType::Rc ? 'R' : type == hca::QpType::Uc ? 'C' : 'D';
}

/// Is there such a transition, and with which attributes? False if there is none.
[[nodiscard]] constexpr bool find_rule(hca::QpType type, hca::QpState from, hca::QpState to, uint32_t& required,
                                       uint32_t& optional) noexcept {
    required = optional = 0;
    if (to == hca::QpState::Reset) return true;
    if (to == hca::QpState::Err) return from != hca::QpState::Reset;
    for (const TransitionRule& rule : rules::kTable) {
        if (rule.from != from || rule.to != to || rule.types.find(letter_of(type)) == std::string_view::npos) continue;
        required = rule.required;
        optional = rule.optional;
        return true;
    }
    return false;
}

/// The whole verdict about mask and values, on a RoCE device with one port, one P_Key and an active MTU of 4096.
[[nodiscard]] constexpr bool modify_is_ok(hca::QpType type, hca::QpState now, const hca::QpAttr& a, uint32_t mask) {
    using namespace hca;
    const auto has = [mask](uint32_t bit) { return (mask & bit) != 0; };
    if (has(kAltPath)) return false;
    const bool may_claim = a.cur_qp_state == QpState::Rtr || a.cur_qp_state == QpState::Rts ||
                           a.cur_qp_state == QpState::Sqd || a.cur_qp_state == QpState::Sqe;
    if (has(kCurState) && (!may_claim || a.cur_qp_state != now)) return false;
    uint32_t required = 0, optional = 0;
    const QpState to = has(kState) ? a.qp_state : now;
    if (!find_rule(type, now, to, required, optional)) return false;
    if ((mask & required) != required || (mask & ~(required | optional | kState)) != 0) return false;
    return !(has(kPort) && a.port_num != 1) && !(has(kPkeyIndex) && a.pkey_index != 0) &&
           !(has(kPathMtu) && (a.path_mtu < 1 || a.path_mtu > 5)) && !(has(kTimeout) && a.timeout > 31) &&
           !(has(kRetryCnt) && a.retry_cnt > 7) && !(has(kRnrRetry) && a.rnr_retry > 7) &&
           !(has(kMinRnrTimer) && a.min_rnr_timer > 31) && !(has(kMaxQpRdAtomic) && a.max_rd_atomic > 16) &&
           !(has(kMaxDestRdAtomic) && a.max_dest_rd_atomic > 16) && !(has(kPathMigState) && a.path_mig_state > 2);
}

}  // namespace simverbs::test::model
