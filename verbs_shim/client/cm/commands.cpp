#include "verbs_shim/client/cm/commands.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

// After libc's headers: the kernel's leave out what those have defined.
#include <rdma/rdma_user_cm.h>

namespace simverbs::client::cm {

static_assert(kGetEvent == RDMA_USER_CM_CMD_GET_EVENT && kSetOption == RDMA_USER_CM_CMD_SET_OPTION &&
              kMigrateId == RDMA_USER_CM_CMD_MIGRATE_ID);

namespace {

/// Offset of `response` in a command, -1: it has none.
constexpr int response_offset(uint32_t command) noexcept {
    switch (command) {
        case RDMA_USER_CM_CMD_CREATE_ID:
            return offsetof(rdma_ucm_create_id, response);
        case RDMA_USER_CM_CMD_DESTROY_ID:
        case RDMA_USER_CM_CMD_LEAVE_MCAST:
            return offsetof(rdma_ucm_destroy_id, response);
        case RDMA_USER_CM_CMD_QUERY_ROUTE:
        case RDMA_USER_CM_CMD_QUERY:
            return offsetof(rdma_ucm_query, response);
        case RDMA_USER_CM_CMD_INIT_QP_ATTR:
            return offsetof(rdma_ucm_init_qp_attr, response);
        case RDMA_USER_CM_CMD_GET_EVENT:
            return offsetof(rdma_ucm_get_event, response);
        case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
            return offsetof(rdma_ucm_join_ip_mcast, response);
        case RDMA_USER_CM_CMD_JOIN_MCAST:
            return offsetof(rdma_ucm_join_mcast, response);
        case RDMA_USER_CM_CMD_MIGRATE_ID:
            return offsetof(rdma_ucm_migrate_id, response);
        default:
            return -1;
    }
}

void* pointer_from(uint64_t value) noexcept {
    return reinterpret_cast<void*>(static_cast<uintptr_t>(value));
}

}  // namespace

void* response_of(uint32_t command, const void* in, size_t bytes) noexcept {
    const int offset = response_offset(command);
    uint64_t value = 0;
    if (offset < 0 || static_cast<size_t>(offset) + sizeof value > bytes) return nullptr;
    std::memcpy(&value, static_cast<const char*>(in) + offset, sizeof value);
    return pointer_from(value);
}

Option option_of(const void* in, size_t bytes) noexcept {
    rdma_ucm_set_option command;
    if (bytes < sizeof command) return {};
    std::memcpy(&command, in, sizeof command);
    return {pointer_from(command.optval), command.optlen};
}

int file_of(const void* in, size_t bytes) noexcept {
    rdma_ucm_migrate_id command;
    if (bytes < sizeof command) return -1;
    std::memcpy(&command, in, sizeof command);
    return static_cast<int>(command.fd);
}

}  // namespace simverbs::client::cm
