// The way back to the sender of a UD message, from its completion and the 40 bytes in front of its data.
#include <arpa/inet.h>
#include <endian.h>

#include <cstring>

#include "verbs_shim/client/verbs/ah.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/gid.hpp"
#include "verbs_shim/client/verbs/query.hpp"

namespace simverbs::client::verbs {

namespace {

/// Who sent it and to whom, from either form of network header.
struct NetworkHeader {
    ibv_gid sgid{};
    ibv_gid dgid{};
    uint32_t flow_label = 0;
    uint8_t traffic_class = 0;
    uint8_t hop_limit = 0;
    bool is_ipv4 = false;
};

ibv_gid mapped_ipv4(const uint8_t address[4]) {
    ibv_gid g{};
    g.raw[10] = g.raw[11] = 0xFF;
    std::memcpy(g.raw + 12, address, 4);
    return g;
}

/// RoCE v2 over IPv4 leaves the IP header in the second half of the GRH's place. A GRH has an address there: the
/// checksum tells.
bool is_ipv4_header(const uint8_t* h) {
    if (h[0] != 0x45) return false;
    uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2) sum += static_cast<uint32_t>(h[i]) << 8 | h[i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return sum == 0xFFFF;
}

NetworkHeader read_header(const ibv_grh& grh) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&grh);
    const uint8_t* const ip = bytes + 20;
    NetworkHeader n;
    if (is_ipv4_header(ip)) {
        n.is_ipv4 = true;
        n.traffic_class = ip[1];
        n.hop_limit = ip[8];
        n.sgid = mapped_ipv4(ip + 12);
        n.dgid = mapped_ipv4(ip + 16);
        return n;
    }
    const uint32_t word = ntohl(grh.version_tclass_flow);
    n.traffic_class = static_cast<uint8_t>(word >> 20);
    n.flow_label = word & 0xFFFFF;
    n.hop_limit = grh.hop_limit;
    n.sgid = grh.sgid;
    n.dgid = grh.dgid;
    return n;
}

constexpr uint8_t kNextHeaderIba = 0x1B;

/// Index of the GID that the message was sent to; -1 if the port has none such.
int find_gid(ibv_context* context, uint8_t port, const ibv_gid& gid, uint32_t gid_type) {
    ibv_port_attr attr;
    if (query_port(context, port, &attr, sizeof attr) != 0) return -1;
    for (int i = 0; i < attr.gid_tbl_len; ++i) {
        ibv_gid_entry entry;
        if (query_gid_ex(context, port, static_cast<uint32_t>(i), &entry, 0, sizeof entry) != 0) continue;
        if (std::memcmp(entry.gid.raw, gid.raw, sizeof gid.raw) == 0 && entry.gid_type == gid_type) return i;
    }
    return -1;
}

}  // namespace

int init_ah_from_wc(ibv_context* context, uint8_t port, const ibv_wc& wc, const ibv_grh* grh, ibv_ah_attr* attr) {
    std::memset(attr, 0, sizeof *attr);
    attr->dlid = wc.slid;
    attr->sl = wc.sl;
    attr->src_path_bits = wc.dlid_path_bits;
    attr->port_num = port;
    if ((wc.wc_flags & IBV_WC_GRH) == 0) return 0;
    ibv_port_attr port_attr;
    if (const int error = query_port(context, port, &port_attr, sizeof port_attr)) {
        errno = error;
        return -1;
    }
    const NetworkHeader n = read_header(*grh);
    uint32_t gid_type = IBV_GID_TYPE_IB;
    if (port_attr.link_layer == IBV_LINK_LAYER_ETHERNET) {
        // A number beyond 802.1p says which headers there were (models/hca/ud), and asks for no priority.
        if (attr->sl > 7) attr->sl = 0;
        gid_type = n.is_ipv4 || grh->next_hdr != kNextHeaderIba ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
    }
    const int index = find_gid(context, port, n.dgid, gid_type);
    if (index < 0) {
        errno = ENOENT;
        return -1;
    }
    attr->is_global = 1;
    attr->grh.dgid = n.sgid;
    attr->grh.sgid_index = static_cast<uint8_t>(index);
    attr->grh.flow_label = n.flow_label;
    attr->grh.hop_limit = 0xFF;
    attr->grh.traffic_class = n.traffic_class;
    return 0;
}

int resolve_eth_l2_from_gid(ibv_context* context, const ibv_ah_attr& attr, uint8_t mac[6], uint16_t* vid) {
    const uint8_t* const gid = attr.grh.dgid.raw;
    if (vid != nullptr) *vid = 0xFFFF;
    const bool link_local = gid[0] == 0xFE && gid[1] == 0x80;
    if (link_local && gid[11] == 0xFF && gid[12] == 0xFE) {  // modified EUI-64
        const uint8_t from_eui[6] = {static_cast<uint8_t>(gid[8] ^ 2), gid[9], gid[10], gid[13], gid[14], gid[15]};
        std::memcpy(mac, from_eui, sizeof from_eui);
        return 0;
    }
    if (gid[0] == 0xFF) {  // RFC 2464
        const uint8_t multicast[6] = {0x33, 0x33, gid[12], gid[13], gid[14], gid[15]};
        std::memcpy(mac, multicast, sizeof multicast);
        return 0;
    }
    const turn::InShim in_shim;
    (void)context;
    errno =
        explain(EHOSTUNREACH,
                "ibv_resolve_eth_l2_from_gid: the MAC behind a routable GID is resolved by the device itself; create "
                "the address handle with ibv_create_ah.");
    return -1;
}

}  // namespace simverbs::client::verbs
