// The texts that the public API gives; users search for them.
#include "verbs_shim/exports/export.hpp"

namespace {

/// Entry `index`, or what the real library says to values that it does not know.
template <size_t N>
const char* text_of(const char* const (&texts)[N], int index) {
    return index >= 0 && static_cast<size_t>(index) < N ? texts[index] : "unknown";
}

constexpr const char* kNodeTypes[] = {"unknown",           "InfiniBand channel adapter",
                                      "InfiniBand switch", "InfiniBand router",
                                      "iWARP NIC",         "usNIC",
                                      "usNIC UDP",         "unspecified"};

constexpr const char* kPortStates[] = {"no state change (NOP)", "down", "init", "armed", "active", "active defer"};

constexpr const char* kEvents[] = {"CQ error",
                                   "local work queue catastrophic error",
                                   "invalid request local work queue error",
                                   "local access violation work queue error",
                                   "communication established",
                                   "send queue drained",
                                   "path migrated",
                                   "path migration request error",
                                   "local catastrophic error",
                                   "port active",
                                   "port error",
                                   "LID change",
                                   "P_Key change",
                                   "SM change",
                                   "SRQ catastrophic error",
                                   "SRQ limit reached",
                                   "last WQE reached",
                                   "client reregistration",
                                   "GID table change",
                                   "WQ fatal"};

constexpr const char* kStatuses[] = {"success",
                                     "local length error",
                                     "local QP operation error",
                                     "local EE context operation error",
                                     "local protection error",
                                     "Work Request Flushed Error",
                                     "memory management operation error",
                                     "bad response error",
                                     "local access error",
                                     "remote invalid request error",
                                     "remote access error",
                                     "remote operation error",
                                     "transport retry counter exceeded",
                                     "RNR retry counter exceeded",
                                     "local RDD violation error",
                                     "remote invalid RD request",
                                     "aborted error",
                                     "invalid EE context number",
                                     "invalid EE context state",
                                     "fatal error",
                                     "response timeout error",
                                     "general error",
                                     "TM error",
                                     "TM software rendezvous"};

}  // namespace

SIMVERBS_EXPORT const char* ibv_node_type_str(ibv_node_type node_type) {
    return text_of(kNodeTypes, node_type);
}

SIMVERBS_EXPORT const char* ibv_port_state_str(ibv_port_state port_state) {
    return text_of(kPortStates, static_cast<int>(port_state));
}

SIMVERBS_EXPORT const char* ibv_event_type_str(ibv_event_type event) {
    return text_of(kEvents, static_cast<int>(event));
}

SIMVERBS_EXPORT const char* ibv_wc_status_str(ibv_wc_status status) {
    return text_of(kStatuses, static_cast<int>(status));
}
