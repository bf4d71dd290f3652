// The kernel's interface of /dev/infiniband/rdma_cm, from its own public header.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

// After libc's headers: the kernel's leave out what those have defined.
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

namespace simverbs::server {

/// rdma_cm_event_type: librdmacm's and the kernel's, in no public header of the kernel.
enum CmEventNumber : uint32_t {
    kAddrResolved = 0,
    kAddrError,
    kRouteResolved,
    kRouteError,
    kConnectRequest,
    kConnectResponse,
    kConnectError,
    kUnreachable,
    kRejected,
    kEstablished,
    kDisconnected,
    kDeviceRemoval,
    kMulticastJoin,
    kMulticastError,
    kAddrChange,
    kTimewaitExit,
};

/// The Q_Key of UD ids of RDMA_PS_UDP (drivers/infiniband/core/cma.c).
inline constexpr uint32_t kUdpQkey = 0x01234567;

}  // namespace simverbs::server
