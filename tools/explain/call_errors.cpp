// Calls of libibverbs and librdmacm, and what each errno of theirs says.
// Sources: the man pages of rdma-core; the kernel's order of checks (verbs.c, ucma.c); ibv_modify_qp: IBTA 10.3
// and 11.2.5.2.
#include <cerrno>

#include "tools/explain/explanation.hpp"

namespace simverbs::explain {

namespace {

constexpr Cause kOpenNoDevice[] = {{"the device list is empty, or the device has gone",
                                    "ibv_devices lists what there is. In a lab: simverbs list LAB."}};
constexpr Cause kModeTransition[] = {
    {"the state machine has no such transition",
     "RESET → INIT → RTR → RTS, in that order; ERR and RESET from anywhere. Was the QP moved to ERR meanwhile?"},
    {"an attribute that the transition requires is missing from attr_mask",
     "RC: INIT needs PKEY_INDEX PORT ACCESS_FLAGS; RTR needs AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC "
     "MIN_RNR_TIMER; RTS needs TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC. UC: RTR without the last two, RTS "
     "SQ_PSN alone. UD: INIT with QKEY for ACCESS_FLAGS, RTR nothing, RTS SQ_PSN."},
    {"attr_mask has an attribute that the transition does not allow",
     "Give only those above and the optional ones (IBTA 11.2.5.2)."},
    {"a value is impossible",
     "port_num from 1; path_mtu not above the port's active_mtu; pkey_index in the table; timeout below 32; "
     "min_rnr_timer below 32; retry_cnt and rnr_retry below 8; max_rd_atomic and max_dest_rd_atomic within the "
     "device's."},
    {"RoCE without a GRH",
     "ah_attr.is_global = 1, grh.dgid the peer's GID, grh.sgid_index your own entry of the GID table. LIDs say nothing "
     "on RoCE."},
    {"the GID's types do not go together",
     "sgid_index names an entry of another type or address family (v1, v2, IPv4, IPv6) than the peer's GID."}};
constexpr Cause kModifyTimeout[] = {{"the destination's address could not be resolved (ARP, ND)",
                                     "RoCE: nobody has that GID. Was the peer's GID read from the right index there?"}};
constexpr Cause kModifyNetwork[] = {
    {"no route to the destination GID",
     "RoCE v2: the GID's IP address needs a route out of the interface of sgid_index."}};
constexpr Cause kModifyNoMem[] = {{"the device is out of resources", "Destroy QPs that are no longer needed."}};
constexpr Cause kCreateQpInval[] = {{"the capabilities are beyond the device's",
                                     "max_send_wr and max_recv_wr <= max_qp_wr, SGEs <= max_sge, max_inline_data below "
                                     "some hundred bytes (ibv_devinfo -v)."},
                                    {"send_cq or recv_cq is missing, or PD, CQs and SRQ are of different contexts",
                                     "Each struct ibv_context has its own objects, even of the same device."}};
constexpr Cause kCreateQpNoMem[] = {
    {"more than max_qp QPs, or no memory for the queues", "ibv_devinfo -v shows max_qp."},
    {"the limit on locked memory (older kernels)", "ulimit -l unlimited"}};
constexpr Cause kUnsupported[] = {{"the device, or simverbs, does not offer it",
                                   "docs/shim_abi.md lists every function and what it does on a simulated device."}};
constexpr Cause kCreateQpPerm[] = {
    {"raw packet QPs need CAP_NET_RAW", "Run as root, or setcap cap_net_raw+ep PROGRAM."}};
constexpr Cause kFlowInval[] = {
    {"not a raw packet QP, or the port is not the device's", "attr->port counts from 1; the QP is IBV_QPT_RAW_PACKET."},
    {"sizes that do not fit",
     "The specs follow attr without a gap: attr->num_of_specs of them, each as long as its spec.size says."}};
constexpr Cause kFlowUnsupported[] = {
    {"a spec, a mask or a flag that the device cannot match",
     "Simulated: Ethernet without VLAN, IPv4, IPv6 (no flow label or class), TCP and UDP; comp_mask and flags 0."}};
constexpr Cause kCreateCqInval[] = {
    {"cqe is 0 or above max_cqe, or comp_vector is not below num_comp_vectors", "ibv_devinfo -v shows both."}};
constexpr Cause kNoMem[] = {{"the device has no more of these, or memory is short",
                             "ibv_devinfo -v shows the limits; destroy what is not needed. In a scenario: fail_call."}};
constexpr Cause kBusyPd[] = {{"MRs, QPs, SRQs, AHs or windows of the PD still exist",
                              "Destroy them first; a leaked address handle is the usual one."}};
constexpr Cause kBusyCq[] = {
    {"a QP, or SRQ, still completes into the CQ",
     "Destroy the QPs first. It also waits for events that were not acknowledged: ibv_ack_cq_events()."}};
constexpr Cause kBusySrq[] = {{"a QP still uses the SRQ", "Destroy the QPs first."}};
constexpr Cause kBusyMr[] = {{"a memory window is still bound to the MR", "Invalidate or free the window first."}};
constexpr Cause kBusyQp[] = {{"the QP is still attached to a multicast group", "ibv_detach_mcast() first."},
                             {"flows still lead to the raw packet QP", "ibv_destroy_flow() first."}};
constexpr Cause kBusyChannel[] = {{"a CQ still uses the channel", "Destroy the CQs first."}};
constexpr Cause kRegInval[] = {
    {"the access flags contradict each other", "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too."},
    {"the range wraps around, is empty, or is longer than max_mr_size", "Look at addr + length."},
    {"the device lacks what a flag asks for",
     "IBV_ACCESS_ON_DEMAND on an adapter that cannot page, such as Soft-RoCE."}};
constexpr Cause kRegFault[] = {
    {"part of the range is not mapped, or not writable",
     "Memory that was freed, a guard page, or a file mapped for reading with LOCAL_WRITE asked for."}};
constexpr Cause kRegNoMem[] = {
    {"the limit on locked memory",
     "ulimit -l shows it, in KiB; raise memlock in /etc/security/limits.conf, or the container's."},
    {"the device has no more memory regions", "ibv_devinfo -v shows max_mr."}};
constexpr Cause kPostInval[] = {{"the QP is in a state that takes no such request",
                                 "Sends: RTS (or SQD, SQE, ERR, where they wait or flush). Receives: INIT and later."},
                                {"the opcode is none, or IBV_SEND_INLINE is set on a READ or atomic",
                                 "An opcode that exists, but not on this QP type, is taken: it completes with "
                                 "LOC_QP_OP_ERR. UD: SEND only. UC: no READ, no atomics. Inline: SEND and WRITE only."},
                                {"an atomic's address is not a multiple of 8, with Soft-RoCE (rxe)",
                                 "Other adapters let the responder look: REM_INV_REQ_ERR."},
                                {"more SGEs than the QP was created for",
                                 "cap.max_send_sge and cap.max_recv_sge, as ibv_create_qp() gave them back."},
                                {"a UD send without address handle", "wr.ud.ah, remote_qpn and remote_qkey."},
                                {"a receive for a QP on an SRQ", "ibv_post_srq_recv() instead."}};
constexpr Cause kPostNoMem[] = {{"the queue is full",
                                 "Requests leave the queue when a completion that retires them is polled: signal one "
                                 "in every N < max_send_wr, and poll."},
                                {"more inline data than max_inline_data", "Of an mlx5 device; others say EINVAL."}};
constexpr Cause kPostIo[] = {
    {"the context belongs to the parent of a fork(), or the lab has ended", "Open the device again in the child."}};
constexpr Cause kEventAgain[] = {
    {"the channel's descriptor is non-blocking and no event waits", "poll() or epoll first."}};
constexpr Cause kAhInval[] = {
    {"port_num, sgid_index or the GIDs are wrong, or RoCE without is_global",
     "As for ibv_modify_qp EINVAL. A UD peer's address may come from ibv_create_ah_from_wc()."}};
constexpr Cause kMcastInval[] = {
    {"not a UD QP (or raw packet), or not a multicast GID", "Multicast GIDs begin with ff."}};
constexpr Cause kGidNoData[] = {{"the entry of the GID table is empty", "ibv_devinfo -v prints those that are not."}};
constexpr Cause kRateInval[] = {
    {"a limit above max_wr or max_sge of the SRQ", "srq_limit must be below the SRQ's max_wr."}};
constexpr Cause kBindInUse[] = {
    {"another id is bound to the port", "Another port; or RDMA_OPTION_ID_REUSEADDR on both, before binding."}};
constexpr Cause kBindNoAddress[] = {
    {"no interface of the host has the address", "ip addr; in a lab: simverbs on HOST -- ip addr"}};
constexpr Cause kCmNoDevice[] = {
    {"the address belongs to no RDMA device",
     "rdma link shows which network device an RDMA device has. Loopback 127.0.0.1 has none."}};
constexpr Cause kCmInval[] = {{"the id is in another state than the call needs",
                               "In order: bind or resolve_addr, resolve_route, connect; listen, accept. Private data: "
                               "RC 56 bytes to connect, 196 to accept, 148 to reject; UD 180 and 136."}};
constexpr Cause kCmRefused[] = {{"the id is synchronous (no event channel), and the server said no",
                                 "id->event->status is the reason: simverbs explain REJ_8 and so on."}};
constexpr Cause kCmTimedOut[] = {
    {"the id is synchronous, and nobody answered", "As RDMA_CM_EVENT_UNREACHABLE and ADDR_ERROR."}};

constexpr Topic error(std::string_view call, int number, std::string_view name, std::string_view meaning,
                      std::span<const Cause> causes) {
    return {Kind::CallError, call, number, name, {}, meaning, causes, {}};
}

// clang-format off
constexpr Topic kErrors[] = {
    error("ibv_alloc_pd", ENOMEM, "ENOMEM", "No protection domain was made.", kNoMem),
    error("ibv_attach_mcast", EINVAL, "EINVAL", "The QP cannot join that group.", kMcastInval),
    error("ibv_create_ah", EINVAL, "EINVAL", "The address is not one that this port can send to.", kAhInval),
    error("ibv_create_cq", EINVAL, "EINVAL", "The CQ's size or vector is not the device's.", kCreateCqInval),
    error("ibv_create_cq", ENOMEM, "ENOMEM", "No CQ was made.", kNoMem),
    error("ibv_create_flow", EINVAL, "EINVAL", "The rule makes no sense.", kFlowInval),
    error("ibv_create_flow", EOPNOTSUPP, "EOPNOTSUPP", "The device cannot steer like that.", kFlowUnsupported),
    error("ibv_create_flow", EPERM, "EPERM", "The program may not have raw packets.", kCreateQpPerm),
    error("ibv_create_qp", EINVAL, "EINVAL", "The device cannot make such a QP.", kCreateQpInval),
    error("ibv_create_qp", ENOMEM, "ENOMEM", "No QP was made.", kCreateQpNoMem),
    error("ibv_create_qp", EOPNOTSUPP, "EOPNOTSUPP", "The QP type, or something in it, is not supported.", kUnsupported),
    error("ibv_create_qp", EPERM, "EPERM", "The program may not make such a QP.", kCreateQpPerm),
    error("ibv_create_srq", EINVAL, "EINVAL", "The SRQ's size is beyond the device's.", kRateInval),
    error("ibv_create_srq", ENOMEM, "ENOMEM", "No SRQ was made.", kNoMem),
    error("ibv_dealloc_pd", EBUSY, "EBUSY", "Something still belongs to the PD.", kBusyPd),
    error("ibv_dereg_mr", EBUSY, "EBUSY", "The region is still in use.", kBusyMr),
    error("ibv_destroy_comp_channel", EBUSY, "EBUSY", "The channel is still in use.", kBusyChannel),
    error("ibv_destroy_cq", EBUSY, "EBUSY", "The CQ is still in use.", kBusyCq),
    error("ibv_destroy_qp", EBUSY, "EBUSY", "The QP is still in use.", kBusyQp),
    error("ibv_destroy_srq", EBUSY, "EBUSY", "The SRQ is still in use.", kBusySrq),
    error("ibv_get_async_event", EAGAIN, "EAGAIN", "No event now.", kEventAgain),
    error("ibv_get_cq_event", EAGAIN, "EAGAIN", "No event now.", kEventAgain),
    error("ibv_modify_qp", EINVAL, "EINVAL", "The change is against the rules; the QP is as before. simverbs exec --explain names the rule and the attribute.", kModeTransition),
    error("ibv_modify_qp", ENETUNREACH, "ENETUNREACH", "There is no way to the peer (real devices).", kModifyNetwork),
    error("ibv_modify_qp", ENOMEM, "ENOMEM", "The device is out of resources.", kModifyNoMem),
    error("ibv_modify_qp", ETIMEDOUT, "ETIMEDOUT", "The peer's address could not be resolved; the QP is as before.", kModifyTimeout),
    error("ibv_modify_srq", EINVAL, "EINVAL", "The limit or size is not possible.", kRateInval),
    error("ibv_open_device", ENODEV, "ENODEV", "The device cannot be opened.", kOpenNoDevice),
    error("ibv_poll_cq", EIO, "EIO", "It returns -EIO: the CQ is dead.", kPostIo),
    error("ibv_post_recv", EINVAL, "EINVAL", "The receive was not posted; bad_wr points to it, those before it are.", kPostInval),
    error("ibv_post_recv", ENOMEM, "ENOMEM", "The receive was not posted; bad_wr points to it, those before it are.", kPostNoMem),
    error("ibv_post_send", EINVAL, "EINVAL", "The request was not posted; bad_wr points to it, those before it are.", kPostInval),
    error("ibv_post_send", EIO, "EIO", "The request was not posted.", kPostIo),
    error("ibv_post_send", ENOMEM, "ENOMEM", "The request was not posted; bad_wr points to it, those before it are.", kPostNoMem),
    error("ibv_query_gid", ENODATA, "ENODATA", "There is nothing at that index.", kGidNoData),
    error("ibv_reg_mr", EFAULT, "EFAULT", "The memory cannot be pinned.", kRegFault),
    error("ibv_reg_mr", EINVAL, "EINVAL", "Such a region cannot be registered.", kRegInval),
    error("ibv_reg_mr", ENOMEM, "ENOMEM", "The memory was not registered.", kRegNoMem),
    error("ibv_reg_mr", EOPNOTSUPP, "EOPNOTSUPP", "An access flag is not supported.", kUnsupported),
    error("rdma_accept", EINVAL, "EINVAL", "The call does not fit the id's state, or its data are too long.", kCmInval),
    error("rdma_bind_addr", EADDRINUSE, "EADDRINUSE", "The port is taken.", kBindInUse),
    error("rdma_bind_addr", EADDRNOTAVAIL, "EADDRNOTAVAIL", "The address is nobody's here.", kBindNoAddress),
    error("rdma_bind_addr", ENODEV, "ENODEV", "The address is no RDMA device's.", kCmNoDevice),
    error("rdma_connect", ECONNREFUSED, "ECONNREFUSED", "The peer rejected the connection.", kCmRefused),
    error("rdma_connect", EINVAL, "EINVAL", "The call does not fit the id's state, or its data are too long.", kCmInval),
    error("rdma_connect", ETIMEDOUT, "ETIMEDOUT", "The peer did not answer.", kCmTimedOut),
    error("rdma_create_event_channel", ENODEV, "ENODEV", "There is no /dev/infiniband/rdma_cm.", kOpenNoDevice),
    error("rdma_listen", EADDRINUSE, "EADDRINUSE", "Another id listens there.", kBindInUse),
    error("rdma_resolve_addr", ENODEV, "ENODEV", "The address is no RDMA device's.", kCmNoDevice),
    error("rdma_resolve_addr", ETIMEDOUT, "ETIMEDOUT", "Nobody answered for the address.", kCmTimedOut),
};
// clang-format on

constexpr bool is_sorted_and_without_twins() {
    for (size_t i = 1; i < std::size(kErrors); ++i) {
        const int order = kErrors[i - 1].name.compare(kErrors[i].name);
        if (order > 0 || (order == 0 && kErrors[i - 1].error >= kErrors[i].error)) return false;
    }
    return true;
}
static_assert(is_sorted_and_without_twins());

}  // namespace

std::span<const Topic> call_errors() noexcept {
    return kErrors;
}

}  // namespace simverbs::explain
