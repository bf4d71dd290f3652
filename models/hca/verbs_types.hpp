// The vocabulary of verbs, as the model speaks it. Values equal those of <infiniband/verbs.h> (the shim's server
// asserts it), so that translation at the boundary is a cast; the model itself sees no rdma-core header.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/host/host_memory.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

enum class QpType : uint8_t { Rc = 2, Uc = 3, Ud = 4, RawPacket = 8, XrcSend = 9, XrcRecv = 10 };
enum class QpState : uint8_t { Reset = 0, Init = 1, Rtr = 2, Rts = 3, Sqd = 4, Sqe = 5, Err = 6 };
enum class MigState : uint8_t { Migrated = 0, Rearm = 1, Armed = 2 };
enum class LinkLayer : uint8_t { InfiniBand = 1, Ethernet = 2 };
enum class GidType : uint8_t { Ib = 0, RoceV1 = 1, RoceV2 = 2 };
enum class PortState : uint8_t { Nop = 0, Down = 1, Init = 2, Armed = 3, Active = 4 };
/// Path MTU as verbs codes it: 1 = 256 … 5 = 4096 bytes.
enum class Mtu : uint8_t { Mtu256 = 1, Mtu512 = 2, Mtu1024 = 3, Mtu2048 = 4, Mtu4096 = 5 };
constexpr uint32_t bytes_of(Mtu m) noexcept {
    return 128U << static_cast<unsigned>(m);
}

/// ibv_qp_attr_mask.
enum QpAttrMask : uint32_t {
    kState = 1 << 0,
    kCurState = 1 << 1,
    kEnSqdAsyncNotify = 1 << 2,
    kAccessFlags = 1 << 3,
    kPkeyIndex = 1 << 4,
    kPort = 1 << 5,
    kQkey = 1 << 6,
    kAv = 1 << 7,
    kPathMtu = 1 << 8,
    kTimeout = 1 << 9,
    kRetryCnt = 1 << 10,
    kRnrRetry = 1 << 11,
    kRqPsn = 1 << 12,
    kMaxQpRdAtomic = 1 << 13,
    kAltPath = 1 << 14,
    kMinRnrTimer = 1 << 15,
    kSqPsn = 1 << 16,
    kMaxDestRdAtomic = 1 << 17,
    kPathMigState = 1 << 18,
    kCap = 1 << 19,
    kDestQpn = 1 << 20,
    kRateLimit = 1 << 25,
};
/// ibv_access_flags.
enum AccessFlags : uint32_t {
    kLocalWrite = 1,
    kRemoteWrite = 2,
    kRemoteRead = 4,
    kRemoteAtomic = 8,
    kMwBind = 16,
    kZeroBased = 32,
    kOnDemand = 64,
    kHugetlb = 128,
    kFlushGlobal = 256,
    kFlushPersistent = 512,
    kRelaxedOrdering = 1 << 20,
};
/// ibv_mw_type. Type 2 windows behave as type 2B: they belong to the QP that bound them.
enum class MwType : uint8_t { Type1 = 1, Type2 = 2 };
/// ibv_wr_opcode.
enum class WrOpcode : uint8_t {
    RdmaWrite = 0,
    RdmaWriteWithImm = 1,
    Send = 2,
    SendWithImm = 3,
    RdmaRead = 4,
    AtomicCmpAndSwp = 5,
    AtomicFetchAndAdd = 6,
    LocalInv = 7,
    BindMw = 8,
    SendWithInv = 9,
    Tso = 10,
    Driver1 = 11,
    Flush = 14,
    AtomicWrite = 15,
};
/// ibv_send_flags.
enum SendFlags : uint32_t { kFence = 1, kSignaled = 2, kSolicitedWr = 4, kInline = 8, kIpCsum = 16 };
/// ibv_wc_status.
enum class WcStatus : uint8_t {
    Success = 0,
    LocLenErr = 1,
    LocQpOpErr = 2,
    LocEecOpErr = 3,
    LocProtErr = 4,
    WrFlushErr = 5,
    MwBindErr = 6,
    BadRespErr = 7,
    LocAccessErr = 8,
    RemInvReqErr = 9,
    RemAccessErr = 10,
    RemOpErr = 11,
    RetryExcErr = 12,
    RnrRetryExcErr = 13,
    LocRddViolErr = 14,
    RemInvRdReqErr = 15,
    RemAbortErr = 16,
    InvEecnErr = 17,
    InvEecStateErr = 18,
    FatalErr = 19,
    RespTimeoutErr = 20,
    GeneralErr = 21,
    TmErr = 22,
    TmRndvIncomplete = 23,
};
/// ibv_wc_opcode.
enum class WcOpcode : uint8_t {
    Send = 0,
    RdmaWrite = 1,
    RdmaRead = 2,
    CompSwap = 3,
    FetchAdd = 4,
    BindMw = 5,
    LocalInv = 6,
    AtomicWrite = 9,
    Recv = 128,
    RecvRdmaWithImm = 129,
};
/// ibv_wc_flags.
enum WcFlags : uint8_t { kWcGrh = 1, kWcWithImm = 2, kWcWithInv = 8 };
/// ibv_event_type (those that the model raises).
enum class EventType : uint8_t {
    CqErr = 0,
    QpFatal = 1,
    QpReqErr = 2,
    QpAccessErr = 3,
    CommEst = 4,
    SqDrained = 5,
    PathMig = 6,
    PathMigErr = 7,
    DeviceFatal = 8,
    PortActive = 9,
    PortErr = 10,
    LidChange = 11,
    PkeyChange = 12,
    SmChange = 13,
    SrqErr = 14,
    SrqLimitReached = 15,
    QpLastWqeReached = 16,
    ClientReregister = 17,
    GidChange = 18,
    WqFatal = 19,
};

using Gid = std::array<uint8_t, 16>;

/// ibv_ah_attr, with its GRH.
struct AhAttr {
    Gid dgid{};
    uint32_t flow_label = 0;
    uint8_t sgid_index = 0, hop_limit = 0, traffic_class = 0;
    uint16_t dlid = 0;
    uint8_t sl = 0, src_path_bits = 0, static_rate = 0;
    bool is_global = false;
    uint8_t port_num = 0;
};

struct QpCap {
    uint32_t max_send_wr = 0, max_recv_wr = 0, max_send_sge = 0, max_recv_sge = 0, max_inline_data = 0;
};

/// ibv_qp_attr.
struct QpAttr {
    QpState qp_state = QpState::Reset, cur_qp_state = QpState::Reset;
    uint8_t path_mtu = 0;  ///< raw as the program gave it: validity is checked, not assumed
    uint8_t path_mig_state = 0;
    uint32_t qkey = 0, rq_psn = 0, sq_psn = 0, dest_qp_num = 0, qp_access_flags = 0;
    QpCap cap;
    AhAttr ah_attr, alt_ah_attr;
    uint16_t pkey_index = 0, alt_pkey_index = 0;
    uint8_t en_sqd_async_notify = 0, sq_draining = 0, max_rd_atomic = 0, max_dest_rd_atomic = 0, min_rnr_timer = 0,
            port_num = 0, timeout = 0, retry_cnt = 0, rnr_retry = 0, alt_port_num = 0, alt_timeout = 0;
    uint32_t rate_limit = 0;
};

struct Sge {
    uint64_t addr = 0;
    uint32_t length = 0, lkey = 0;
};

/// A send work request as it reaches the HCA. `sges` and `inline_data` point into the caller's memory for the call
/// only.
struct SendWr {
    uint64_t wr_id = 0;
    WrOpcode opcode = WrOpcode::Send;
    uint32_t send_flags = 0;
    uint32_t imm_or_rkey = 0;  ///< immediate (big endian, as given) or R_Key to invalidate
    const Sge* sges = nullptr;
    uint32_t num_sge = 0;
    const uint8_t* inline_data = nullptr;  ///< with kInline: the bytes, `inline_bytes` of them
    uint32_t inline_bytes = 0;
    uint64_t remote_addr = 0;  ///< RDMA and atomics
    uint32_t rkey = 0;
    uint64_t compare_add = 0, swap = 0;
    uint32_t ah = 0, remote_qpn = 0, remote_qkey = 0;  ///< UD; `ah` is the handle from create_ah
    uint32_t remote_srqn = 0;                          ///< XRC
    /// BIND_MW: the range is remote_addr, compare_add bytes of it; no bytes unbind a type 1 window.
    uint32_t mw = 0, mw_rkey = 0, mw_mr = 0, mw_access = 0;
};

struct RecvWr {
    uint64_t wr_id = 0;
    const Sge* sges = nullptr;
    uint32_t num_sge = 0;
};

/// A completion, ready for a program's CQ.
struct Cqe {
    uint64_t wr_id = 0;
    WcStatus status = WcStatus::Success;
    WcOpcode opcode = WcOpcode::Send;
    uint8_t wc_flags = 0, sl = 0, dlid_path_bits = 0;
    bool is_send = true;
    bool solicited = false;  ///< counts for ibv_req_notify_cq(solicited_only)
    uint32_t vendor_err = 0, byte_len = 0, imm_or_rkey = 0, qp_num = 0, src_qp = 0;
    uint16_t pkey_index = 0, slid = 0;
    uint32_t srq = 0;         ///< handle of the SRQ that the receive came from; 0: none
    uint32_t queue_tail = 0;  ///< count of WQEs of that queue (SQ or RQ, modulo 2^32) that this completion retires
    sim::SimTime timestamp;   ///< the HCA's free-running clock when the CQE was written
};

}  // namespace simverbs::hca
