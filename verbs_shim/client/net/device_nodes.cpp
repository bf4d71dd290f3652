#include "verbs_shim/client/net/device_nodes.hpp"

#include <cstdio>
#include <cstring>

#include "verbs_shim/client/net/lab.hpp"

namespace simverbs::client::net {

namespace {

// Linux: drivers/infiniband/core/uverbs_main.c.
constexpr unsigned kUverbsMajor = 231, kFirstUverbsMinor = 192;

}  // namespace

bool is_device_node(const Rewritten& path, unsigned& major_number, unsigned& minor_number) noexcept {
    if (path.kind != PathKind::Tree && path.kind != PathKind::RdmaCm) return false;
    const size_t root = std::strlen(sysfs_root());
    if (std::strncmp(path.path, sysfs_root(), root) != 0) return false;
    const char* const name = path.path + root;
    unsigned index = 0;
    int used = 0;
    if (std::strcmp(name, "/dev/infiniband/rdma_cm") == 0) {
        major_number = kRdmaCmMajor;
        minor_number = kRdmaCmMinor;
        return true;
    }
    if (std::sscanf(name, "/dev/infiniband/uverbs%u%n", &index, &used) != 1 || name[used] != '\0') return false;
    major_number = kUverbsMajor;
    minor_number = kFirstUverbsMinor + index;
    return true;
}

int as_device_node(const Rewritten& path, struct statx* st, int rc) noexcept {
    unsigned major_number = 0, minor_number = 0;
    if (rc != 0 || !is_device_node(path, major_number, minor_number)) return rc;
    st->stx_mode = S_IFCHR | 0666;
    st->stx_rdev_major = major_number;
    st->stx_rdev_minor = minor_number;
    st->stx_size = 0;
    return rc;
}

}  // namespace simverbs::client::net
