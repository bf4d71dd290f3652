// Legal transitions of a QP, and the attributes that each requires and allows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/hca/verbs_types.hpp"

namespace simverbs::hca {

/// Columns of the table: QP types that share their rules.
enum class QpTableType : uint8_t { Ud, Raw, Uc, Rc, XrcIni, XrcTgt };
inline constexpr size_t kQpTableTypes = 6;
inline constexpr size_t kQpStates = 7;

/// One cell: masks of required and optional attributes, IBV_QP_STATE itself left out.
struct QpTransition {
    bool valid = false;
    std::array<uint32_t, kQpTableTypes> required{};
    std::array<uint32_t, kQpTableTypes> optional{};
};

/// Source: IBTA vol. 1, "QP/EE context transitions" and the attribute tables of Modify QP.
const QpTransition& qp_transition(QpState from, QpState to) noexcept;

/// Column of a QP type.
constexpr QpTableType table_type(QpType t) noexcept {
    switch (t) {
        case QpType::Rc:
            return QpTableType::Rc;
        case QpType::Uc:
            return QpTableType::Uc;
        case QpType::Ud:
            return QpTableType::Ud;
        case QpType::RawPacket:
            return QpTableType::Raw;
        case QpType::XrcSend:
            return QpTableType::XrcIni;
        case QpType::XrcRecv:
            return QpTableType::XrcTgt;
    }
    return QpTableType::Rc;
}

}  // namespace simverbs::hca
