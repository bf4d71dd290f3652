// Objects and states.
#include <algorithm>
#include <numeric>

#include "tests/conformance/verbs/model/driver.hpp"
#include "tests/conformance/verbs/model/transition_rules.hpp"

namespace simverbs::test::model {

namespace {

constexpr uint32_t kQkeyOfAll = 0x11111111;
constexpr uint32_t kAllRights = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | kMwBind;
/// Of slots 1 to 3: where in memory they lie.
constexpr std::array<uint64_t, 4> kPlaces{0, 512, kBytes / 2 + 256, 2048};

const char* side_of(size_t host) {
    return host == 0 ? "A" : "B";
}

}  // namespace

void Driver::make_host(size_t host, Dice& dice) {
    Host& h = reference_.hosts[host];
    Real& r = real_[host];
    r.hca = &rig_.fabric().nic(host);
    r.sink = rig_.sinks[host].get();
    r.owner = static_cast<OwnerId>(host + 1);
    auto& bytes = rig_.memory.spaces[static_cast<host::AddressSpaceId>(host + 1)];
    bytes.resize(kBytes);
    for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<uint8_t>((i + host * 100) % 251);
    h.memory = bytes;
    for (uint32_t& pd : h.pd) pd = r.hca->alloc_pd(by(host)).value;
    h.cq = r.hca->create_cq(by(host), {dice.once_in(3) ? 7U : 60U, true}).value;
    h.cq_capacity = r.hca->cq_capacity(by(host), h.cq).value;
    create_qp(host);
    r.ah = r.hca->create_ah(by(host), h.pd[0], rig_.address_of(1 - host, host)).value;
    Dice simple(0);
    for (size_t slot : {0, 1, 2}) register_region(host, slot, simple);
}

/// A CQ that has overrun stays in error: a program that wants to go on needs another one, and another QP with it.
void Driver::replace_cq(size_t host) {
    Host& h = reference_.hosts[host];
    destroy_qp(host);
    tell(std::string(side_of(host)) + " has another CQ, as the old one has overrun");
    expect("ibv_destroy_cq", 0, real_[host].hca->destroy_cq(by(host), h.cq));
    h.cq = real_[host].hca->create_cq(by(host), {h.cq_capacity, true}).value;
    h.unpolled = 0;
    h.overrun = false;
    h.arm = Host::Arm::None;
    create_qp(host);
}

void Driver::create_qp(size_t host) {
    Host& h = reference_.hosts[host];
    QpInitAttr init;
    init.type = type_;
    init.pd = h.pd[0];
    init.send_cq = init.recv_cq = h.cq;
    init.cap = {kSendQueue, kReceiveQueue, kMaxSge, kMaxSge, kInlineRoom};
    const auto made = real_[host].hca->create_qp(by(host), init);
    expect("ibv_create_qp", 0, made.error);
    h.qp = {};
    h.qp.alive = true;
    h.qp.qpn = made.value.qp_num;
    h.qp.inline_room = made.value.cap.max_inline_data;
    tell(std::string(side_of(host)) + " creates a QP");
}

void Driver::destroy_qp(size_t host) {
    settle();
    tell(std::string(side_of(host)) + " destroys its QP");
    expect("ibv_destroy_qp", 0, real_[host].hca->destroy_qp(by(host), reference_.hosts[host].qp.qpn));
    expect("ibv_destroy_qp again", ENOENT, real_[host].hca->destroy_qp(by(host), reference_.hosts[host].qp.qpn));
    reference_.destroy_qp(host);
}

/// What a program that wants to go on would give: PSNs that fit the peer's.
QpAttr Driver::right_attributes(size_t host) const {
    const QueuePair& peer = reference_.hosts[1 - host].qp;
    QpAttr a;
    a.port_num = 1;
    a.qp_access_flags = kRemoteWrite | kRemoteRead | kRemoteAtomic;
    a.qkey = kQkeyOfAll;
    a.path_mtu = static_cast<uint8_t>(Mtu::Mtu256);
    a.dest_qp_num = peer.qpn;
    a.rq_psn = peer.next_psn;
    a.max_dest_rd_atomic = a.max_rd_atomic = 4;
    a.min_rnr_timer = 1;
    a.ah_attr = rig_.address_of(1 - host, host);
    a.timeout = 4;
    a.retry_cnt = 7;
    a.rnr_retry = 2;
    a.sq_psn = peer.expected_psn;
    return a;
}

int Driver::modify(size_t host, const QpAttr& attr, uint32_t mask) {
    // What was posted in SQE is flushed; and two hosts do not send at once.
    if (reference_.hosts[host].qp.state == QpState::Sqe || reference_.is_active(1 - host)) settle();
    const int expected = reference_.modify(host, attr, mask);
    const int got = real_[host].hca->modify_qp(by(host), reference_.hosts[host].qp.qpn, attr, mask);
    char text[120];
    std::snprintf(text, sizeof text, "%s modifies its QP to %s, mask 0x%x", side_of(host),
                  (mask & kState) != 0 ? name_of(attr.qp_state) : "the same state", mask);
    tell(std::string(text) + " = " + std::to_string(got));
    expect("ibv_modify_qp", expected, got);
    if (expected == 0 && (mask & kState) != 0 && reference_.hosts[host].qp.state == QpState::Rts) settle();
    return got;
}

/// Both queue pairs in RTS, connected with each other.
void Driver::recover() {
    settle();
    for (size_t host : {0, 1})
        if (reference_.hosts[host].overrun) replace_cq(host);
    const auto is_fine = [&](size_t host) {
        const QueuePair& q = reference_.hosts[host].qp;
        return q.state == QpState::Rts && (type_ == QpType::Ud || q.dest_qpn == reference_.hosts[1 - host].qp.qpn);
    };
    if (is_fine(0) && is_fine(1)) return;
    const std::array targets{QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts};
    for (const QpState to : targets) {
        for (size_t host : {0, 1}) {
            QpAttr a = right_attributes(host);
            a.qp_state = to;
            if (to == QpState::Rtr) a.rq_psn = 0xFFFFF0 + static_cast<uint32_t>(host);
            if (to == QpState::Rts) a.sq_psn = 0xFFFFF0 + static_cast<uint32_t>(1 - host);
            uint32_t required = 0, optional = 0;
            (void)find_rule(type_, reference_.hosts[host].qp.state, to, required, optional);
            (void)modify(host, a, kState | required);
        }
    }
}

/// The next state on the way up, or one beside it, with values that vary.
void Driver::next_state(size_t host, Dice& dice) {
    const QpState now_in = reference_.hosts[host].qp.state;
    QpAttr a = right_attributes(host);
    const uint32_t variant = dice.below(8);
    switch (now_in) {
        case QpState::Reset:
            a.qp_state = QpState::Init;
            break;
        case QpState::Init:
            a.qp_state = QpState::Rtr;
            break;
        case QpState::Rtr:
        case QpState::Sqd:
        case QpState::Sqe:
            a.qp_state = QpState::Rts;
            break;
        case QpState::Rts:
            a.qp_state = variant < 6 ? QpState::Sqd : QpState::Err;
            break;
        case QpState::Err:
            a.qp_state = QpState::Reset;
            break;
    }
    uint32_t required = 0, optional = 0;
    (void)find_rule(type_, now_in, a.qp_state, required, optional);
    uint32_t mask = kState | required;
    if (now_in == QpState::Rts && a.qp_state == QpState::Sqd && variant < 4) mask |= kEnSqdAsyncNotify;
    a.en_sqd_async_notify = variant < 3 ? 1 : 0;
    if (variant == 1 && (optional & kAccessFlags) != 0) {
        mask |= kAccessFlags;
        a.qp_access_flags = kRemoteRead;
    }
    static constexpr std::array<uint32_t, 4> kRights{kRemoteWrite | kRemoteRead | kRemoteAtomic, kRemoteWrite,
                                                     kRemoteRead | kRemoteAtomic, 0};
    if (dice.once_in(4)) a.qp_access_flags = dice.of(kRights);
    const uint32_t unlucky = dice.below(24);
    if (unlucky == 20) a.max_rd_atomic = 0;
    if (unlucky == 21) a.max_dest_rd_atomic = 0;
    if (unlucky == 22 && type_ == QpType::Rc) a.sq_psn += 1000;  // the peer expects others
    if (unlucky == 23) a.dest_qp_num = 0xFFFFF0;                 // nobody's
    if (!losses_.any) a.retry_cnt = static_cast<uint8_t>(dice.below(8));
    a.rnr_retry = static_cast<uint8_t>(dice.below(7));
    (void)modify(host, a, mask);
}

/// Any states, any mask, values that may be wrong.
void Driver::modify_anyhow(size_t host, Dice& dice) {
    static constexpr std::array<uint32_t, 20> kAttributes{
        kCurState, kEnSqdAsyncNotify, kAccessFlags, kPkeyIndex,       kPort,         kQkey,  kAv,
        kPathMtu,  kTimeout,          kRetryCnt,    kRnrRetry,        kRqPsn,        kSqPsn, kMaxQpRdAtomic,
        kAltPath,  kMinRnrTimer,      kDestQpn,     kMaxDestRdAtomic, kPathMigState, kState};
    QpAttr a = right_attributes(host);
    const QpState now_in = reference_.hosts[host].qp.state;
    a.qp_state = static_cast<QpState>(dice.below(8));
    if (a.qp_state > QpState::Err) a.qp_state = now_in;
    a.cur_qp_state = dice.once_in(4) ? static_cast<QpState>(dice.below(7)) : now_in;
    uint32_t required = 0, optional = 0;
    (void)find_rule(type_, now_in, a.qp_state, required, optional);
    uint32_t mask = kState | required;
    const uint32_t how = dice.below(5);
    if (how == 1 || how == 3) mask ^= dice.of(kAttributes);
    if (how == 2) mask |= optional & ~uint32_t{kAltPath};
    if (how == 4) {
        switch (dice.below(8)) {
            case 0:
                a.port_num = 2;
                break;
            case 1:
                a.pkey_index = 1;
                break;
            case 2:
                a.path_mtu = 6;
                break;
            case 3:
                a.timeout = 32;
                break;
            case 4:
                a.retry_cnt = 8;
                break;
            case 5:
                a.rnr_retry = 8;
                break;
            case 6:
                a.min_rnr_timer = 32;
                break;
            default:
                a.max_rd_atomic = a.max_dest_rd_atomic = 17;
                break;
        }
    }
    (void)modify(host, a, mask);
}

void Driver::register_region(size_t host, size_t slot, Dice& dice) {
    static constexpr std::array<uint32_t, 8> kAccess{
        kAllRights,   kAllRights,           kLocalWrite, 0, kRemoteRead, kLocalWrite | kRemoteWrite,
        kRemoteWrite, kRemoteRead | kMwBind};
    Host& h = reference_.hosts[host];
    Region& r = h.regions[slot];
    MrSpec spec;
    spec.space = static_cast<host::AddressSpaceId>(host + 1);
    spec.access = dice.of(kAccess);
    spec.pd = slot != 0 && dice.once_in(6) ? h.pd[1] : h.pd[0];
    spec.addr = kBase + kPlaces[slot] + (slot == 0 ? 0 : dice.below(4) * 64);
    spec.length = slot == 0 ? kBytes : 256 + dice.below(4) * 200;
    spec.iova = dice.once_in(3) ? 0x40000000 + spec.addr % 4096 : spec.addr;
    const bool refused = (spec.access & kRemoteWrite) != 0 && (spec.access & kLocalWrite) == 0;
    if (r.alive) {
        const uint32_t flags = 1 + dice.below(7);
        const bool bad = (flags & kChangeAccess) != 0 && refused;
        const int busy = reference_.may_deregister(host, slot);
        const auto made = real_[host].hca->rereg_mr(by(host), r.handle, flags, spec);
        tell(std::string(side_of(host)) + " reregisters region " + std::to_string(slot) + ", flags " +
             std::to_string(flags) + " = " + std::to_string(made.error));
        expect("ibv_rereg_mr", busy != 0 ? busy : bad ? EINVAL : 0, made.error);
        if (made.error != 0) return;
        r.handle = made.value.handle;
        r.lkey = made.value.lkey;
        r.rkey = made.value.rkey;
        if ((flags & kChangePd) != 0) r.pd = spec.pd;
        if ((flags & kChangeAccess) != 0) r.access = spec.access;
        if ((flags & kChangeTranslation) != 0) {
            r.addr = spec.addr;
            r.iova = spec.iova;
            r.length = spec.length;
        }
        return;
    }
    const auto made = real_[host].hca->reg_mr(by(host), spec);
    tell(std::string(side_of(host)) + " registers region " + std::to_string(slot) + ", access " +
         std::to_string(spec.access) + " = " + std::to_string(made.error));
    expect("ibv_reg_mr", refused ? EINVAL : 0, made.error);
    if (made.error != 0) return;
    expect_unused_key(made.value.lkey);
    expect_unused_key(made.value.rkey);
    r = {true,      made.value.handle, made.value.lkey, made.value.rkey, spec.pd,
         spec.addr, spec.iova,         spec.length,     spec.access};
}

void Driver::change_region(size_t host, Dice& dice) {
    const size_t slot = dice.once_in(6) ? 0 : 1 + dice.below(3);
    Region& r = reference_.hosts[host].regions[slot];
    if (!r.alive || dice.below(2) == 0) return register_region(host, slot, dice);
    const int expected = reference_.may_deregister(host, slot);
    const int got = real_[host].hca->dereg_mr(by(host), r.handle);
    tell(std::string(side_of(host)) + " deregisters region " + std::to_string(slot) + " = " + std::to_string(got));
    expect("ibv_dereg_mr", expected, got);
    if (got != 0) return;
    r.alive = false;
    expect("ibv_dereg_mr again", ENOENT, real_[host].hca->dereg_mr(by(host), r.handle));
}

void Driver::change_window(size_t host, Dice& dice) {
    Host& h = reference_.hosts[host];
    Window& w = h.windows[dice.below(2)];
    if (w.alive && dice.once_in(3)) {
        tell(std::string(side_of(host)) + " deallocates a window");
        expect("ibv_dealloc_mw", 0, real_[host].hca->dealloc_mw(by(host), w.handle));
        expect("ibv_dealloc_mw again", ENOENT, real_[host].hca->dealloc_mw(by(host), w.handle));
        w.alive = w.bound = false;
        return;
    }
    if (w.alive) {
        expect("ibv_dereg_mr of a window", ENOENT, real_[host].hca->dereg_mr(by(host), w.handle));
        return;
    }
    w = {};
    w.alive = true;
    w.type = dice.below(2) == 0 ? MwType::Type2 : MwType::Type1;
    w.pd = dice.once_in(8) ? h.pd[1] : h.pd[0];
    const auto made = real_[host].hca->alloc_mw(by(host), w.pd, w.type);
    tell(std::string(side_of(host)) + " allocates a window of type " + std::to_string(static_cast<int>(w.type)));
    expect("ibv_alloc_mw", 0, made.error);
    w.handle = made.value.handle;
    w.rkey = made.value.rkey;
}

void Driver::destroy_what_is_used(size_t host, Dice& dice) {
    const Host& h = reference_.hosts[host];
    Hca& hca = *real_[host].hca;
    const bool pd1_used = std::ranges::any_of(h.regions, [&](const Region& r) { return r.alive && r.pd == h.pd[1]; }) ||
                          std::ranges::any_of(h.windows, [&](const Window& w) { return w.alive && w.pd == h.pd[1]; });
    tell(std::string(side_of(host)) + " destroys what is in use or is not its own");
    expect("ibv_dealloc_pd", EBUSY, hca.dealloc_pd(by(host), h.pd[0]));
    expect("ibv_destroy_cq", EBUSY, hca.destroy_cq(by(host), h.cq));
    if (pd1_used) expect("ibv_dealloc_pd of the other", EBUSY, hca.dealloc_pd(by(host), h.pd[1]));
    const ControlContext stranger{99, now(), nullptr};
    expect("a stranger's ibv_dealloc_pd", ENOENT, hca.dealloc_pd(stranger, h.pd[dice.below(2)]));
    expect("a stranger's ibv_destroy_cq", ENOENT, hca.destroy_cq(stranger, h.cq));
    expect("a stranger's ibv_destroy_qp", ENOENT, hca.destroy_qp(stranger, h.qp.qpn));
    QpAttr to_error;
    to_error.qp_state = QpState::Err;
    expect("a stranger's ibv_modify_qp", ENOENT, hca.modify_qp(stranger, h.qp.qpn, to_error, kState));
    for (const Region& r : h.regions)
        if (r.alive) expect("a stranger's ibv_dereg_mr", ENOENT, hca.dereg_mr(stranger, r.handle));
    expect("a stranger's ibv_destroy_ah", ENOENT, hca.destroy_ah(stranger, real_[host].ah));
}

}  // namespace simverbs::test::model
