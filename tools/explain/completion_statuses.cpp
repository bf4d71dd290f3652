// enum ibv_wc_status: what each says, why it comes, and how to tell the reasons apart.
// Sources: IBTA volume 1, 10.10.3 and 11.6.2; verbs.h.
#include <infiniband/verbs.h>

#include "tools/explain/explanation.hpp"

namespace simverbs::explain {

namespace {

constexpr std::string_view kToErr =
    "The QP is in ERR: whatever else was posted completes with WR_FLUSH_ERR. Poll it all, then RESET, INIT, RTR, RTS.";
constexpr std::string_view kRequesterToErr =
    "The requester's QP is in ERR (UC and UD: its send queue in SQE): whatever else was posted completes with "
    "WR_FLUSH_ERR. vendor_err of a real NIC says more; wr_id and qp_num are the only other valid fields.";
constexpr std::string_view kUnused = "Of reliable datagrams (RD), which no adapter offers. It should never be seen.";

constexpr Cause kSuccess[] = {
    {"the request is done",
     "A SEND or WRITE on RC: the peer's adapter has acknowledged it; its program may not have seen it yet. On UC and "
     "UD: it has been sent, no more."}};
constexpr Cause kLocLen[] = {
    {"a receive was posted that is smaller than the message",
     "The status is on a receive; byte_len is not valid. Compare the peer's message length with the sum of the SGEs' "
     "lengths. A UD receive needs 40 bytes more, for the GRH. The sender on RC sees REM_INV_REQ_ERR."},
    {"a UD message is longer than the path MTU", "The status is on a send of a UD QP: split it, or use RC."},
    {"the message is longer than max_msg_sz", "ibv_devinfo -v shows max_msg_sz: 2^30 or 2^31 bytes as a rule."}};
constexpr Cause kLocQpOp[] = {
    {"the adapter could not carry out the request as it stands in the queue",
     "An operation that the type of QP does not have, such as a READ on UC or a WRITE on UD (the table is in "
     "ibv_post_send(3); ibv_post_send itself does not look), or LOCAL_INV of a key that is no bound type 2 window."},
    {"Soft-RoCE (rxe) only, on a receive: too small, or its memory cannot be written",
     "An HCA says LOC_LEN_ERR and LOC_PROT_ERR instead."},
    {"a READ or atomic without room for it", "max_rd_atomic of the requester is 0: set it at RTR → RTS."},
    {"Soft-RoCE (rxe) only: a wrong lkey", "An HCA says LOC_PROT_ERR instead."}};
constexpr Cause kLocProt[] = {
    {"the lkey names no memory region of the QP's PD",
     "Was sge.lkey filled from the right mr->lkey, and was the MR deregistered meanwhile? Same PD for MR and QP?"},
    {"the SGE reaches outside of its memory region", "addr and addr + length must lie within [mr->addr, +mr->length)."},
    {"the memory region may not be written to",
     "A receive, a READ or an atomic writes into local memory: register it with IBV_ACCESS_LOCAL_WRITE."},
    {"the memory was unmapped after it was registered",
     "free(), munmap(), or fork() and copy-on-write. ibv_fork_init() before anything else, or do not fork."}};
constexpr Cause kFlush[] = {
    {"an earlier request of the same QP failed",
     "Look for the first completion of this QP that is neither SUCCESS nor WR_FLUSH_ERR: that is the error; this one "
     "only says that the request was not carried out. With an unsignalled failing request it still completes."},
    {"the program (or rdma_disconnect) moved the QP to ERR",
     "No completion with another error precedes. Normal when closing a connection: poll until all is back."},
    {"the port, the adapter or the peer went away", "An async event tells: QP_FATAL, PORT_ERR, DEVICE_FATAL."}};
constexpr Cause kMwBind[] = {
    {"the memory window cannot be bound like that",
     "The MR needs IBV_ACCESS_MW_BIND (and LOCAL_WRITE for a remote right to write or atomics); the range must lie in "
     "the MR; MR, MW and QP share a PD; a type 2 window is bound once and must be invalidated before the next bind."}};
constexpr Cause kBadResp[] = {
    {"the response's opcode or length does not fit the request",
     "Two QPs that believe in different peers: check dest_qp_num and PSNs (sq_psn here = rq_psn there). A corrupt or "
     "foreign packet that passed its checks. In a simulation: a fault that changes packets."}};
constexpr Cause kLocAccess[] = {
    {"an incoming WRITE with immediate had a wrong rkey, range or right",
     "On the receive side: the WRITE of one packet had taken this receive. The writer sees REM_ACCESS_ERR; look there "
     "for the rkey and remote_addr that it used. Soft-RoCE says REM_ACCESS_ERR on the receive, too."}};
constexpr Cause kRemInvReq[] = {
    {"the peer's receive is smaller than this SEND", "The peer has LOC_LEN_ERR on its receive."},
    {"the peer's QP does not allow the operation",
     "qp_access_flags at the peer's INIT (or RTR, RTS) lack REMOTE_WRITE, REMOTE_READ or REMOTE_ATOMIC. Having them on "
     "the MR alone is not enough; what only the MR lacks is REM_ACCESS_ERR."},
    {"more READs and atomics at once than the peer's max_dest_rd_atomic",
     "max_rd_atomic here must not be above max_dest_rd_atomic there; 0 there forbids all."},
    {"an atomic's address is not a multiple of 8", "remote_addr of an atomic: 8 bytes, aligned."},
    {"opcodes out of sequence", "Two senders with one QP number, or packets changed on the way."}};
constexpr Cause kRemAccess[] = {
    {"the rkey is wrong, old or of another PD",
     "Print mr->rkey there and wr.rdma.rkey here (byte order when it was sent!). A region that was registered again "
     "has another rkey; a window that was invalidated has none."},
    {"the range is not within the peer's region",
     "remote_addr is the peer's virtual address (or iova): 64 bits, whole."},
    {"the peer's region lacks the right",
     "ibv_reg_mr there needs IBV_ACCESS_REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC as used (and LOCAL_WRITE with the "
     "first and the last). What the peer's QP lacks is REM_INV_REQ_ERR instead."}};
constexpr Cause kRemOp[] = {
    {"the peer could not use its own receive request",
     "Look at the peer: its receive completes with LOC_PROT_ERR or LOC_QP_OP_ERR (bad lkey, unmapped buffer), or its "
     "CQ overran."}};
constexpr Cause kRetryExc[] = {
    {"the peer's QP is not there, not yet in RTR, or in ERR or RESET",
     "The peer has no work completions, no packet is ever answered. Exchange 'I am in RTR' before the first request. "
     "A peer that failed first has an error of its own: look there."},
    {"the address is wrong",
     "RoCE: sgid_index must be of the type and version (RoCE v1, v2; IPv4, IPv6) that the peer uses (ibv_devinfo -v, "
     "show_gids); dgid the peer's. InfiniBand: dlid. Both: dest_qp_num. A capture shows the requests leaving and "
     "nothing coming back."},
    {"packets are lost",
     "Both sides' port counters: rx_discards, out_of_sequence, packet_seq_err grow; other messages went through "
     "before. RoCE without PFC or ECN, a wrong MTU on a switch, a bad cable."},
    {"a port on the way is down, or was for longer than all retries",
     "ibv_devinfo shows the state of both ports; IBV_EVENT_PORT_ERR has told of it. The switch's ports: its own "
     "tools."},
    {"the P_Keys do not match (InfiniBand)",
     "bad_pkey_cntr of the peer's port grows (ibv_query_port; perfquery's PortRcvConstraintErrors). Same partition, "
     "and one "
     "of the two a full member (0x8000)? A change comes with IBV_EVENT_PKEY_CHANGE."},
    {"path_mtu is larger than the network lets through",
     "Small messages work, those above one MTU never do. RoCE: Ethernet MTU >= path_mtu + 80 or so, everywhere."},
    {"timeout is too short for the path, or for the peer's load",
     "4.096 us × 2^timeout; 14 is 67 ms. A capture shows late answers. Time to this error: about (retry_cnt + 1) × "
     "timeout, up to four times as long on a real HCA."},
    {"PSNs do not match", "sq_psn here must be rq_psn there: the peer answers old PSNs with nothing useful."}};
constexpr Cause kRnrRetry[] = {
    {"the peer has posted no receive",
     "Post receives before the peer may send (before RTR → RTS), and again before the answer that lets it send more."},
    {"the peer posts too slowly",
     "It works with rnr_retry = 7 (for ever). min_rnr_timer there sets the pause: 12 is .64 ms. out_of_buffer of the "
     "peer's "
     "port counts them. In a scenario: delay_receives, or freeze of the program."},
    {"the peer's SRQ is empty", "IBV_EVENT_SRQ_LIMIT_REACHED was not used, or comes too late: arm a higher limit."}};
constexpr Cause kNever[] = {{"nothing that an RC, UC, UD or XRC QP does", "A damaged struct ibv_wc, most likely."}};
constexpr Cause kRemAbort[] = {{"the peer's QP of another kind gave the operation up", "See the peer's completions."}};
constexpr Cause kFatal[] = {{"the adapter cannot go on with this QP",
                             "IBV_EVENT_DEVICE_FATAL or QP_FATAL comes with it: close and open again."}};
constexpr Cause kRespTimeout[] = {{"a response did not come in time", "Treat it as RETRY_EXC_ERR."}};
constexpr Cause kGeneral[] = {
    {"none of the other statuses fits", "vendor_err of the NIC says more. simverbs never gives it."}};
constexpr Cause kTm[] = {{"tag matching: an operation on the list failed", "Of SRQs with tag matching alone."}};
constexpr Cause kTmRndv[] = {
    {"tag matching: a rendezvous was left to software", "No error: the receiver has to fetch the message itself."}};

constexpr Topic status(ibv_wc_status value, std::string_view name, std::string_view text, std::string_view meaning,
                       std::span<const Cause> causes, std::string_view after) {
    return {Kind::CompletionStatus, name, value, {}, text, meaning, causes, after};
}

// clang-format off
constexpr Topic kStatuses[] = {
    status(IBV_WC_SUCCESS, "IBV_WC_SUCCESS", "success", "The work request was carried out.", kSuccess, {}),
    status(IBV_WC_LOC_LEN_ERR, "IBV_WC_LOC_LEN_ERR", "local length error",
           "A length does not fit: on a receive the message is longer than the buffers, on a send it cannot be sent.", kLocLen, kToErr),
    status(IBV_WC_LOC_QP_OP_ERR, "IBV_WC_LOC_QP_OP_ERR", "local QP operation error",
           "The local QP could not begin the operation: nothing was sent.", kLocQpOp, kToErr),
    status(IBV_WC_LOC_EEC_OP_ERR, "IBV_WC_LOC_EEC_OP_ERR", "local EE context operation error", kUnused, kNever, {}),
    status(IBV_WC_LOC_PROT_ERR, "IBV_WC_LOC_PROT_ERR", "local protection error",
           "A local SGE may not be used: its lkey, its bounds or its rights.", kLocProt, kToErr),
    status(IBV_WC_WR_FLUSH_ERR, "IBV_WC_WR_FLUSH_ERR", "Work Request Flushed Error",
           "The QP was in ERR (or SQE) before this request's turn came; it was given back without being carried out.", kFlush,
           "Nothing more to find here: the first error counts."),
    status(IBV_WC_MW_BIND_ERR, "IBV_WC_MW_BIND_ERR", "memory management operation error",
           "A memory window could not be bound, or a key not invalidated.", kMwBind, kToErr),
    status(IBV_WC_BAD_RESP_ERR, "IBV_WC_BAD_RESP_ERR", "bad response error",
           "A response came that no request of this QP can have.", kBadResp, kRequesterToErr),
    status(IBV_WC_LOC_ACCESS_ERR, "IBV_WC_LOC_ACCESS_ERR", "local access error",
           "On a receive: the incoming request touched memory that it must not.", kLocAccess, kToErr),
    status(IBV_WC_REM_INV_REQ_ERR, "IBV_WC_REM_INV_REQ_ERR", "remote invalid request error",
           "The responder answered with NAK 'invalid request' (syndrome 0x61).", kRemInvReq, kRequesterToErr),
    status(IBV_WC_REM_ACCESS_ERR, "IBV_WC_REM_ACCESS_ERR", "remote access error",
           "The responder answered with NAK 'remote access error' (syndrome 0x62): rkey, bounds or rights of its memory.", kRemAccess,
           kRequesterToErr),
    status(IBV_WC_REM_OP_ERR, "IBV_WC_REM_OP_ERR", "remote operation error",
           "The responder answered with NAK 'remote operational error' (syndrome 0x63).", kRemOp, kRequesterToErr),
    status(IBV_WC_RETRY_EXC_ERR, "IBV_WC_RETRY_EXC_ERR", "transport retry counter exceeded",
           "A packet was sent retry_cnt + 1 times and no valid answer came, or the peer asked for it again as often.", kRetryExc,
           kRequesterToErr),
    status(IBV_WC_RNR_RETRY_EXC_ERR, "IBV_WC_RNR_RETRY_EXC_ERR", "RNR retry counter exceeded",
           "The peer was there, but each time it had no receive request for this message ('receiver not ready').", kRnrRetry,
           kRequesterToErr),
    status(IBV_WC_LOC_RDD_VIOL_ERR, "IBV_WC_LOC_RDD_VIOL_ERR", "local RDD violation error", kUnused, kNever, {}),
    status(IBV_WC_REM_INV_RD_REQ_ERR, "IBV_WC_REM_INV_RD_REQ_ERR", "remote invalid RD request", kUnused, kNever, {}),
    status(IBV_WC_REM_ABORT_ERR, "IBV_WC_REM_ABORT_ERR", "aborted error",
           "The peer aborted the operation (RD; and SRQs of some kinds).", kRemAbort, kRequesterToErr),
    status(IBV_WC_INV_EECN_ERR, "IBV_WC_INV_EECN_ERR", "invalid EE context number", kUnused, kNever, {}),
    status(IBV_WC_INV_EEC_STATE_ERR, "IBV_WC_INV_EEC_STATE_ERR", "invalid EE context state", kUnused, kNever, {}),
    status(IBV_WC_FATAL_ERR, "IBV_WC_FATAL_ERR", "fatal error", "The adapter failed while it worked on this request.", kFatal, kToErr),
    status(IBV_WC_RESP_TIMEOUT_ERR, "IBV_WC_RESP_TIMEOUT_ERR", "response timeout error",
           "A response was due and did not come.", kRespTimeout, kRequesterToErr),
    status(IBV_WC_GENERAL_ERR, "IBV_WC_GENERAL_ERR", "general error", "An error of the transport without a name.", kGeneral, kToErr),
    status(IBV_WC_TM_ERR, "IBV_WC_TM_ERR", "TM error", "Tag matching failed.", kTm, {}),
    status(IBV_WC_TM_RNDV_INCOMPLETE, "IBV_WC_TM_RNDV_INCOMPLETE", "TM software rendezvous",
           "The message must be fetched by software.", kTmRndv, {}),
};
// clang-format on

static_assert(numbers_run_from(kStatuses, IBV_WC_SUCCESS, IBV_WC_TM_RNDV_INCOMPLETE));

}  // namespace

std::span<const Topic> completion_statuses() noexcept {
    return kStatuses;
}

}  // namespace simverbs::explain
