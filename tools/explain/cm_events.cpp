// enum rdma_cm_event_type, and the reasons of RDMA_CM_EVENT_REJECTED.
// Sources: rdma_cma.h, rdma_get_cm_event(3); IBTA volume 1, 12.6.7.2 (REJ reason codes).
#include <rdma/rdma_cma.h>

#include "tools/explain/explanation.hpp"

namespace simverbs::explain {

namespace {

constexpr Cause kAddrResolved[] = {
    {"the address belongs to a device: id->verbs is set", "Go on with rdma_resolve_route()."}};
constexpr Cause kAddrError[] = {
    {"no RDMA device has a way to that address",
     "status -19 (ENODEV) or -101: is it the address of an RDMA interface? rdma link."},
    {"nobody answered for the address (ARP, ND)", "status -110: is the host up? Does ping reach it?"}};
constexpr Cause kRouteResolved[] = {{"a path is known", "Create the QP, then rdma_connect()."}};
constexpr Cause kRouteError[] = {{"InfiniBand: the subnet administrator knows no path",
                                  "status -110: no answer; else no such record. Is a subnet manager running?"}};
constexpr Cause kConnectRequest[] = {{"a client asks: event->id is new, event->param.conn its private data",
                                      "Create its QP, post receives, rdma_accept(), or rdma_reject()."}};
constexpr Cause kConnectResponse[] = {{"the server accepted, and the id has no QP of librdmacm's",
                                       "Move your own QP to RTR and RTS, then rdma_establish()."}};
constexpr Cause kConnectError[] = {
    {"the connection broke while it was being made",
     "status tells: an errno, or the QP could not be moved. Look for events of the QP."}};
constexpr Cause kUnreachable[] = {{"no answer to REQ after all retries",
                                   "status -110. Is the peer up, is the path open (RoCE: UDP 4791)? A peer that is "
                                   "there but without a listener gives REJECTED, reason 8."}};
constexpr Cause kRejected[] = {
    {"the server, or its CM, said no", "status is the reason of the REJ: simverbs explain REJ_8 and so on."}};
constexpr Cause kEstablished[] = {
    {"both sides are connected", "A server may receive before it sees this: the RTU can be late."}};
constexpr Cause kDisconnected[] = {
    {"the peer, or this side, called rdma_disconnect()",
     "Posted receives flush. Destroy the QP after its completions, then the id."},
    {"the peer's program died",
     "Its kernel disconnects for it. A peer whose machine died is found by RETRY_EXC_ERR alone."}};
constexpr Cause kDeviceRemoval[] = {
    {"the device is being taken away", "Destroy everything on it: the kernel waits for that."}};
constexpr Cause kMulticastJoin[] = {
    {"rdma_join_multicast() succeeded", "event->param.ud has the AH's attributes, QP number and Q_Key to send with."}};
constexpr Cause kMulticastError[] = {
    {"the group could not be joined, or was lost", "status: an errno. InfiniBand: the subnet administrator refused."}};
constexpr Cause kAddrChange[] = {{"the interface's address moved to another device",
                                  "Disconnect and connect again, if it should follow (bonding)."}};
constexpr Cause kTimewaitExit[] = {
    {"late packets of the old connection cannot come any more", "The QP number may be used again."}};

constexpr Topic cm_event(rdma_cm_event_type value, std::string_view name, std::string_view meaning,
                         std::span<const Cause> causes) {
    return {Kind::CmEvent, name, value, {}, name, meaning, causes, {}};
}

// clang-format off
constexpr Topic kCmEvents[] = {
    cm_event(RDMA_CM_EVENT_ADDR_RESOLVED, "RDMA_CM_EVENT_ADDR_RESOLVED", "rdma_resolve_addr() succeeded.", kAddrResolved),
    cm_event(RDMA_CM_EVENT_ADDR_ERROR, "RDMA_CM_EVENT_ADDR_ERROR", "rdma_resolve_addr() failed.", kAddrError),
    cm_event(RDMA_CM_EVENT_ROUTE_RESOLVED, "RDMA_CM_EVENT_ROUTE_RESOLVED", "rdma_resolve_route() succeeded.", kRouteResolved),
    cm_event(RDMA_CM_EVENT_ROUTE_ERROR, "RDMA_CM_EVENT_ROUTE_ERROR", "rdma_resolve_route() failed.", kRouteError),
    cm_event(RDMA_CM_EVENT_CONNECT_REQUEST, "RDMA_CM_EVENT_CONNECT_REQUEST", "A REQ (or SIDR_REQ) came to a listener.", kConnectRequest),
    cm_event(RDMA_CM_EVENT_CONNECT_RESPONSE, "RDMA_CM_EVENT_CONNECT_RESPONSE", "A REP came.", kConnectResponse),
    cm_event(RDMA_CM_EVENT_CONNECT_ERROR, "RDMA_CM_EVENT_CONNECT_ERROR", "rdma_connect() or rdma_accept() failed half-way.", kConnectError),
    cm_event(RDMA_CM_EVENT_UNREACHABLE, "RDMA_CM_EVENT_UNREACHABLE", "The peer did not answer.", kUnreachable),
    cm_event(RDMA_CM_EVENT_REJECTED, "RDMA_CM_EVENT_REJECTED", "A REJ came.", kRejected),
    cm_event(RDMA_CM_EVENT_ESTABLISHED, "RDMA_CM_EVENT_ESTABLISHED", "The connection stands.", kEstablished),
    cm_event(RDMA_CM_EVENT_DISCONNECTED, "RDMA_CM_EVENT_DISCONNECTED", "The connection was ended (DREQ, DREP).", kDisconnected),
    cm_event(RDMA_CM_EVENT_DEVICE_REMOVAL, "RDMA_CM_EVENT_DEVICE_REMOVAL", "The RDMA device goes away.", kDeviceRemoval),
    cm_event(RDMA_CM_EVENT_MULTICAST_JOIN, "RDMA_CM_EVENT_MULTICAST_JOIN", "The multicast group was joined.", kMulticastJoin),
    cm_event(RDMA_CM_EVENT_MULTICAST_ERROR, "RDMA_CM_EVENT_MULTICAST_ERROR", "The multicast group was not joined.", kMulticastError),
    cm_event(RDMA_CM_EVENT_ADDR_CHANGE, "RDMA_CM_EVENT_ADDR_CHANGE", "The network device behind the id changed.", kAddrChange),
    cm_event(RDMA_CM_EVENT_TIMEWAIT_EXIT, "RDMA_CM_EVENT_TIMEWAIT_EXIT", "The QP has left the timewait state.", kTimewaitExit),
};

constexpr Cause kNoQp[] = {{"the peer's CM or device has no room for another connection", "Close some, or look at the peer's limits."}};
constexpr Cause kStale[] = {{"the peer still remembers an old connection of this QP", "A restarted program with the same QP number: try again; the peer disconnects the old one."}};
constexpr Cause kInvalidServiceId[] = {{"nothing listens on that port at the peer", "Wrong port or address, a server that listens on another interface, or a client that came first."}};
constexpr Cause kInvalidPort[] = {{"the path's other end is not the listener's port", "An address that the peer has on another port of the device."}};
constexpr Cause kTimeout[] = {{"the peer gave up: our REP, RTU or its answer was lost", "A lossy path, or a peer too busy to accept within its time."}};
constexpr Cause kConsumer[] = {{"the server program called rdma_reject(), or ended before it accepted", "Its private data (event->param.conn.private_data, up to 148 bytes) may say why."}};
constexpr Cause kGeneric[] = {{"a field of the REQ was refused", "The peer's device or CM does not take it: see the name of the reason."}};

constexpr Topic reason(int value, std::string_view name, std::string_view meaning, std::span<const Cause> causes) {
    return {Kind::RejectReason, name, value, {}, {}, meaning, causes, {}};
}
constexpr Topic kReasons[] = {
    reason(1, "REJ_1", "no QP available", kNoQp),
    reason(2, "REJ_2", "no EEC available", kNoQp),
    reason(3, "REJ_3", "no resources available", kNoQp),
    reason(4, "REJ_4", "timeout", kTimeout),
    reason(5, "REJ_5", "unsupported request", kGeneric),
    reason(6, "REJ_6", "invalid communication ID", kGeneric),
    reason(7, "REJ_7", "invalid communication instance", kGeneric),
    reason(8, "REJ_8", "invalid service ID: nobody listens there", kInvalidServiceId),
    reason(9, "REJ_9", "invalid transport service type", kGeneric),
    reason(10, "REJ_10", "stale connection", kStale),
    reason(11, "REJ_11", "RDC does not exist", kGeneric),
    reason(12, "REJ_12", "primary remote port GID rejected", kInvalidPort),
    reason(13, "REJ_13", "primary remote port LID rejected", kInvalidPort),
    reason(14, "REJ_14", "invalid primary SL", kGeneric),
    reason(15, "REJ_15", "invalid primary traffic class", kGeneric),
    reason(16, "REJ_16", "invalid primary hop limit", kGeneric),
    reason(17, "REJ_17", "invalid primary packet rate", kGeneric),
    reason(18, "REJ_18", "alternate remote port GID rejected", kInvalidPort),
    reason(19, "REJ_19", "alternate remote port LID rejected", kInvalidPort),
    reason(20, "REJ_20", "invalid alternate SL", kGeneric),
    reason(21, "REJ_21", "invalid alternate traffic class", kGeneric),
    reason(22, "REJ_22", "invalid alternate hop limit", kGeneric),
    reason(23, "REJ_23", "invalid alternate packet rate", kGeneric),
    reason(24, "REJ_24", "port and CM redirection", kGeneric),
    reason(25, "REJ_25", "port redirection", kGeneric),
    reason(26, "REJ_26", "invalid path MTU", kGeneric),
    reason(27, "REJ_27", "insufficient responder resources", kGeneric),
    reason(28, "REJ_28", "consumer reject: the program said no", kConsumer),
    reason(29, "REJ_29", "RNR retry count rejected", kGeneric),
};
// clang-format on

static_assert(numbers_run_from(kCmEvents, RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_TIMEWAIT_EXIT));
static_assert(numbers_run_from(kReasons, 1, 29));

}  // namespace

std::span<const Topic> cm_events() noexcept {
    return kCmEvents;
}
std::span<const Topic> reject_reasons() noexcept {
    return kReasons;
}

}  // namespace simverbs::explain
