// What the adapter says of itself and its ports.
#include "models/hca/device.hpp"

namespace simverbs::hca {

namespace {

struct WidthSpeed {
    int64_t gbps;
    uint8_t width, speed;
    uint32_t speed_ex;
};
/// active_width and active_speed codes by rate. Source: IBTA vol. 1, PortInfo LinkWidthActive, LinkSpeedActive; the
/// same codes as the kernel uses for Ethernet speeds.
constexpr WidthSpeed kRates[] = {
    {10, 1, 4, 0},   {25, 1, 32, 0},  {40, 2, 4, 0},    {50, 1, 64, 0},
    {100, 2, 32, 0}, {200, 2, 64, 0}, {400, 2, 128, 0}, {800, 2, 0, 256},
};

WidthSpeed width_speed(sim::BitRate rate) noexcept {
    WidthSpeed best = kRates[0];
    for (const WidthSpeed& r : kRates)
        if (rate >= sim::BitRate::gbps(r.gbps)) best = r;
    return best;
}

constexpr uint8_t kPhysPolling = 2, kPhysDisabled = 3, kPhysLinkUp = 5, kVlNum8 = 4;

/// Of a QP that has nothing to do but wait for its peer; "" if it does not wait.
std::string waiting_receives_of(const Qp& qp) {
    const bool has_sent_all = qp.rq.una == qp.rq.end;
    if (!has_sent_all || !qp.receives() || qp.verbs == nullptr || qp.verbs->srq != nullptr ||
        qp.verbs->rq.waiting() == 0)
        return {};
    std::string text = std::string(name_of(qp.type)) + " QP " + std::to_string(qp.qpn) + " " + name_of(qp.state) +
                       ": has sent all of its " + std::to_string(qp.rq.end) + " messages, " +
                       std::to_string(qp.verbs->rq.waiting()) + " receives wait for messages, next PSN " +
                       std::to_string(qp.rs.expected_psn.value());
    if (qp.type == QpType::Uc) text += "; on UC what is lost does not come again";
    return text;
}

}  // namespace

const DeviceAttr& Hca::query_device() const noexcept {
    return device_->attr;
}

Result<PortAttr> Hca::query_port(uint8_t number) const {
    const Device& d = *device_;
    if (number < 1 || number > d.config.ports.size()) return {EINVAL, {}};
    const HcaPortConfig& c = d.config.ports[number - 1];
    const Port& port = *d.ports[number - 1];
    PortAttr a;
    const bool infiniband = c.link_layer == LinkLayer::InfiniBand;
    a.max_mtu = c.max_mtu;
    a.active_mtu = c.active_mtu;
    a.gid_tbl_len = infiniband ? 8 : static_cast<int>(kGidTableLength) - 1;
    a.max_msg_sz = d.attr.max_msg_sz;
    a.bad_pkey_cntr = static_cast<uint32_t>(port.counters.bad_pkey);
    a.qkey_viol_cntr = static_cast<uint32_t>(port.counters.qkey_violations);
    a.pkey_tbl_len = infiniband ? d.attr.max_pkeys : 1;
    a.lid = c.lid;
    a.sm_lid = c.sm_lid;
    a.lmc = c.lmc;
    a.max_vl_num = infiniband ? kVlNum8 : 0;
    a.subnet_timeout = infiniband ? 18 : 0;
    // Capability bits of ConnectX adapters: InfiniBand ports have LIDs and an SM, RoCE ports are IP based.
    a.port_cap_flags = infiniband ? 0x2259e848 : 0x04010000;
    const WidthSpeed ws = width_speed(c.rate);
    a.active_width = ws.width;
    a.active_speed = ws.speed;
    a.active_speed_ex = ws.speed_ex;
    a.state = port.state;
    a.phys_state = port.state != PortState::Down ? kPhysLinkUp : infiniband ? kPhysPolling : kPhysDisabled;
    a.link_layer = c.link_layer;
    return {0, a};
}

Result<GidEntry> Hca::query_gid(uint8_t number, uint32_t index) const {
    const Device& d = *device_;
    if (number < 1 || number > d.config.ports.size()) return {EINVAL, {}};
    const HcaPortConfig& c = d.config.ports[number - 1];
    const uint32_t length = c.link_layer == LinkLayer::InfiniBand ? 8 : kGidTableLength - 1;
    if (index < c.gids.size() && c.gids[index].gid != Gid{}) return {0, c.gids[index]};
    return {index < length ? ENODATA : EINVAL, {}};
}

Result<uint16_t> Hca::query_pkey(uint8_t number, uint32_t index) const {
    const Device& d = *device_;
    if (number < 1 || number > d.config.ports.size()) return {EINVAL, 0};
    const HcaPortConfig& c = d.config.ports[number - 1];
    const uint32_t length = c.link_layer == LinkLayer::InfiniBand ? d.attr.max_pkeys : 1;
    if (index < c.pkeys.size()) return {0, c.pkeys[index]};
    return {index < length ? 0 : EINVAL, 0};
}

LinkCounts Hca::link_counts(uint8_t number) const {
    const Port& port = *device_->ports.at(number - 1);
    const PortCounters& c = port.counters;
    LinkCounts to{c.xmit_packets, c.xmit_bytes, c.rcv_packets, c.rcv_bytes, c.rcv_errors, 0, {}};
    if (port.gate == nullptr) return to;
    to.pauses_received = port.gate->control.pauses_received();
    to.paused_time = port.gate->control.paused_time(port.egress, device_->node.engine().frontier());
    return to;
}

std::vector<NamedCounter> Hca::port_counters(uint8_t number) const {
    const PortCounters& c = device_->ports.at(number - 1)->counters;
    constexpr uint64_t kWord = 4;
    return {
        {"VL15_dropped", 0},
        {"excessive_buffer_overrun_errors", 0},
        {"link_downed", 0},
        {"link_error_recovery", 0},
        {"local_link_integrity_errors", 0},
        {"multicast_rcv_packets", c.multicast_rcv_packets},
        {"multicast_xmit_packets", c.multicast_xmit_packets},
        {"port_rcv_constraint_errors", 0},
        {"port_rcv_data", c.rcv_bytes / kWord},
        {"port_rcv_errors", c.rcv_errors},
        {"port_rcv_packets", c.rcv_packets},
        {"port_rcv_remote_physical_errors", 0},
        {"port_rcv_switch_relay_errors", 0},
        {"port_xmit_constraint_errors", 0},
        {"port_xmit_data", c.xmit_bytes / kWord},
        {"port_xmit_discards", c.xmit_discards},
        {"port_xmit_packets", c.xmit_packets},
        {"port_xmit_wait", 0},
        {"symbol_error", 0},
        {"unicast_rcv_packets", c.rcv_packets - c.multicast_rcv_packets},
        {"unicast_xmit_packets", c.xmit_packets - c.multicast_xmit_packets},
    };
}

std::vector<NamedCounter> Hca::hw_counters(uint8_t number) const {
    const HwCounters& h = device_->ports.at(number - 1)->hw;
    return {
        {"duplicate_request", h.duplicate_request},
        {"implied_nak_seq_err", h.implied_nak_seq_err},
        {"lifespan", 10},
        {"local_ack_timeout_err", h.local_ack_timeout_err},
        {"np_cnp_sent", h.np_cnp_sent},
        {"np_ecn_marked_roce_packets", h.np_ecn_marked_roce_packets},
        {"out_of_buffer", h.out_of_buffer},
        {"out_of_sequence", h.out_of_sequence},
        {"packet_seq_err", h.packet_seq_err},
        {"req_cqe_error", h.req_cqe_error},
        {"req_cqe_flush_error", h.req_cqe_flush_error},
        {"req_remote_access_errors", h.req_remote_access_errors},
        {"req_remote_invalid_request", h.req_remote_invalid_request},
        {"resp_cqe_error", h.resp_cqe_error},
        {"resp_cqe_flush_error", h.resp_cqe_flush_error},
        {"resp_local_length_error", h.resp_local_length_error},
        {"resp_remote_access_errors", h.resp_remote_access_errors},
        {"rnr_nak_retry_err", h.rnr_nak_retry_err},
        {"rp_cnp_handled", h.rp_cnp_handled},
        {"rx_atomic_requests", h.rx_atomic_requests},
        {"rx_icrc_encapsulated", h.rx_icrc_encapsulated},
        {"rx_read_requests", h.rx_read_requests},
        {"rx_write_requests", h.rx_write_requests},
    };
}

std::vector<std::string> Hca::outstanding_work() const {
    std::vector<std::string> out;
    for (const auto& qp : device_->qps) {
        if (qp->destroyed) continue;
        const Requester& r = qp->rq;
        if (r.una == r.end) continue;
        std::string text = config().name + " " + name_of(qp->type) + " QP " + std::to_string(qp->qpn) + " " +
                           name_of(qp->state) + ": " + std::to_string(r.end - r.una) +
                           " messages outstanding, next PSN " + std::to_string(r.next_psn.value()) +
                           ", oldest unacknowledged " + std::to_string(r.una_psn.value());
        if (r.rnr_wait) text += ", waits for the RNR timer";
        if (r.deadline != sim::SimTime::max()) text += ", ACK timer at " + std::to_string(r.deadline.in_ps()) + " ps";
        if (qp->is_reliable() && qp->timeout == 0) text += ", no ACK timeout (timeout is 0)";
        out.push_back(std::move(text));
    }
    return out;
}

std::vector<std::string> Hca::waiting_receives() const {
    std::vector<std::string> out;
    for (const auto& qp : device_->qps) {
        if (qp->destroyed) continue;
        if (std::string text = waiting_receives_of(*qp); !text.empty()) out.push_back(config().name + " " + text);
    }
    return out;
}

uint64_t Hca::progress() const noexcept {
    return device_->completions;
}

}  // namespace simverbs::hca
