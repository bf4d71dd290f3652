// Requests about devices and ports.
#include <endian.h>

#include <cerrno>
#include <cstring>

#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/ibv_translate.hpp"

namespace simverbs::server {

namespace {

/// Device `index` of the client's host; its cost is charged.
hca::Hca* device_of(Call& call, uint32_t index) {
    auto& nics = call.lab.hosts()[call.client.host].nics;
    if (index >= nics.size()) return nullptr;
    call.cost_ps = nics[index].hca->profile().cpu.control.in_ps();
    return nics[index].hca;
}

bool is_port(const hca::Hca& hca, uint32_t port) {
    return port >= 1 && port <= hca.config().ports.size();
}

/// Interface index of a device's network interface: loopback is 1, eth0 of the first NIC 2, and so on.
uint32_t ifindex_of(uint32_t device) {
    return device + 2;
}

}  // namespace

int open_device(Call& call, const protocol::DeviceRequest& request, protocol::OpenDeviceReply& reply) {
    hca::Hca* hca = device_of(call, request.device);
    if (hca == nullptr) return ENODEV;
    NewEventFd async = make_event_fd(call.lab, call.client);
    if (async.error != 0) return async.error;
    ContextObject context;
    context.device = request.device;
    context.hca = hca;
    context.owner = call.lab.next_owner();
    context.async = std::move(async.server_end);
    reply.async_key = context.async.key;
    const hca::OwnerId owner = context.owner;
    reply.context = call.client.contexts.add(std::move(context));
    if (reply.context == 0) return EMFILE;
    call.lab.hosts()[call.client.host].nics[request.device].sink->contexts[owner] = {&call.client, reply.context};
    hca->watch_memory(call.client.space, true);
    call.fds.push_back(std::move(async.process_end));
    return 0;
}

int close_device(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    Client& c = call.client;
    ContextObject* context = call.context(request.context);
    if (context == nullptr) return EINVAL;
    // A context goes with everything in it, as when the kernel closes its file.
    const uint32_t gone = request.context;
    const auto in_context = [gone](auto& table, auto&& release) {
        for (auto it = table.begin(); it != table.end();) {
            if (it->second.context == gone) {
                release(it->second);
                it = table.erase(it);
            } else {
                ++it;
            }
        }
    };
    NicSink& sink = *call.nic(*context).sink;
    in_context(c.qps, [&](QpObject& qp) {
        sink.qps.erase(qp.qp_num);
        if (qp.sq.valid()) c.arena->release(qp.sq);
        if (qp.rq.valid()) c.arena->release(qp.rq);
    });
    in_context(c.srqs, [&](SrqObject& srq) {
        sink.srqs.erase(srq.srq);
        c.arena->release(srq.ring);
    });
    in_context(c.cqs, [&](CqObject& cq) {
        sink.cqs.erase(cq.cq);
        c.arena->release(cq.ring);
    });
    const auto nothing = [](auto&) {};
    in_context(c.mrs, [&](MrObject& mr) { call.lab.memory().release_segment(c.space, mr.segment); });
    in_context(c.ahs, nothing);
    in_context(c.mws, nothing);
    in_context(c.xrcds, nothing);
    in_context(c.dms, nothing);
    in_context(c.flows, nothing);
    in_context(c.pds, nothing);
    in_context(c.channels, nothing);
    context->hca->release_all(context->owner, call.now);
    sink.contexts.erase(context->owner);
    c.contexts.remove(gone);
    return 0;
}

int query_device(Call& call, const protocol::DeviceRequest& request, protocol::QueryDeviceReply& reply) {
    const hca::Hca* hca = device_of(call, request.device);
    if (hca == nullptr) return ENODEV;
    reply.attr = device_attr_to(hca->query_device());
    if (!hca->profile().behaviour.has_on_demand) {
        reply.attr.odp_caps = {};
        reply.attr.xrc_odp_caps = 0;
    }
    return 0;
}

int query_port(Call& call, const protocol::DeviceRequest& request, protocol::QueryPortReply& reply) {
    const hca::Hca* hca = device_of(call, request.device);
    if (hca == nullptr) return ENODEV;
    if (!is_port(*hca, request.port)) return EINVAL;
    const auto attr = hca->query_port(static_cast<uint8_t>(request.port));
    if (!attr.ok()) return attr.error;
    reply.attr = port_attr_to(attr.value);
    reply.active_speed_ex = attr.value.active_speed_ex;
    return 0;
}

int query_gid(Call& call, const protocol::DeviceRequest& request, protocol::QueryGidReply& reply) {
    const hca::Hca* hca = device_of(call, request.device);
    if (hca == nullptr) return ENODEV;
    if (!is_port(*hca, request.port)) return EINVAL;
    const auto entry = hca->query_gid(static_cast<uint8_t>(request.port), request.index);
    if (entry.error == ENODATA) return 0;  // an unused entry of the table reads as zeros
    if (!entry.ok()) return entry.error;
    std::memcpy(reply.gid.raw, entry.value.gid.data(), sizeof reply.gid.raw);
    reply.gid_type = static_cast<uint32_t>(entry.value.type);
    reply.ndev_ifindex = entry.value.netdev.empty() ? 0 : ifindex_of(request.device);
    return 0;
}

int query_pkey(Call& call, const protocol::DeviceRequest& request, protocol::QueryPkeyReply& reply) {
    const hca::Hca* hca = device_of(call, request.device);
    if (hca == nullptr) return ENODEV;
    if (!is_port(*hca, request.port)) return EINVAL;
    const auto pkey = hca->query_pkey(static_cast<uint8_t>(request.port), request.index);
    reply.pkey = pkey.value;
    return pkey.error;
}

int read_counter(Call& call, const protocol::ReadCounterRequest& request, protocol::ReadCounterReply& reply) {
    const hca::Hca* hca = device_of(call, request.device);
    if (hca == nullptr) return ENODEV;
    if (!is_port(*hca, request.port)) return EINVAL;
    const std::string name = bounded(request.name);
    const auto port = static_cast<uint8_t>(request.port);
    for (const hca::NamedCounter& counter : request.hw != 0 ? hca->hw_counters(port) : hca->port_counters(port)) {
        if (name == counter.name) {
            reply.value = counter.value;
            return 0;
        }
    }
    return ENOENT;
}

}  // namespace simverbs::server
