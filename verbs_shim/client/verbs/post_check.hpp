// Which opcodes a QP type may send, and in which states a queue takes work.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace simverbs::client::verbs {

struct OpcodeRow {
    ibv_wr_opcode opcode;
    const char* name;
    bool rc, uc, ud, raw, xrc;
};

/// ibv_post_send(3), the table of opcodes and QP types, in its order.
inline constexpr OpcodeRow kOpcodes[] = {
    {IBV_WR_SEND, "IBV_WR_SEND", true, true, true, true, true},
    {IBV_WR_SEND_WITH_IMM, "IBV_WR_SEND_WITH_IMM", true, true, true, false, true},
    {IBV_WR_RDMA_WRITE, "IBV_WR_RDMA_WRITE", true, true, false, false, true},
    {IBV_WR_RDMA_WRITE_WITH_IMM, "IBV_WR_RDMA_WRITE_WITH_IMM", true, true, false, false, true},
    {IBV_WR_RDMA_READ, "IBV_WR_RDMA_READ", true, false, false, false, true},
    {IBV_WR_ATOMIC_CMP_AND_SWP, "IBV_WR_ATOMIC_CMP_AND_SWP", true, false, false, false, true},
    {IBV_WR_ATOMIC_FETCH_AND_ADD, "IBV_WR_ATOMIC_FETCH_AND_ADD", true, false, false, false, true},
    {IBV_WR_LOCAL_INV, "IBV_WR_LOCAL_INV", true, true, false, false, true},
    {IBV_WR_BIND_MW, "IBV_WR_BIND_MW", true, true, false, false, true},
    {IBV_WR_SEND_WITH_INV, "IBV_WR_SEND_WITH_INV", true, true, false, false, true},
    {IBV_WR_TSO, "IBV_WR_TSO", false, false, false, false, false},
    {IBV_WR_ATOMIC_WRITE, "IBV_WR_ATOMIC_WRITE", true, false, false, false, false},
};

constexpr const OpcodeRow* find_opcode(uint32_t opcode) noexcept {
    for (const auto& row : kOpcodes) {
        if (row.opcode == opcode) return &row;
    }
    return nullptr;
}

constexpr bool allows(const OpcodeRow& row, ibv_qp_type type) noexcept {
    switch (static_cast<int>(type)) {
        case IBV_QPT_RC:
            return row.rc;
        case IBV_QPT_UC:
            return row.uc;
        case IBV_QPT_UD:
            return row.ud;
        case IBV_QPT_RAW_PACKET:
            return row.raw;
        case IBV_QPT_XRC_SEND:
            return row.xrc;
        default:
            return false;
    }
}

static_assert(allows(*find_opcode(IBV_WR_RDMA_WRITE), IBV_QPT_UC) &&
              !allows(*find_opcode(IBV_WR_RDMA_READ), IBV_QPT_UC));
static_assert(allows(*find_opcode(IBV_WR_SEND), IBV_QPT_UD) && !allows(*find_opcode(IBV_WR_RDMA_WRITE), IBV_QPT_UD));

/// RTS takes work; SQD holds it; SQE and ERR flush it.
constexpr bool takes_sends(uint32_t state) noexcept {
    return state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE || state == IBV_QPS_ERR;
}
constexpr bool takes_receives(uint32_t state) noexcept {
    return state != IBV_QPS_RESET;
}

constexpr const char* name_of_type(uint32_t qp_type) noexcept {
    switch (qp_type) {
        case IBV_QPT_RC:
            return "RC";
        case IBV_QPT_UC:
            return "UC";
        case IBV_QPT_UD:
            return "UD";
        case IBV_QPT_RAW_PACKET:
            return "raw packet";
        case IBV_QPT_XRC_SEND:
            return "XRC send";
        case IBV_QPT_XRC_RECV:
            return "XRC receive";
        default:
            return "unknown";
    }
}
constexpr const char* name_of_state(uint32_t state) noexcept {
    constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    return state < 7 ? kNames[state] : "unknown";
}

/// Soft-RoCE, by what it has for a vendor. Its library looks at an atomic's address before the adapter does, leaves in
/// the queue what the kernel then refuses, and takes nothing out of a CQ.
constexpr bool is_soft_roce(uint32_t vendor_id) noexcept {
    return vendor_id == 0xffffff;
}

/// The errno of "more inline data than max_inline_data": mlx5 says ENOMEM, others EINVAL.
constexpr int inline_too_long_errno(uint32_t vendor_id) noexcept {
    return vendor_id == 0x02c9 ? 12 /* ENOMEM */ : 22 /* EINVAL */;
}

}  // namespace simverbs::client::verbs
