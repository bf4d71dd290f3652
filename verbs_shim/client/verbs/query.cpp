#include "verbs_shim/client/verbs/query.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"

namespace simverbs::client::verbs {

namespace {

/// The HCA clock is a register: a read over PCIe.
constexpr int64_t kRegisterReadPs = 500'000;

protocol::DeviceRequest device_request(protocol::Op op, ibv_context* c, uint32_t port, uint32_t index) {
    auto r = connection::make_request<protocol::DeviceRequest>(op);
    r.device = to_context(c)->device;
    r.port = port;
    r.index = index;
    return r;
}

int query(ibv_context* c, protocol::QueryDeviceReply& reply) {
    auto request = device_request(protocol::Op::QueryDevice, c, 0, 0);
    return control(request, reply);
}

int query_one_port(ibv_context* c, uint8_t port, protocol::QueryPortReply& reply) {
    auto request = device_request(protocol::Op::QueryPort, c, port, 0);
    return control(request, reply);
}

int query_one_pkey(ibv_context* c, uint8_t port, int index, __be16* pkey) {
    auto request = device_request(protocol::Op::QueryPkey, c, port, static_cast<uint32_t>(index));
    protocol::QueryPkeyReply reply;
    if (const int error = control(request, reply)) return error;
    *pkey = htons(reply.pkey);
    return 0;
}

}  // namespace

int query_device(ibv_context* context, ibv_device_attr* attr) {
    return call_on_device([&] {
        protocol::QueryDeviceReply reply;
        if (const int error = query(context, reply)) return error;
        *attr = reply.attr.orig_attr;
        return 0;
    });
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    size_t attr_size) {
    return call_on_device([&] {
        if (input != nullptr && input->comp_mask != 0) {
            return explain(EINVAL,
                           "ibv_query_device_ex: input->comp_mask is 0x%x; no bit of it is defined, set it to 0.",
                           input->comp_mask);
        }
        protocol::QueryDeviceReply reply;
        if (const int error = query(context, reply)) return error;
        std::memset(attr, 0, attr_size);
        std::memcpy(attr, &reply.attr, std::min(attr_size, sizeof reply.attr));
        return 0;
    });
}

int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attr, size_t attr_size) {
    return call_on_device([&] {
        protocol::QueryPortReply reply;
        if (const int error = query_one_port(context, port, reply)) return error;
        std::memset(attr, 0, attr_size);
        std::memcpy(attr, &reply.attr, std::min(attr_size, sizeof reply.attr));
        return 0;
    });
}

int query_pkey(ibv_context* context, uint8_t port, int index, __be16* pkey) {
    return call_on_device([&] { return query_one_pkey(context, port, index, pkey); });
}

int get_pkey_index(ibv_context* context, uint8_t port, __be16 pkey) {
    int found = -1;
    call(context, [&] {
        protocol::QueryPortReply reply;
        if (const int error = query_one_port(context, port, reply)) return error;
        for (int i = 0; i < reply.attr.pkey_tbl_len && found < 0; ++i) {
            __be16 entry = 0;
            if (const int error = query_one_pkey(context, port, i, &entry)) return error;
            // The top bit is membership, not part of the key.
            if (entry == pkey) found = i;
        }
        return 0;
    });
    return found;
}

int query_rt_values(ibv_context* context, ibv_values_ex* values) {
    return call_on_device([&] {
        const uint32_t wanted = values->comp_mask;
        values->comp_mask = 0;
        if ((wanted & ~static_cast<uint32_t>(IBV_VALUES_MASK_RAW_CLOCK)) != 0) {
            return explain(
                EINVAL, "ibv_query_rt_values_ex: comp_mask 0x%x asks for more than IBV_VALUES_MASK_RAW_CLOCK.", wanted);
        }
        if ((wanted & IBV_VALUES_MASK_RAW_CLOCK) != 0) {
            turn::charge(kRegisterReadPs);
            turn::checkpoint();
            values->raw_clock.tv_sec = 0;
            values->raw_clock.tv_nsec = turn::now_ps() / 1000;
            values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
        }
        return 0;
    });
}

}  // namespace simverbs::client::verbs
