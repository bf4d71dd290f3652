#include "verbs_shim/server/ibv_translate.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "verbs_shim/protocol/enum_value.hpp"

namespace simverbs::server {

namespace {

template <class Ours>
constexpr bool same(Ours ours, int theirs) noexcept {
    return static_cast<int>(ours) == theirs;
}

static_assert(same(hca::QpType::Rc, IBV_QPT_RC) && same(hca::QpType::Uc, IBV_QPT_UC) &&
              same(hca::QpType::Ud, IBV_QPT_UD) && same(hca::QpType::RawPacket, IBV_QPT_RAW_PACKET) &&
              same(hca::QpType::XrcSend, IBV_QPT_XRC_SEND) && same(hca::QpType::XrcRecv, IBV_QPT_XRC_RECV));
static_assert(same(hca::QpState::Reset, IBV_QPS_RESET) && same(hca::QpState::Init, IBV_QPS_INIT) &&
              same(hca::QpState::Rtr, IBV_QPS_RTR) && same(hca::QpState::Rts, IBV_QPS_RTS) &&
              same(hca::QpState::Sqd, IBV_QPS_SQD) && same(hca::QpState::Sqe, IBV_QPS_SQE) &&
              same(hca::QpState::Err, IBV_QPS_ERR));
static_assert(same(hca::LinkLayer::InfiniBand, IBV_LINK_LAYER_INFINIBAND) &&
              same(hca::LinkLayer::Ethernet, IBV_LINK_LAYER_ETHERNET));
static_assert(same(hca::GidType::Ib, IBV_GID_TYPE_IB) && same(hca::GidType::RoceV1, IBV_GID_TYPE_ROCE_V1) &&
              same(hca::GidType::RoceV2, IBV_GID_TYPE_ROCE_V2));
static_assert(same(hca::PortState::Down, IBV_PORT_DOWN) && same(hca::PortState::Active, IBV_PORT_ACTIVE));
static_assert(same(hca::Mtu::Mtu256, IBV_MTU_256) && same(hca::Mtu::Mtu4096, IBV_MTU_4096));
static_assert(same(hca::kState, IBV_QP_STATE) && same(hca::kCurState, IBV_QP_CUR_STATE) &&
              same(hca::kEnSqdAsyncNotify, IBV_QP_EN_SQD_ASYNC_NOTIFY) &&
              same(hca::kAccessFlags, IBV_QP_ACCESS_FLAGS) && same(hca::kPkeyIndex, IBV_QP_PKEY_INDEX) &&
              same(hca::kPort, IBV_QP_PORT) && same(hca::kQkey, IBV_QP_QKEY) && same(hca::kAv, IBV_QP_AV) &&
              same(hca::kPathMtu, IBV_QP_PATH_MTU) && same(hca::kTimeout, IBV_QP_TIMEOUT) &&
              same(hca::kRetryCnt, IBV_QP_RETRY_CNT) && same(hca::kRnrRetry, IBV_QP_RNR_RETRY) &&
              same(hca::kRqPsn, IBV_QP_RQ_PSN) && same(hca::kMaxQpRdAtomic, IBV_QP_MAX_QP_RD_ATOMIC) &&
              same(hca::kAltPath, IBV_QP_ALT_PATH) && same(hca::kMinRnrTimer, IBV_QP_MIN_RNR_TIMER) &&
              same(hca::kSqPsn, IBV_QP_SQ_PSN) && same(hca::kMaxDestRdAtomic, IBV_QP_MAX_DEST_RD_ATOMIC) &&
              same(hca::kPathMigState, IBV_QP_PATH_MIG_STATE) && same(hca::kCap, IBV_QP_CAP) &&
              same(hca::kDestQpn, IBV_QP_DEST_QPN) && same(hca::kRateLimit, IBV_QP_RATE_LIMIT));
static_assert(same(hca::kLocalWrite, IBV_ACCESS_LOCAL_WRITE) && same(hca::kRemoteWrite, IBV_ACCESS_REMOTE_WRITE) &&
              same(hca::kRemoteRead, IBV_ACCESS_REMOTE_READ) && same(hca::kRemoteAtomic, IBV_ACCESS_REMOTE_ATOMIC) &&
              same(hca::kMwBind, IBV_ACCESS_MW_BIND) && same(hca::kZeroBased, IBV_ACCESS_ZERO_BASED) &&
              same(hca::kOnDemand, IBV_ACCESS_ON_DEMAND) && same(hca::kHugetlb, IBV_ACCESS_HUGETLB) &&
              same(hca::kRelaxedOrdering, IBV_ACCESS_RELAXED_ORDERING));
static_assert(same(hca::WrOpcode::RdmaWrite, IBV_WR_RDMA_WRITE) &&
              same(hca::WrOpcode::RdmaWriteWithImm, IBV_WR_RDMA_WRITE_WITH_IMM) &&
              same(hca::WrOpcode::Send, IBV_WR_SEND) && same(hca::WrOpcode::SendWithImm, IBV_WR_SEND_WITH_IMM) &&
              same(hca::WrOpcode::RdmaRead, IBV_WR_RDMA_READ) &&
              same(hca::WrOpcode::AtomicCmpAndSwp, IBV_WR_ATOMIC_CMP_AND_SWP) &&
              same(hca::WrOpcode::AtomicFetchAndAdd, IBV_WR_ATOMIC_FETCH_AND_ADD) &&
              same(hca::WrOpcode::LocalInv, IBV_WR_LOCAL_INV) && same(hca::WrOpcode::BindMw, IBV_WR_BIND_MW) &&
              same(hca::WrOpcode::SendWithInv, IBV_WR_SEND_WITH_INV) && same(hca::WrOpcode::Tso, IBV_WR_TSO));
static_assert(same(hca::kFence, IBV_SEND_FENCE) && same(hca::kSignaled, IBV_SEND_SIGNALED) &&
              same(hca::kSolicitedWr, IBV_SEND_SOLICITED) && same(hca::kInline, IBV_SEND_INLINE) &&
              same(hca::kIpCsum, IBV_SEND_IP_CSUM));
static_assert(same(hca::WcStatus::Success, IBV_WC_SUCCESS) && same(hca::WcStatus::LocLenErr, IBV_WC_LOC_LEN_ERR) &&
              same(hca::WcStatus::LocQpOpErr, IBV_WC_LOC_QP_OP_ERR) &&
              same(hca::WcStatus::LocProtErr, IBV_WC_LOC_PROT_ERR) &&
              same(hca::WcStatus::WrFlushErr, IBV_WC_WR_FLUSH_ERR) &&
              same(hca::WcStatus::RemInvReqErr, IBV_WC_REM_INV_REQ_ERR) &&
              same(hca::WcStatus::RemAccessErr, IBV_WC_REM_ACCESS_ERR) &&
              same(hca::WcStatus::RemOpErr, IBV_WC_REM_OP_ERR) &&
              same(hca::WcStatus::RetryExcErr, IBV_WC_RETRY_EXC_ERR) &&
              same(hca::WcStatus::RnrRetryExcErr, IBV_WC_RNR_RETRY_EXC_ERR) &&
              same(hca::WcStatus::FatalErr, IBV_WC_FATAL_ERR) && same(hca::WcStatus::GeneralErr, IBV_WC_GENERAL_ERR));
static_assert(same(hca::WcOpcode::Send, IBV_WC_SEND) && same(hca::WcOpcode::RdmaWrite, IBV_WC_RDMA_WRITE) &&
              same(hca::WcOpcode::RdmaRead, IBV_WC_RDMA_READ) && same(hca::WcOpcode::CompSwap, IBV_WC_COMP_SWAP) &&
              same(hca::WcOpcode::FetchAdd, IBV_WC_FETCH_ADD) && same(hca::WcOpcode::Recv, IBV_WC_RECV) &&
              same(hca::WcOpcode::RecvRdmaWithImm, IBV_WC_RECV_RDMA_WITH_IMM));
static_assert(same(hca::kWcGrh, IBV_WC_GRH) && same(hca::kWcWithImm, IBV_WC_WITH_IMM) &&
              same(hca::kWcWithInv, IBV_WC_WITH_INV));
static_assert(same(hca::EventType::CqErr, IBV_EVENT_CQ_ERR) && same(hca::EventType::QpFatal, IBV_EVENT_QP_FATAL) &&
              same(hca::EventType::QpReqErr, IBV_EVENT_QP_REQ_ERR) &&
              same(hca::EventType::QpAccessErr, IBV_EVENT_QP_ACCESS_ERR) &&
              same(hca::EventType::CommEst, IBV_EVENT_COMM_EST) &&
              same(hca::EventType::SqDrained, IBV_EVENT_SQ_DRAINED) &&
              same(hca::EventType::DeviceFatal, IBV_EVENT_DEVICE_FATAL) &&
              same(hca::EventType::PortActive, IBV_EVENT_PORT_ACTIVE) &&
              same(hca::EventType::PortErr, IBV_EVENT_PORT_ERR) && same(hca::EventType::SrqErr, IBV_EVENT_SRQ_ERR) &&
              same(hca::EventType::SrqLimitReached, IBV_EVENT_SRQ_LIMIT_REACHED) &&
              same(hca::EventType::QpLastWqeReached, IBV_EVENT_QP_LAST_WQE_REACHED) &&
              same(hca::EventType::WqFatal, IBV_EVENT_WQ_FATAL));
static_assert(same(hca::kSrqMaxWr, IBV_SRQ_MAX_WR) && same(hca::kSrqLimit, IBV_SRQ_LIMIT));
static_assert(same(hca::kChangeTranslation, IBV_REREG_MR_CHANGE_TRANSLATION) &&
              same(hca::kChangePd, IBV_REREG_MR_CHANGE_PD) && same(hca::kChangeAccess, IBV_REREG_MR_CHANGE_ACCESS));
static_assert(same(hca::MigState::Migrated, IBV_MIG_MIGRATED) && same(hca::MigState::Armed, IBV_MIG_ARMED));

/// Values that a program can set to anything, cast without losing what makes them invalid.
template <class T>
constexpr T clipped(uint64_t v) noexcept {
    return static_cast<T>(std::min<uint64_t>(v, std::numeric_limits<T>::max()));
}

}  // namespace

hca::AhAttr ah_attr_from(const ibv_ah_attr& a) noexcept {
    hca::AhAttr to;
    std::memcpy(to.dgid.data(), a.grh.dgid.raw, to.dgid.size());
    to.flow_label = a.grh.flow_label;
    to.sgid_index = a.grh.sgid_index;
    to.hop_limit = a.grh.hop_limit;
    to.traffic_class = a.grh.traffic_class;
    to.dlid = a.dlid;
    to.sl = a.sl;
    to.src_path_bits = a.src_path_bits;
    to.static_rate = a.static_rate;
    to.is_global = a.is_global != 0;
    to.port_num = a.port_num;
    return to;
}

namespace {

/// libibverbs's and the kernel's structs have the same members, if not in the same places.
template <typename To>
To address_to(const hca::AhAttr& a) noexcept {
    To to{};
    static_assert(sizeof to.grh.dgid == std::tuple_size_v<hca::Gid>);
    std::memcpy(&to.grh.dgid, a.dgid.data(), a.dgid.size());
    to.grh.flow_label = a.flow_label;
    to.grh.sgid_index = a.sgid_index;
    to.grh.hop_limit = a.hop_limit;
    to.grh.traffic_class = a.traffic_class;
    to.dlid = a.dlid;
    to.sl = a.sl;
    to.src_path_bits = a.src_path_bits;
    to.static_rate = a.static_rate;
    to.is_global = a.is_global ? 1 : 0;
    to.port_num = a.port_num;
    return to;
}

}  // namespace

ibv_ah_attr ah_attr_to(const hca::AhAttr& a) noexcept {
    return address_to<ibv_ah_attr>(a);
}

ib_uverbs_ah_attr uverbs_ah_attr_to(const hca::AhAttr& a) noexcept {
    return address_to<ib_uverbs_ah_attr>(a);
}

hca::QpCap cap_from(const ibv_qp_cap& c) noexcept {
    return {c.max_send_wr, c.max_recv_wr, c.max_send_sge, c.max_recv_sge, c.max_inline_data};
}

ibv_qp_cap cap_to(const hca::QpCap& c) noexcept {
    return {c.max_send_wr, c.max_recv_wr, c.max_send_sge, c.max_recv_sge, c.max_inline_data};
}

hca::QpAttr qp_attr_from(const ibv_qp_attr& a) noexcept {
    hca::QpAttr to;
    to.qp_state = static_cast<hca::QpState>(clipped<uint8_t>(protocol::enum_value(a.qp_state)));
    to.cur_qp_state = static_cast<hca::QpState>(clipped<uint8_t>(protocol::enum_value(a.cur_qp_state)));
    to.path_mtu = clipped<uint8_t>(protocol::enum_value(a.path_mtu));
    to.path_mig_state = clipped<uint8_t>(protocol::enum_value(a.path_mig_state));
    to.qkey = a.qkey;
    to.rq_psn = a.rq_psn;
    to.sq_psn = a.sq_psn;
    to.dest_qp_num = a.dest_qp_num;
    to.qp_access_flags = a.qp_access_flags;
    to.cap = cap_from(a.cap);
    to.ah_attr = ah_attr_from(a.ah_attr);
    to.alt_ah_attr = ah_attr_from(a.alt_ah_attr);
    to.pkey_index = a.pkey_index;
    to.alt_pkey_index = a.alt_pkey_index;
    to.en_sqd_async_notify = a.en_sqd_async_notify;
    to.sq_draining = a.sq_draining;
    to.max_rd_atomic = a.max_rd_atomic;
    to.max_dest_rd_atomic = a.max_dest_rd_atomic;
    to.min_rnr_timer = a.min_rnr_timer;
    to.port_num = a.port_num;
    to.timeout = a.timeout;
    to.retry_cnt = a.retry_cnt;
    to.rnr_retry = a.rnr_retry;
    to.alt_port_num = a.alt_port_num;
    to.alt_timeout = a.alt_timeout;
    to.rate_limit = a.rate_limit;
    return to;
}

ibv_qp_attr qp_attr_to(const hca::QpAttr& a) noexcept {
    ibv_qp_attr to{};
    to.qp_state = static_cast<ibv_qp_state>(a.qp_state);
    to.cur_qp_state = static_cast<ibv_qp_state>(a.cur_qp_state);
    to.path_mtu = static_cast<ibv_mtu>(a.path_mtu);
    to.path_mig_state = static_cast<ibv_mig_state>(a.path_mig_state);
    to.qkey = a.qkey;
    to.rq_psn = a.rq_psn;
    to.sq_psn = a.sq_psn;
    to.dest_qp_num = a.dest_qp_num;
    to.qp_access_flags = a.qp_access_flags;
    to.cap = cap_to(a.cap);
    to.ah_attr = ah_attr_to(a.ah_attr);
    to.alt_ah_attr = ah_attr_to(a.alt_ah_attr);
    to.pkey_index = a.pkey_index;
    to.alt_pkey_index = a.alt_pkey_index;
    to.en_sqd_async_notify = a.en_sqd_async_notify;
    to.sq_draining = a.sq_draining;
    to.max_rd_atomic = a.max_rd_atomic;
    to.max_dest_rd_atomic = a.max_dest_rd_atomic;
    to.min_rnr_timer = a.min_rnr_timer;
    to.port_num = a.port_num;
    to.timeout = a.timeout;
    to.retry_cnt = a.retry_cnt;
    to.rnr_retry = a.rnr_retry;
    to.alt_port_num = a.alt_port_num;
    to.alt_timeout = a.alt_timeout;
    to.rate_limit = a.rate_limit;
    return to;
}

ibv_device_attr_ex device_attr_to(const hca::DeviceAttr& a) noexcept {
    ibv_device_attr_ex ex{};
    ibv_device_attr& to = ex.orig_attr;
    const size_t n = std::min(a.fw_ver.size(), sizeof to.fw_ver - 1);
    std::memcpy(to.fw_ver, a.fw_ver.data(), n);
    to.node_guid = htobe64(a.node_guid);
    to.sys_image_guid = htobe64(a.sys_image_guid);
    to.max_mr_size = a.max_mr_size;
    to.page_size_cap = a.page_size_cap;
    to.vendor_id = a.vendor_id;
    to.vendor_part_id = a.vendor_part_id;
    to.hw_ver = a.hw_ver;
    to.max_qp = a.max_qp;
    to.max_qp_wr = a.max_qp_wr;
    to.device_cap_flags = a.device_cap_flags;
    to.max_sge = a.max_sge;
    to.max_sge_rd = a.max_sge_rd;
    to.max_cq = a.max_cq;
    to.max_cqe = a.max_cqe;
    to.max_mr = a.max_mr;
    to.max_pd = a.max_pd;
    to.max_qp_rd_atom = a.max_qp_rd_atom;
    to.max_ee_rd_atom = a.max_ee_rd_atom;
    to.max_res_rd_atom = a.max_res_rd_atom;
    to.max_qp_init_rd_atom = a.max_qp_init_rd_atom;
    to.max_ee_init_rd_atom = a.max_ee_init_rd_atom;
    to.atomic_cap = static_cast<ibv_atomic_cap>(a.atomic_cap);
    to.max_ee = a.max_ee;
    to.max_rdd = a.max_rdd;
    to.max_mw = a.max_mw;
    to.max_raw_ipv6_qp = a.max_raw_ipv6_qp;
    to.max_raw_ethy_qp = a.max_raw_ethy_qp;
    to.max_mcast_grp = a.max_mcast_grp;
    to.max_mcast_qp_attach = a.max_mcast_qp_attach;
    to.max_total_mcast_qp_attach = a.max_total_mcast_qp_attach;
    to.max_ah = a.max_ah;
    to.max_fmr = a.max_fmr;
    to.max_map_per_fmr = a.max_map_per_fmr;
    to.max_srq = a.max_srq;
    to.max_srq_wr = a.max_srq_wr;
    to.max_srq_sge = a.max_srq_sge;
    to.max_pkeys = a.max_pkeys;
    to.local_ca_ack_delay = a.local_ca_ack_delay;
    to.phys_port_cnt = a.phys_port_cnt;
    ex.completion_timestamp_mask = ~uint64_t{0};
    ex.hca_core_clock = a.hca_core_clock_khz;
    ex.device_cap_flags_ex = a.device_cap_flags;
    ex.phys_port_cnt_ex = a.phys_port_cnt;
    ex.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
    ex.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
                                                 IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
                                                 IBV_ODP_SUPPORT_SRQ_RECV;
    ex.odp_caps.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_SRQ_RECV;
    ex.xrc_odp_caps = ex.odp_caps.per_transport_caps.rc_odp_caps;
    ex.cq_mod_caps.max_cq_count = 0xFFFF;
    ex.cq_mod_caps.max_cq_period = 0xFFF;
    ex.max_dm_size = a.max_dm_size;
    if ((a.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING) != 0) {
        ex.rss_caps.supported_qpts = 1U << IBV_QPT_RAW_PACKET;
        ex.rss_caps.max_rwq_indirection_tables = static_cast<uint32_t>(a.max_qp);
        ex.rss_caps.max_rwq_indirection_table_size = protocol::kMostQueues;
        ex.rss_caps.rx_hash_fields_mask = hca::kAllHashFields;
        ex.rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
        ex.max_wq_type_rq = static_cast<uint32_t>(a.max_qp);
    }
    return ex;
}

ibv_port_attr port_attr_to(const hca::PortAttr& a) noexcept {
    ibv_port_attr to{};
    to.state = static_cast<ibv_port_state>(a.state);
    to.max_mtu = static_cast<ibv_mtu>(a.max_mtu);
    to.active_mtu = static_cast<ibv_mtu>(a.active_mtu);
    to.gid_tbl_len = a.gid_tbl_len;
    to.port_cap_flags = a.port_cap_flags;
    to.max_msg_sz = a.max_msg_sz;
    to.bad_pkey_cntr = a.bad_pkey_cntr;
    to.qkey_viol_cntr = a.qkey_viol_cntr;
    to.pkey_tbl_len = a.pkey_tbl_len;
    to.lid = a.lid;
    to.sm_lid = a.sm_lid;
    to.lmc = a.lmc;
    to.max_vl_num = a.max_vl_num;
    to.sm_sl = a.sm_sl;
    to.subnet_timeout = a.subnet_timeout;
    to.init_type_reply = a.init_type_reply;
    to.active_width = a.active_width;
    to.active_speed = a.active_speed;
    to.phys_state = a.phys_state;
    to.link_layer = static_cast<uint8_t>(a.link_layer);
    to.flags = a.flags;
    to.port_cap_flags2 = a.port_cap_flags2;
    return to;
}

}  // namespace simverbs::server
