// Attributes of devices and ports, GIDs, P_Keys.
#include "verbs_shim/client/verbs/query.hpp"

#include <cstddef>

#include "verbs_shim/client/verbs/gid.hpp"
#include "verbs_shim/exports/export.hpp"

namespace {

/// Functions of 1.1 report failure as -1 with errno.
int minus_one(int error) {
    if (error == 0) return 0;
    errno = error;
    return -1;
}

}  // namespace

SIMVERBS_EXPORT int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_query_device, "IBVERBS_1.1", context, attr);
    return verbs::query_device(context, attr);
}

SIMVERBS_EXPORT int ibv_query_port(ibv_context* context, uint8_t port_num, _compat_ibv_port_attr* attr) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_query_port, "IBVERBS_1.1", context, port_num, attr);
    // Binaries that call the function itself were built before port_cap_flags2.
    return verbs::query_port(context, port_num, reinterpret_cast<ibv_port_attr*>(attr),
                             offsetof(ibv_port_attr, port_cap_flags2));
}

SIMVERBS_EXPORT int ibv_query_gid(ibv_context* context, uint8_t port_num, int index, ibv_gid* gid) {
    if (!verbs::is_ours(context)) return SIMVERBS_FORWARD(ibv_query_gid, "IBVERBS_1.1", context, port_num, index, gid);
    return minus_one(verbs::query_gid(context, port_num, index, gid));
}

SIMVERBS_EXPORT int _ibv_query_gid_ex(ibv_context* context, uint32_t port_num, uint32_t gid_index, ibv_gid_entry* entry,
                                      uint32_t flags, size_t entry_size) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(_ibv_query_gid_ex, "IBVERBS_1.11", context, port_num, gid_index, entry, flags,
                                entry_size);
    }
    return verbs::query_gid_ex(context, port_num, gid_index, entry, flags, entry_size);
}

SIMVERBS_EXPORT ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t max_entries,
                                             uint32_t flags, size_t entry_size) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(_ibv_query_gid_table, "IBVERBS_1.11", context, entries, max_entries, flags, entry_size);
    }
    return verbs::query_gid_table(context, entries, max_entries, flags, entry_size);
}

SIMVERBS_EXPORT int ibv_query_pkey(ibv_context* context, uint8_t port_num, int index, __be16* pkey) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(ibv_query_pkey, "IBVERBS_1.1", context, port_num, index, pkey);
    }
    return minus_one(verbs::query_pkey(context, port_num, index, pkey));
}

SIMVERBS_EXPORT int ibv_get_pkey_index(ibv_context* context, uint8_t port_num, __be16 pkey) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(ibv_get_pkey_index, "IBVERBS_1.5", context, port_num, pkey);
    }
    return verbs::get_pkey_index(context, port_num, pkey);
}

// Declared in no public header: enum ibv_gid_type_sysfs, 0 InfiniBand or RoCE v1, 1 RoCE v2.
SIMVERBS_EXPORT int ibv_query_gid_type(ibv_context* context, uint8_t port_num, unsigned index, int* type);

SIMVERBS_EXPORT int ibv_query_gid_type(ibv_context* context, uint8_t port_num, unsigned index, int* type) {
    if (!verbs::is_ours(context)) {
        return SIMVERBS_FORWARD(ibv_query_gid_type, "IBVERBS_PRIVATE_34", context, port_num, index, type);
    }
    return minus_one(verbs::query_gid_sysfs_type(context, port_num, index, type));
}
