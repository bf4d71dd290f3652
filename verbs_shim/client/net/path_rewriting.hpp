// Files of a simulated host that differ from the real machine's: /sys/class/infiniband and its like, /sys/class/net,
// /proc/cpuinfo, /etc/hostname, /dev/infiniband, random devices.
#pragma once

#include <climits>
#include <cstddef>

namespace simverbs::client::net {

enum class PathKind {
    Real,     ///< as it is
    Tree,     ///< lies in the simulated host's tree: use `path`
    Counter,  ///< a port counter: its content is made when it is opened; `path` is its place in the tree
    CpuInfo,  ///< /proc/cpuinfo: the CPU frequency is the virtual TSC's
    Random,   ///< /dev/random, /dev/urandom
    RdmaCm,   ///< /dev/infiniband/rdma_cm; `path` is a file that stands for it where only its name matters
};

struct Rewritten {
    PathKind kind = PathKind::Real;
    char path[PATH_MAX] = {};
};

/// Where `path` really lies. `out.path` is filled for Tree, Counter and RdmaCm only.
void rewrite_path(const char* path, Rewritten& out) noexcept;

/// Puts /sys back in front of a path that came out of readlink, realpath, … In place; returns the new length.
size_t restore_path(char* path, size_t length) noexcept;

/// A descriptor whose content is what the file says at this moment (close-on-exec as asked), or -1 with errno.
int open_made(const Rewritten& r, int flags) noexcept;

}  // namespace simverbs::client::net
