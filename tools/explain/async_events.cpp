// enum ibv_event_type: what has happened, why, and what a program does about it.
// Sources: IBTA volume 1, 11.6.3; verbs.h.
#include <infiniband/verbs.h>

#include "tools/explain/explanation.hpp"

namespace simverbs::explain {

namespace {

constexpr Cause kCqErr[] = {
    {"the CQ overran: more completions than cqe were waiting",
     "Make the CQ as large as all send and receive queues on it together, or poll in time. Unsignalled sends need no "
     "room, but their errors do. In a scenario: the fault limit_cq."}};
constexpr Cause kQpFatal[] = {{"the CQ of the QP is broken", "CQ_ERR came before it."},
                              {"the adapter could not work on the QP",
                               "Without CQ_ERR: the adapter or its driver. Destroy the QP and make a new one."}};
constexpr Cause kQpReq[] = {
    {"the peer sent what this QP must refuse",
     "Opcodes out of sequence, a READ or atomic beyond max_dest_rd_atomic, a wrong length: the peer's completion is "
     "REM_INV_REQ_ERR and names what was wrong."}};
constexpr Cause kQpAccess[] = {
    {"the peer used a wrong rkey, address or right",
     "The peer's completion is REM_ACCESS_ERR. The rights of MR (or window) and QP here decide."}};
constexpr Cause kCommEst[] = {
    {"the first packet reached a QP that is still in RTR",
     "No error: the peer is connected. rdma_cm programs hand it on (rdma_notify) so that a lost RTU does no harm."}};
constexpr Cause kDrained[] = {
    {"RTS → SQD was asked for with IBV_QP_EN_SQD_ASYNC_NOTIFY",
     "All that was under way has been acknowledged: attributes that may only change in SQD can be changed now."}};
constexpr Cause kMig[] = {{"automatic path migration took the alternate path", "Load a new alternate path and rearm."}};
constexpr Cause kMigErr[] = {{"the alternate path could not be used", "The QP stays on the old path, or fails."}};
constexpr Cause kDeviceFatal[] = {
    {"the adapter (in simverbs: the lab's server) has gone",
     "Every object of the context is dead: destroy what can be destroyed, close the device. simverbs prints why the "
     "server ended. In a scenario: a fault that kills the NIC."}};
constexpr Cause kPortActive[] = {{"the link is up and configured", "Addresses are valid; connections can be made."}};
constexpr Cause kPortErr[] = {
    {"the link went down",
     "ibv_devinfo shows the port's state. QPs are not moved to ERR: RC requests end with RETRY_EXC_ERR if it stays "
     "down longer than all retries. In a scenario: port_state, or a fault that takes the port's link down."}};
constexpr Cause kLid[] = {
    {"the subnet manager gave the port another LID", "Exchange addresses again. In a scenario: port_event."}};
constexpr Cause kPkey[] = {
    {"the P_Key table changed",
     "pkey_index of existing QPs may mean another partition now: a peer that did not change with it gets no answer any "
     "more (RETRY_EXC_ERR there, bad_pkey_cntr of ibv_query_port here). In a scenario: change_pkey."}};
constexpr Cause kSm[] = {
    {"another subnet manager is in charge", "Nothing to do; join multicast groups again if asked to."}};
constexpr Cause kSrqErr[] = {{"the SRQ can no longer be used", "Its QPs fail. Destroy them and the SRQ."}};
constexpr Cause kSrqLimit[] = {
    {"fewer receives than srq_limit are left in the SRQ",
     "Post more, then arm it again (ibv_modify_srq with IBV_SRQ_LIMIT): the event comes once."}};
constexpr Cause kLastWqe[] = {{"a QP on an SRQ went to ERR",
                               "It takes no more receives from the SRQ. After its CQ is polled empty the QP can be "
                               "destroyed without losing any."}};
constexpr Cause kRereg[] = {
    {"the subnet manager lost what it knew", "Join multicast groups and subscribe again. In a scenario: port_event."}};
constexpr Cause kGid[] = {
    {"an address of the network interface came, went or changed",
     "sgid_index of later QPs and AHs: read the GID table again. Existing QPs keep what they resolved. In a scenario: "
     "change_gid."}};
constexpr Cause kWqFatal[] = {{"a receive work queue (ibv_create_wq) failed", "Destroy it and what uses it."}};

constexpr Topic async_event(ibv_event_type value, std::string_view name, std::string_view text,
                            std::string_view meaning, std::span<const Cause> causes) {
    return {Kind::AsyncEvent, name, value, {}, text, meaning, causes, {}};
}

// clang-format off
constexpr Topic kAsyncEvents[] = {
    async_event(IBV_EVENT_CQ_ERR, "IBV_EVENT_CQ_ERR", "CQ error", "A completion queue is broken; the QPs on it follow.", kCqErr),
    async_event(IBV_EVENT_QP_FATAL, "IBV_EVENT_QP_FATAL", "local work queue catastrophic error", "A QP went to ERR for a reason of the adapter's.", kQpFatal),
    async_event(IBV_EVENT_QP_REQ_ERR, "IBV_EVENT_QP_REQ_ERR", "invalid request local work queue error", "The responder refused a request as invalid; its QP is in ERR.", kQpReq),
    async_event(IBV_EVENT_QP_ACCESS_ERR, "IBV_EVENT_QP_ACCESS_ERR", "local access violation work queue error", "The responder refused access to memory; its QP is in ERR.", kQpAccess),
    async_event(IBV_EVENT_COMM_EST, "IBV_EVENT_COMM_EST", "communication established", "The peer's first packet has come.", kCommEst),
    async_event(IBV_EVENT_SQ_DRAINED, "IBV_EVENT_SQ_DRAINED", "send queue drained", "The send queue of a QP in SQD rests.", kDrained),
    async_event(IBV_EVENT_PATH_MIG, "IBV_EVENT_PATH_MIG", "path migrated", "The connection goes on over its alternate path.", kMig),
    async_event(IBV_EVENT_PATH_MIG_ERR, "IBV_EVENT_PATH_MIG_ERR", "path migration request error", "The peer asked for a migration that is not possible.", kMigErr),
    async_event(IBV_EVENT_DEVICE_FATAL, "IBV_EVENT_DEVICE_FATAL", "local catastrophic error", "The device is lost.", kDeviceFatal),
    async_event(IBV_EVENT_PORT_ACTIVE, "IBV_EVENT_PORT_ACTIVE", "port active", "A port came up.", kPortActive),
    async_event(IBV_EVENT_PORT_ERR, "IBV_EVENT_PORT_ERR", "port error", "A port went down.", kPortErr),
    async_event(IBV_EVENT_LID_CHANGE, "IBV_EVENT_LID_CHANGE", "LID change", "The port's LID is another.", kLid),
    async_event(IBV_EVENT_PKEY_CHANGE, "IBV_EVENT_PKEY_CHANGE", "P_Key change", "The port's P_Key table is another.", kPkey),
    async_event(IBV_EVENT_SM_CHANGE, "IBV_EVENT_SM_CHANGE", "SM change", "The subnet manager is another.", kSm),
    async_event(IBV_EVENT_SRQ_ERR, "IBV_EVENT_SRQ_ERR", "SRQ catastrophic error", "A shared receive queue is broken.", kSrqErr),
    async_event(IBV_EVENT_SRQ_LIMIT_REACHED, "IBV_EVENT_SRQ_LIMIT_REACHED", "SRQ limit reached", "An armed limit was crossed.", kSrqLimit),
    async_event(IBV_EVENT_QP_LAST_WQE_REACHED, "IBV_EVENT_QP_LAST_WQE_REACHED", "last WQE reached", "A QP has taken its last receive from an SRQ.", kLastWqe),
    async_event(IBV_EVENT_CLIENT_REREGISTER, "IBV_EVENT_CLIENT_REREGISTER", "client reregistration", "The subnet manager asks everybody to register anew.", kRereg),
    async_event(IBV_EVENT_GID_CHANGE, "IBV_EVENT_GID_CHANGE", "GID table change", "The port's GID table is another.", kGid),
    async_event(IBV_EVENT_WQ_FATAL, "IBV_EVENT_WQ_FATAL", "WQ fatal", "A work queue is broken.", kWqFatal),
};
// clang-format on

static_assert(numbers_run_from(kAsyncEvents, IBV_EVENT_CQ_ERR, IBV_EVENT_WQ_FATAL));

}  // namespace

std::span<const Topic> async_events() noexcept {
    return kAsyncEvents;
}

}  // namespace simverbs::explain
