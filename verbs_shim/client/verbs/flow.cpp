// The specs of a flow become one pattern over the first bytes of a frame.
#include "verbs_shim/client/verbs/flow.hpp"

#include <cstring>

#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/protocol/enum_value.hpp"

namespace simverbs::client::verbs {

using protocol::CreateFlowRequest;

namespace {

/// Where fields lie in an untagged Ethernet frame with an IPv4 header of 20 bytes, or an IPv6 header.
enum Offset : size_t {
    kDstMac = 0,
    kSrcMac = 6,
    kEtherType = 12,
    kTos = 15,
    kTtl = 22,
    kProtocol = 23,
    kSrcIp = 26,
    kDstIp = 30,
    kIpv4End = 34,
    kNextHeader = 20,
    kHopLimit = 21,
    kSrcIp6 = 22,
    kDstIp6 = 38,
    kIpv6End = 54,
};
constexpr uint16_t kIpv4 = 0x0800, kIpv6 = 0x86DD;

void put(CreateFlowRequest& r, size_t at, const void* value, const void* mask, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        const uint8_t m = static_cast<const uint8_t*>(mask)[i];
        r.mask[at + i] |= m;
        r.value[at + i] = static_cast<uint8_t>(static_cast<const uint8_t*>(value)[i] & m);
    }
}
void put_byte(CreateFlowRequest& r, size_t at, uint8_t value) {
    r.mask[at] = 0xFF;
    r.value[at] = value;
}
void want_ether_type(CreateFlowRequest& r, uint16_t type) {
    put_byte(r, kEtherType, static_cast<uint8_t>(type >> 8));
    put_byte(r, kEtherType + 1, static_cast<uint8_t>(type));
}

int put_eth(CreateFlowRequest& r, const ibv_flow_spec_eth& s) {
    if (s.mask.vlan_tag != 0) return EOPNOTSUPP;
    put(r, kDstMac, s.val.dst_mac, s.mask.dst_mac, 6);
    put(r, kSrcMac, s.val.src_mac, s.mask.src_mac, 6);
    put(r, kEtherType, &s.val.ether_type, &s.mask.ether_type, 2);
    return 0;
}
int put_ipv4(CreateFlowRequest& r, const ibv_flow_spec_ipv4& s) {
    want_ether_type(r, kIpv4);
    put(r, kSrcIp, &s.val.src_ip, &s.mask.src_ip, 4);
    put(r, kDstIp, &s.val.dst_ip, &s.mask.dst_ip, 4);
    return 0;
}
int put_ipv4_ext(CreateFlowRequest& r, const ibv_flow_spec_ipv4_ext& s) {
    if (s.mask.flags != 0) return EOPNOTSUPP;
    want_ether_type(r, kIpv4);
    put(r, kSrcIp, &s.val.src_ip, &s.mask.src_ip, 4);
    put(r, kDstIp, &s.val.dst_ip, &s.mask.dst_ip, 4);
    put(r, kProtocol, &s.val.proto, &s.mask.proto, 1);
    put(r, kTos, &s.val.tos, &s.mask.tos, 1);
    put(r, kTtl, &s.val.ttl, &s.mask.ttl, 1);
    return 0;
}
int put_ipv6(CreateFlowRequest& r, const ibv_flow_spec_ipv6& s) {
    if (s.mask.flow_label != 0 || s.mask.traffic_class != 0) return EOPNOTSUPP;
    want_ether_type(r, kIpv6);
    put(r, kSrcIp6, s.val.src_ip, s.mask.src_ip, 16);
    put(r, kDstIp6, s.val.dst_ip, s.mask.dst_ip, 16);
    put(r, kNextHeader, &s.val.next_hdr, &s.mask.next_hdr, 1);
    put(r, kHopLimit, &s.val.hop_limit, &s.mask.hop_limit, 1);
    return 0;
}
/// Behind IPv6 if a spec before has said so, else behind IPv4.
int put_ports(CreateFlowRequest& r, const ibv_flow_spec_tcp_udp& s, bool tcp) {
    constexpr uint8_t kTcp = 6, kUdp = 17;
    const bool v6 = r.mask[kEtherType] == 0xFF && r.value[kEtherType] == kIpv6 >> 8;
    want_ether_type(r, v6 ? kIpv6 : kIpv4);
    put_byte(r, v6 ? kNextHeader : kProtocol, tcp ? kTcp : kUdp);
    const size_t ports = v6 ? kIpv6End : kIpv4End;
    put(r, ports, &s.val.src_port, &s.mask.src_port, 2);
    put(r, ports + 2, &s.val.dst_port, &s.mask.dst_port, 2);
    return 0;
}

/// One spec; 0 or an errno.
int put_spec(CreateFlowRequest& r, const uint8_t* at, uint32_t type, size_t size) {
    ibv_flow_spec spec{};
    std::memcpy(static_cast<void*>(&spec), at, size < sizeof spec ? size : sizeof spec);
    switch (type) {
        case IBV_FLOW_SPEC_ETH:
            return put_eth(r, spec.eth);
        case IBV_FLOW_SPEC_IPV4:
            return put_ipv4(r, spec.ipv4);
        case IBV_FLOW_SPEC_IPV4_EXT:
            return put_ipv4_ext(r, spec.ipv4_ext);
        case IBV_FLOW_SPEC_IPV6:
            return put_ipv6(r, spec.ipv6);
        case IBV_FLOW_SPEC_TCP:
        case IBV_FLOW_SPEC_UDP:
            return put_ports(r, spec.tcp_udp, type == IBV_FLOW_SPEC_TCP);
        default:
            return EOPNOTSUPP;
    }
}

/// As libibverbs does it: the specs follow each other, each as long as it says; attr.size is not looked at.
int put_specs(CreateFlowRequest& r, const ibv_flow_attr& attr) {
    const auto* at = reinterpret_cast<const uint8_t*>(&attr + 1);
    for (uint32_t i = 0; i < attr.num_of_specs; ++i) {
        uint32_t type = 0;
        uint16_t size = 0;
        std::memcpy(&type, at, sizeof type);
        std::memcpy(&size, at + sizeof type, sizeof size);
        if (size < sizeof type + sizeof size)
            return explain(EINVAL, "ibv_create_flow: spec %u is %u bytes long, less than its own header.", i, size);
        if (const int error = put_spec(r, at, type, size)) {
            return explain(
                error,
                "ibv_create_flow: spec %u has type 0x%x; Ethernet (without a VLAN), IPv4, IPv6, TCP and UDP can be "
                "asked for.",
                i, type);
        }
        at += size;
    }
    return 0;
}

}  // namespace

ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attr) {
    return call_for_object(qp->context, [&](int& error) -> ibv_flow* {
        auto request = connection::make_request<CreateFlowRequest>(protocol::Op::CreateFlow);
        request.context = to_context(qp->context)->handle;
        request.qp = qp->handle;
        request.type = protocol::enum_value(attr->type);
        request.priority = attr->priority;
        request.port = attr->port;
        if (const Qp& rss = *to_qp(qp); rss.table != nullptr) {
            request.queues = rss.table->size;
            for (uint32_t i = 0; i < rss.table->size; ++i) request.queue[i] = rss.table->queues[i]->ibv.handle;
            request.hash_fields = rss.hash_fields;
            std::memcpy(request.hash_key, rss.hash_key, sizeof request.hash_key);
        }
        error = attr->comp_mask != 0 || attr->flags != 0
                    ? explain(EOPNOTSUPP, "ibv_create_flow: comp_mask and flags must be 0 here.")
                    : put_specs(request, *attr);
        if (error != 0) return nullptr;
        protocol::HandleReply reply;
        error = control(request, reply);
        if (error != 0) return nullptr;
        auto* const flow = make_object<ibv_flow>();
        if (flow == nullptr) {
            destroy_object(protocol::Op::DestroyFlow, qp->context, reply.handle);
            error = ENOMEM;
            return nullptr;
        }
        flow->context = qp->context;
        flow->handle = reply.handle;
        return flow;
    });
}

int destroy_flow(ibv_flow* flow) {
    return call(flow->context, [&] {
        if (const int error = destroy_object(protocol::Op::DestroyFlow, flow->context, flow->handle)) return error;
        free_object(flow);
        return 0;
    });
}

}  // namespace simverbs::client::verbs
