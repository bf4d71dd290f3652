// /dev/infiniband: ordinary files in the simulated host's tree (nobody needs a right to make them), character devices
// to the program. UCX takes a device only if its node is one; librdmacm looks for the number of its.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "verbs_shim/client/net/path_rewriting.hpp"

namespace simverbs::client::net {

/// Major and minor number of the misc device that is rdma_cm, as /sys/class/misc/rdma_cm/dev has them.
inline constexpr unsigned kRdmaCmMajor = 10, kRdmaCmMinor = 58;

/// Whether `path`, as rewritten, is a device's node, and which.
bool is_device_node(const Rewritten& path, unsigned& major_number, unsigned& minor_number) noexcept;

/// Puts into what stat has answered for `path` what the kernel says of a device's node. Returns `rc`.
template <typename Stat>
int as_device_node(const Rewritten& path, Stat* st, int rc) noexcept {
    unsigned major_number = 0, minor_number = 0;
    if (rc != 0 || !is_device_node(path, major_number, minor_number)) return rc;
    st->st_mode = S_IFCHR | 0666;
    st->st_rdev = makedev(major_number, minor_number);
    st->st_size = 0;
    return rc;
}

/// The same for statx.
int as_device_node(const Rewritten& path, struct statx* st, int rc) noexcept;

}  // namespace simverbs::client::net
