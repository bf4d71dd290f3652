// The GID table.
#pragma once

#include <infiniband/verbs.h>

namespace simverbs::client::verbs {

int query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid);
/// ENODATA for an empty entry.
int query_gid_ex(ibv_context* context, uint32_t port, uint32_t index, ibv_gid_entry* entry, uint32_t flags,
                 size_t entry_size);
/// Number of valid entries written (over all ports), or -errno.
ssize_t query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t max_entries, uint32_t flags,
                        size_t entry_size);
/// For ibv_devinfo: 0 InfiniBand or RoCE v1, 1 RoCE v2, as the sysfs files under gid_attrs/types say it.
int query_gid_sysfs_type(ibv_context* context, uint8_t port, unsigned index, int* type);

}  // namespace simverbs::client::verbs
