// Is this modify_qp legal? Pure: nothing changes here.
#pragma once

#include <cstdint>

#include "models/hca/explanation.hpp"
#include "models/hca/verbs_types.hpp"

namespace simverbs::hca {

/// Outcome of a check: the first rule that is broken, in the kernel's order, and by which attributes.
struct TransitionVerdict {
    Rule rule = Rule::None;
    uint32_t attributes = 0;  ///< the offending QpAttrMask bits
    QpState to = QpState::Reset;
};

/// Attributes that an end of XRC does not have are left out without a word, so that programs can treat both ends like
/// an RC QP. Source: the kernel's modify_qp_mask.
[[nodiscard]] constexpr uint32_t mask_of_type(QpType type, uint32_t mask) noexcept {
    if (type == QpType::XrcSend) return mask & ~uint32_t{kMaxDestRdAtomic | kMinRnrTimer};
    if (type == QpType::XrcRecv) return mask & ~uint32_t{kMaxQpRdAtomic | kRetryCnt | kRnrRetry};
    return mask;
}

/// Checks state, transition, required and allowed attributes (IBTA tables; order as in the kernel's
/// ib_modify_qp_is_ok and its callers).
[[nodiscard]] TransitionVerdict check_transition(QpType type, QpState current, const QpAttr& attr, uint32_t mask,
                                                 LinkLayer link_layer) noexcept;

/// A value outside of its range: attribute, what is allowed.
struct RangeVerdict {
    uint32_t attribute = 0;  ///< QpAttrMask bit, 0: all is well
    const char* allowed = nullptr;
    uint64_t given = 0;
};

/// Limits that attribute values are checked against.
struct QpAttrLimits {
    uint8_t port_count = 1;
    uint16_t pkey_table_length = 1;
    uint8_t port_active_mtu = 5;  ///< of the port in use, as verbs codes it
    uint8_t max_rd_atomic = 16, max_dest_rd_atomic = 16;
    bool all_checked = true;  ///< Behaviour::checks_attributes
};
/// Checks the values of the attributes in `mask` as an HCA does.
[[nodiscard]] RangeVerdict check_ranges(const QpAttr& attr, uint32_t mask, const QpAttrLimits& limits) noexcept;

}  // namespace simverbs::hca
