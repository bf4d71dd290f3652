#include "verbs_shim/client/verbs/gid.hpp"

#include <algorithm>
#include <cstring>

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"

namespace simverbs::client::verbs {

namespace {

int query_entry(ibv_context* c, uint32_t port, uint32_t index, ibv_gid_entry& entry) {
    auto request = connection::make_request<protocol::DeviceRequest>(protocol::Op::QueryGid);
    request.device = to_context(c)->device;
    request.port = port;
    request.index = index;
    protocol::QueryGidReply reply;
    if (const int error = control(request, reply)) return error;
    entry.gid = reply.gid;
    entry.gid_index = index;
    entry.port_num = port;
    entry.gid_type = reply.gid_type;
    entry.ndev_ifindex = reply.ndev_ifindex;
    return 0;
}

bool is_empty(const ibv_gid& gid) {
    // An InfiniBand port whose subnet prefix is known but whose GUID is not, or nothing at all.
    return gid.global.interface_id == 0 && gid.global.subnet_prefix == 0;
}

int port_table_length(ibv_context* c, uint32_t port, uint32_t& length) {
    auto request = connection::make_request<protocol::DeviceRequest>(protocol::Op::QueryPort);
    request.device = to_context(c)->device;
    request.port = port;
    protocol::QueryPortReply reply;
    if (const int error = control(request, reply)) return error;
    length = static_cast<uint32_t>(std::max(reply.attr.gid_tbl_len, 0));
    return 0;
}

}  // namespace

int query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
    return call(context, [&] {
        ibv_gid_entry entry{};
        if (const int error = query_entry(context, port, static_cast<uint32_t>(index), entry)) return error;
        *gid = entry.gid;
        return 0;
    });
}

int query_gid_ex(ibv_context* context, uint32_t port, uint32_t index, ibv_gid_entry* entry, uint32_t flags,
                 size_t entry_size) {
    return call(context, [&] {
        if (flags != 0) return explain(EINVAL, "ibv_query_gid_ex: flags is 0x%x; no flag is defined, pass 0.", flags);
        ibv_gid_entry found{};
        if (const int error = query_entry(context, port, index, found)) return error;
        if (is_empty(found.gid)) return ENODATA;
        std::memcpy(entry, &found, std::min(entry_size, sizeof found));
        return 0;
    });
}

ssize_t query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t max_entries, uint32_t flags,
                        size_t entry_size) {
    size_t written = 0;
    const int failed = call(context, [&] {
        if (flags != 0)
            return explain(EINVAL, "ibv_query_gid_table: flags is 0x%x; no flag is defined, pass 0.", flags);
        const uint32_t ports = to_context(context)->info->num_ports;
        for (uint32_t port = 1; port <= ports; ++port) {
            uint32_t length = 0;
            if (const int error = port_table_length(context, port, length)) return error;
            for (uint32_t i = 0; i < length; ++i) {
                ibv_gid_entry found{};
                if (query_entry(context, port, i, found) != 0 || is_empty(found.gid)) continue;
                if (written == max_entries) return EINVAL;
                std::memcpy(reinterpret_cast<uint8_t*>(entries) + written * entry_size, &found,
                            std::min(entry_size, sizeof found));
                ++written;
            }
        }
        return 0;
    });
    return failed != 0 ? -failed : static_cast<ssize_t>(written);
}

int query_gid_sysfs_type(ibv_context* context, uint8_t port, unsigned index, int* type) {
    return call(context, [&] {
        ibv_gid_entry found{};
        if (const int error = query_entry(context, port, index, found)) return error;
        *type = found.gid_type == IBV_GID_TYPE_ROCE_V2 ? 1 : 0;
        return 0;
    });
}

}  // namespace simverbs::client::verbs
