#include "tests/unit/models/hca/rig.hpp"

namespace simverbs::test {

namespace {

HcaPortConfig port_config(const RigOptions& o, uint32_t host) {
    HcaPortConfig p;
    p.link_layer = o.layer;
    p.rate = sim::BitRate::gbps(o.gbps);
    p.mac = {{0x02, 0, 0, 0, 0, static_cast<uint8_t>(host + 1)}};
    p.port_guid = wire::eui64_from_mac(p.mac);
    p.max_mtu = p.active_mtu = o.mtu;
    p.pkeys = o.pkeys;
    const wire::Gid local = wire::link_local_gid(p.mac);
    if (o.layer == LinkLayer::InfiniBand) {
        p.gids.push_back({local.bytes, GidType::Ib, ""});
    } else {
        p.gids.push_back({local.bytes, GidType::RoceV1, "eth0"});
        p.gids.push_back({local.bytes, GidType::RoceV2, "eth0"});
        const wire::Gid mapped = wire::gid_from_ipv4(0x0A000001 + host);
        p.gids.push_back({mapped.bytes, GidType::RoceV1, "eth0"});
        p.gids.push_back({mapped.bytes, GidType::RoceV2, "eth0"});
    }
    return p;
}

}  // namespace

Rig::Rig(RigOptions o) : options_(std::move(o)) {
    fabric::FabricSpec spec;
    spec.seed = options_.seed;
    for (uint32_t h = 0; h < options_.hosts; ++h) {
        sinks.push_back(std::make_unique<TestSink>());
        fabric::NicSpec nic;
        nic.path = "h" + std::to_string(h) + "/nic0";
        nic.profile = find_profile(options_.profile);
        nic.node_guid = 0x0200000000000000 + h;
        nic.ports.push_back(port_config(options_, h));
        nic.sink = sinks.back().get();
        spec.nics.push_back(std::move(nic));
        if (options_.make_complex) spec.hosts.push_back({"h" + std::to_string(h), {h}, options_.make_complex});
    }
    link::LinkParams params;
    params.rate = sim::BitRate::gbps(options_.gbps);
    params.layer = options_.layer == LinkLayer::Ethernet ? link::LinkLayer::Ethernet : link::LinkLayer::InfiniBand;
    if (options_.spines > 0) {
        const uint32_t switches = 2 + options_.spines;
        for (uint32_t i = 0; i < switches; ++i) {
            fabric::SwitchSpec s;
            s.path = "sw" + std::to_string(i);
            spec.switches.push_back(s);
        }
        for (uint32_t h = 0; h < options_.hosts; ++h)
            spec.links.push_back({{false, h, 1}, {true, h % 2, 1}, params, {}, {}});
        for (uint32_t i = 2; i < switches; ++i)
            for (const uint32_t leaf : {0U, 1U}) spec.links.push_back({{true, leaf, 1}, {true, i, 1}, params, {}, {}});
    } else if (options_.through_switch || options_.hosts > 2) {
        fabric::SwitchSpec s;
        s.path = "sw0";
        s.latency = options_.switch_latency;
        s.queue_bytes = options_.switch_queue_bytes;
        spec.switches.push_back(s);
        for (uint32_t h = 0; h < options_.hosts; ++h) {
            fabric::LinkSpec l{{false, h, 1}, {true, 0, 1}, params, {}, {}};
            if (h == 0) {
                l.faults_a_to_b = options_.faults_out;
                l.faults_b_to_a = options_.faults_in;
            }
            spec.links.push_back(l);
        }
    } else if (options_.hosts == 2) {
        spec.links.push_back({{false, 0, 1}, {false, 1, 1}, params, options_.faults_out, options_.faults_in});
    }
    sim::EngineConfig config;
    config.seed = options_.seed;
    config.threads = options_.threads;
    fabric_ = std::make_unique<fabric::Fabric>(spec, config, options_.with_memory ? &memory : nullptr);
    for (uint32_t h = 0; h < options_.hosts && !spec.links.empty(); ++h) {
        taps.push_back(std::make_unique<WireTap>());
        fabric_->adapters().observe(h, 1, *taps.back());
    }
}

Peer Rig::open(size_t host, const QpOptions& o) {
    Peer p;
    p.hca = &fabric_->nic(host);
    p.sink = sinks[host].get();
    p.next_cqe = p.sink->cqes.size();
    p.space = next_space_++;
    p.owner = p.space;
    memory.spaces[p.space].resize(kMemory);
    p.bytes = memory.spaces[p.space].data();
    p.pd = p.hca->alloc_pd(by(p)).value;
    p.cq = p.hca->create_cq(by(p), {o.cqe, true, o.ring_memory}).value;
    p.mr = p.hca
               ->reg_mr(by(p), {p.pd, p.space, p.base, kMemory, p.base,
                                kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic, o.region_memory})
               .value;
    if (o.with_srq) {
        SrqSpec spec{p.pd, o.recv_wr, 1, 0};
        p.srq = p.hca->create_srq(by(p), spec).value;
    }
    QpInitAttr init;
    init.type = o.type;
    init.pd = p.pd;
    init.send_cq = init.recv_cq = p.cq;
    init.srq = p.srq;
    init.cap = {o.send_wr, o.recv_wr, 4, 4, o.inline_data};
    init.memory = o.ring_memory;
    p.qpn = p.hca->create_qp(by(p), init).value.qp_num;
    return p;
}

int Rig::to_init(Peer& p, const QpOptions& o) {
    QpAttr a;
    a.qp_state = QpState::Init;
    a.port_num = 1;
    a.pkey_index = o.pkey_index;
    a.qp_access_flags = o.access;
    a.qkey = 0x11111111;
    const uint32_t last = o.type == QpType::Ud ? uint32_t{kQkey} : uint32_t{kAccessFlags};
    return p.hca->modify_qp(by(p), p.qpn, a, kState | kPkeyIndex | kPort | last);
}

AhAttr Rig::address_of(size_t host, size_t from) const {
    AhAttr ah;
    ah.port_num = 1;
    const HcaPortConfig& port = fabric_->nic(host).config().ports[0];
    if (options_.layer == LinkLayer::InfiniBand) {
        ah.dlid = port.lid;
    } else {
        ah.is_global = true;
        ah.sgid_index = 3;
        ah.dgid = port.gids[3].gid;
        ah.hop_limit = 64;
    }
    (void)from;
    return ah;
}

int Rig::to_rtr(Peer& p, const Peer& remote, size_t remote_host, const QpOptions& o) {
    QpAttr a;
    a.qp_state = QpState::Rtr;
    a.path_mtu = static_cast<uint8_t>(o.mtu);
    a.dest_qp_num = remote.qpn;
    a.rq_psn = o.sq_psn;
    a.max_dest_rd_atomic = o.rd_atomic;
    a.min_rnr_timer = o.min_rnr_timer;
    a.ah_attr = address_of(remote_host, 0);
    uint32_t mask = kState;
    if (o.type != QpType::Ud) mask |= kAv | kPathMtu | kDestQpn | kRqPsn;
    if (o.type == QpType::Rc) mask |= kMaxDestRdAtomic | kMinRnrTimer;
    return p.hca->modify_qp(by(p), p.qpn, a, mask);
}

int Rig::to_rts(Peer& p, const QpOptions& o) {
    QpAttr a;
    a.qp_state = QpState::Rts;
    a.sq_psn = o.sq_psn;
    a.timeout = o.timeout;
    a.retry_cnt = o.retry_cnt;
    a.rnr_retry = o.rnr_retry;
    a.max_rd_atomic = o.rd_atomic;
    uint32_t mask = kState | kSqPsn;
    if (o.type == QpType::Rc) mask |= kTimeout | kRetryCnt | kRnrRetry | kMaxQpRdAtomic;
    return p.hca->modify_qp(by(p), p.qpn, a, mask);
}

int Rig::to_state(Peer& p, QpState s) {
    QpAttr a;
    a.qp_state = s;
    return p.hca->modify_qp(by(p), p.qpn, a, kState);
}

std::pair<Peer, Peer> Rig::connect(const QpOptions& o, size_t a, size_t b) {
    Peer x = open(a, o), y = open(b, o);
    int errors = to_init(x, o) + to_init(y, o);
    errors += to_rtr(x, y, b, o) + to_rtr(y, x, a, o);
    errors += to_rts(x, o) + to_rts(y, o);
    SIM_CHECK(errors == 0, errors);
    if (o.type == QpType::Ud) {
        x.ah = x.hca->create_ah(by(x), x.pd, address_of(b, a)).value;
        y.ah = y.hca->create_ah(by(y), y.pd, address_of(a, b)).value;
    }
    return {x, y};
}

QpState Rig::state(const Peer& p) {
    return p.hca->query_qp(by(p), p.qpn).value.attr.qp_state;
}

int Rig::send(Peer& p, WrOpcode op, uint64_t wr_id, uint64_t local, uint32_t length, uint64_t remote_va, uint32_t rkey,
              uint32_t flags) {
    const Sge sge{p.base + local, length, p.mr.lkey};
    SendWr wr;
    wr.wr_id = wr_id;
    wr.opcode = op;
    wr.send_flags = flags;
    wr.remote_addr = remote_va;
    wr.rkey = rkey;
    wr.ah = p.ah;
    wr.remote_qkey = 0x11111111;
    if ((flags & kInline) != 0) {
        wr.inline_data = p.bytes + local;
        wr.inline_bytes = length;
    } else {
        wr.sges = &sge;
        wr.num_sge = 1;
    }
    return p.hca->post_send(p.qpn, wr, now());
}

int Rig::receive(Peer& p, uint64_t wr_id, uint64_t local, uint32_t length) {
    const Sge sge{p.base + local, length, p.mr.lkey};
    const RecvWr wr{wr_id, &sge, 1};
    return p.srq != 0 ? p.hca->post_srq_recv(p.srq, wr, now()) : p.hca->post_recv(p.qpn, wr, now());
}

void Rig::settle(SimTime limit) {
    const SimTime end = now() + limit;
    while (engine().run_window(end) && now() < end) {
    }
}

bool Rig::run_until(const std::function<bool()>& done, SimTime limit) {
    const SimTime end = now() + limit;
    while (!done())
        if (!engine().run_window(end)) return done();
    return true;
}

std::string Rig::completions(Peer& p) {
    std::string out;
    for (; p.next_cqe < p.sink->cqes.size(); ++p.next_cqe) {
        const SeenCqe& c = p.sink->cqes[p.next_cqe];
        if (c.cq != p.cq) continue;
        out += (out.empty() ? "" : " ") + std::to_string(c.cqe.wr_id) + ":" + name_of(c.cqe.status);
        p.hca->cq_consumed(p.cq, 1);
    }
    return out;
}

void Rig::show_memory() {
    for (const auto& [space, bytes] : memory.spaces) fabric_->mover()->before_turn(space, SimTime::max());
}

uint64_t Rig::counter(size_t host, const std::string& name) {
    for (const NamedCounter& c : fabric_->nic(host).hw_counters(1))
        if (c.name == name) return c.value;
    for (const NamedCounter& c : fabric_->nic(host).port_counters(1))
        if (c.name == name) return c.value;
    SIM_CHECK(false, name);
    return 0;
}

}  // namespace simverbs::test
