// Work requests, polling, arming.
#include <algorithm>

#include "tests/conformance/verbs/model/driver.hpp"

namespace simverbs::test::model {

namespace {

constexpr uint64_t kSinks = kBytes / 2;  ///< READs, atomics and receives write here and above, all else is below
constexpr std::array<uint32_t, 12> kLengths{8, 64, 1, 256, 257, 0, 200, 512, 600, 700, 16, 40};

const char* name_of_operation(WrOpcode op) {
    switch (op) {
        case WrOpcode::RdmaWrite:
            return "WRITE";
        case WrOpcode::RdmaWriteWithImm:
            return "WRITE_WITH_IMM";
        case WrOpcode::Send:
            return "SEND";
        case WrOpcode::SendWithImm:
            return "SEND_WITH_IMM";
        case WrOpcode::RdmaRead:
            return "READ";
        case WrOpcode::AtomicCmpAndSwp:
            return "CMP_SWAP";
        case WrOpcode::AtomicFetchAndAdd:
            return "FETCH_ADD";
        case WrOpcode::LocalInv:
            return "LOCAL_INV";
        case WrOpcode::BindMw:
            return "BIND_MW";
        case WrOpcode::SendWithInv:
            return "SEND_WITH_INV";
        case WrOpcode::AtomicWrite:
            return "ATOMIC_WRITE";
        case WrOpcode::Tso:
        case WrOpcode::Driver1:
        case WrOpcode::Flush:
            break;
    }
    return "unsupported";
}

std::string text_of_sges(const std::vector<Sge>& sges) {
    std::string out = "[";
    char text[80];
    for (const Sge& s : sges) {
        std::snprintf(text, sizeof text, "{0x%llx, %u, 0x%x}", static_cast<unsigned long long>(s.addr), s.length,
                      s.lkey);
        out += text;
    }
    return out + "]";
}

}  // namespace

/// Memory by a key that is mostly right. Slot 0 is all memory, 1 and 3 lie in the lower half, 2 in the upper one.
Sge Driver::make_sge(size_t host, bool is_sink, uint32_t length, Dice& dice) {
    const Host& h = reference_.hosts[host];
    const Region& all = h.regions[0];
    Sge sge{all.iova + (is_sink ? kSinks : 0) + dice.below(8) * 400, length, all.lkey};
    if (!is_wrong(dice)) return sge;
    const Region& other = h.regions[is_sink ? 2 : 1 + 2 * dice.below(2)];
    switch (dice.below(8)) {
        case 0:
            sge.lkey = all.lkey + 1;
            break;
        case 1:
            sge.lkey = all.rkey;
            break;
        case 2:
            sge.lkey = 0;
            break;
        case 3:
            sge.addr = all.iova + kBytes - length + 1;
            break;
        default:
            sge.addr = other.iova + dice.below(8) * 64;
            sge.lkey = other.lkey;
            break;
    }
    return sge;
}

const Window* Driver::usable(size_t host, uint32_t rights, uint32_t length) const {
    const Host& h = reference_.hosts[host];
    for (const Window& w : h.windows)
        if (w.alive && w.bound && (w.access & rights) == rights && w.length >= length && w.pd == h.pd[0] &&
            (w.type == MwType::Type1 || w.qpn == h.qp.qpn))
            return &w;
    return nullptr;
}

const Window* Driver::bindable(size_t host) const {
    for (const Window& w : reference_.hosts[host].windows)
        if (w.alive && w.pd == reference_.hosts[host].pd[0] && !(w.bound && w.type == MwType::Type2)) return &w;
    return nullptr;
}

const Window* Driver::invalidatable(size_t host) const {
    for (const Window& w : reference_.hosts[host].windows)
        if (w.alive && w.bound && w.type == MwType::Type2 && w.qpn == reference_.hosts[host].qp.qpn) return &w;
    return nullptr;
}

void Driver::choose_remote(size_t host, Send& send, uint32_t length, Dice& dice) {
    const Host& peer = reference_.hosts[1 - host];
    SendWr& wr = send.wr;
    const bool reads = wr.opcode == WrOpcode::RdmaRead;
    const bool atomic = fills_sges(wr.opcode) && !reads;
    const Region& all = peer.regions[0];
    wr.rkey = all.rkey;
    wr.remote_addr = all.iova + dice.below(8) * 400;
    const Window* window = usable(1 - host, reads ? kRemoteRead : atomic ? kRemoteAtomic : kRemoteWrite, length);
    if (window != nullptr && dice.below(2) == 0) {
        wr.rkey = window->rkey;
        wr.remote_addr = window->iova + (window->length - length) / 8 * 8;
    }
    if (!is_wrong(dice)) return;
    const Region& other = peer.regions[1 + 2 * dice.below(2)];
    const Window& any = peer.windows[dice.below(2)];
    switch (dice.below(7)) {
        case 0:
            wr.rkey += 1;
            break;
        case 1:
            wr.rkey = all.lkey;
            break;
        case 2:
            wr.remote_addr += 4;
            break;
        case 3:
            wr.rkey = any.rkey;
            wr.remote_addr = any.iova + dice.below(4) * 8;
            break;
        case 4:
            wr.remote_addr = all.iova + kBytes - length / 2 + (length == 0 ? 1 : 0);
            break;
        default:
            wr.rkey = other.rkey;
            wr.remote_addr = other.iova + dice.below(8) * 64;
            break;
    }
}

void Driver::choose_window(size_t host, Send& send, Dice& dice) {
    const Host& h = reference_.hosts[host];
    const Window* ready = bindable(host);
    const Window& w = ready != nullptr ? *ready : h.windows[dice.below(2)];
    const Region& r = h.regions[dice.below(2)];
    SendWr& wr = send.wr;
    wr.mw = w.handle;
    wr.mw_rkey = (w.rkey & ~0xFFU) | ((w.rkey + 1) & 0xFF);
    wr.mw_mr = r.handle;
    wr.remote_addr = r.iova + dice.below(4) * 64;
    static constexpr std::array<uint32_t, 4> kBytesOfWindow{64, 256, 16, 8};
    wr.compare_add = dice.of(kBytesOfWindow);
    static constexpr std::array<uint32_t, 4> kRights{kRemoteWrite | kRemoteRead, kRemoteWrite, kRemoteRead,
                                                     kRemoteAtomic | kRemoteWrite | kZeroBased};
    wr.mw_access = dice.of(kRights);
    if (!is_wrong(dice)) return;
    switch (dice.below(5)) {
        case 0:
            wr.mw_rkey = w.rkey + 256;
            break;
        case 1:
            wr.compare_add = 0;
            break;
        case 2:
            wr.compare_add = kBytes;
            break;
        case 3:
            wr.mw = h.windows[dice.below(2)].handle;
            break;
        default:
            wr.mw_mr = h.regions[2 + dice.below(2)].handle;
            break;
    }
}

Send Driver::make_send(size_t host, Dice& dice) {
    using enum WrOpcode;
    static constexpr std::array kOpcodes{Send,   RdmaWrite,        RdmaRead,        SendWithImm, AtomicFetchAndAdd,
                                         Send,   RdmaWriteWithImm, AtomicCmpAndSwp, SendWithInv, RdmaWrite,
                                         BindMw, LocalInv,         AtomicWrite,     RdmaRead,    Send,
                                         Tso};
    static constexpr std::array kDatagram{Send, SendWithImm, Send, Send, SendWithImm, Send, Send, RdmaWrite};
    model::Send send;
    SendWr& wr = send.wr;
    wr.opcode = type_ == QpType::Ud ? dice.of(kDatagram) : dice.of(kOpcodes);
    wr.wr_id = next_wr_id_++;
    wr.send_flags = dice.once_in(4) ? 0U : uint32_t{kSignaled};
    if (dice.once_in(4)) wr.send_flags |= kSolicitedWr;
    wr.imm_or_rkey = static_cast<uint32_t>(wr.wr_id * 77);
    if (wr.opcode == BindMw && bindable(host) == nullptr && !is_wrong(dice)) wr.opcode = RdmaWrite;
    if (wr.opcode == BindMw) {
        choose_window(host, send, dice);
        return send;
    }
    if (wr.opcode == LocalInv || wr.opcode == SendWithInv) {
        const size_t owner = wr.opcode == LocalInv ? host : 1 - host;
        const Window* window = invalidatable(owner);
        const Host& h = reference_.hosts[owner];
        if (window != nullptr)
            wr.imm_or_rkey = window->rkey;
        else if (is_wrong(dice))
            wr.imm_or_rkey = dice.below(3) == 0 ? h.regions[0].rkey : h.windows[dice.below(2)].rkey;
        else
            wr.opcode = wr.opcode == LocalInv ? SendWithImm : Send;
        if (wr.opcode == LocalInv) return send;
    }
    if (wr.opcode == Tso && !is_wrong(dice)) wr.opcode = Send;
    const uint32_t length = kLengths[dice.below(12)];
    const bool eight = (fills_sges(wr.opcode) && wr.opcode != RdmaRead) || wr.opcode == AtomicWrite;
    if (wr.opcode != Send && wr.opcode != SendWithImm && wr.opcode != SendWithInv)
        choose_remote(host, send, eight ? 8 : length, dice);
    wr.compare_add = dice.below(3);
    wr.swap = wr.wr_id;
    if (!fills_sges(wr.opcode) && dice.once_in(8)) {
        wr.send_flags |= kInline;
        const uint32_t room = reference_.hosts[host].qp.inline_room;
        const uint32_t wanted = eight ? 8 : std::min(length, room);
        send.inline_bytes.assign(is_wrong(dice) ? room + dice.below(2) : wanted, static_cast<uint8_t>(wr.wr_id));
    } else if (eight) {
        const bool longer = wr.opcode != AtomicWrite && dice.below(2) != 0;
        send.sges.push_back(make_sge(host, fills_sges(wr.opcode), longer ? 16 : 8, dice));
    } else {
        const uint32_t pieces = 1 + dice.below(2) + (is_wrong(dice) ? 1 : 0);
        for (uint32_t i = 0; i < pieces; ++i)
            send.sges.push_back(
                make_sge(host, fills_sges(wr.opcode), i == 0 ? length / pieces : length - length / pieces, dice));
    }
    if (type_ == QpType::Ud) {
        const QueuePair& peer = reference_.hosts[1 - host].qp;
        wr.ah = real_[host].ah;
        wr.remote_qpn = peer.qpn;
        wr.remote_qkey = dice.below(4) == 3 ? 0x80000000U : peer.qkey;
        if (is_wrong(dice)) {
            const uint32_t what = dice.below(3);
            if (what == 0) wr.ah = 0;
            if (what == 1) wr.remote_qpn = 0xFFFFF0;
            if (what == 2) wr.remote_qkey = 7;
        }
    }
    return send;
}

/// Would this request, or one before it, end in an error?
bool Driver::would_fail(size_t host, const Send& send) const {
    Reference future = reference_;
    if (future.post_send(host, send) != 0) return false;
    future.settle();
    return future.hosts[0].qp.state == QpState::Err || future.hosts[1].qp.state == QpState::Err;
}

/// What the order of two requests, or of both hosts, would decide is kept apart: the reference knows no time.
/// False if it must not be posted at all.
bool Driver::hold_back(size_t host, Send& send) {
    if (reference_.is_active(1 - host)) settle();
    // A request may be out already when the completion of one before it finds no room.
    const Host& h = reference_.hosts[host];
    const bool full = h.overrun || h.unpolled + h.qp.sends.size() >= h.cq_capacity;
    if (full) settle();
    const bool local = is_local(send.wr.opcode);
    if (!h.qp.sends.empty() && h.qp.state == QpState::Sqd && (full || local || losses_.any)) return false;
    // A request behind a READ or an atomic may overtake it, unless it is fenced.
    // A READ whose answer got lost is read once more, after whatever was not fenced.
    const bool behind_read =
        std::ranges::any_of(h.qp.sends, [](const model::Send& s) { return s.wr.opcode == WrOpcode::RdmaRead; });
    const bool changes_nothing = send.wr.opcode == WrOpcode::RdmaRead;
    if (reads_pending_ && (!fills_sges(send.wr.opcode) || (behind_read && !changes_nothing)))
        send.wr.send_flags |= kFence;
    if (fills_sges(send.wr.opcode)) reads_pending_ = true;
    // An answer that got lost with a peer that has failed: then all that it had acknowledged is in doubt, too.
    if (type_ == QpType::Rc && (losses_.any || local) && reference_.is_active(host) && would_fail(host, send)) {
        settle();
        if (fills_sges(send.wr.opcode)) reads_pending_ = true;
    }
    if (local) local_pending_ = true;
    return true;
}

void Driver::post_send(size_t host, Dice& dice) {
    const QueuePair& q = reference_.hosts[host].qp;
    const QueuePair& peer = reference_.hosts[1 - host].qp;
    // A peer that answers somebody else executes what it cannot acknowledge: not a case of this reference.
    if (type_ == QpType::Rc && peer.state != QpState::Reset && peer.state != QpState::Init && peer.dest_qpn != q.qpn)
        return;
    model::Send send = make_send(host, dice);
    if (takes_receive(send.wr.opcode) && peer.receives.empty() && !is_wrong(dice)) post_receive(1 - host, dice);
    if (!hold_back(host, send)) return;
    send.wr.sges = send.sges.data();
    send.wr.num_sge = static_cast<uint32_t>(send.sges.size());
    send.wr.inline_data = send.inline_bytes.data();
    send.wr.inline_bytes = static_cast<uint32_t>(send.inline_bytes.size());
    const int expected = reference_.post_send(host, send);
    const int got = real_[host].hca->post_send(q.qpn, send.wr, now());
    char text[160];
    std::snprintf(text, sizeof text, "%s posts %s %llu, flags 0x%x, remote 0x%llx rkey 0x%x, inline %zu, ",
                  host == 0 ? "A" : "B", name_of_operation(send.wr.opcode),
                  static_cast<unsigned long long>(send.wr.wr_id), send.wr.send_flags,
                  static_cast<unsigned long long>(send.wr.remote_addr), send.wr.rkey, send.inline_bytes.size());
    tell(text + text_of_sges(send.sges) + " = " + std::to_string(got));
    expect("ibv_post_send", expected, got);
}

void Driver::post_receive(size_t host, Dice& dice) {
    static constexpr std::array<uint32_t, 4> kWhole{700, 800, 740, 2000}, kPieces{400, 700, 800, 740},
        kSmall{256, 64, 0, 300};
    Receive receive;
    receive.wr_id = next_wr_id_++;
    const bool small = is_wrong(dice);
    const uint32_t pieces = 1 + dice.below(2) + (small && dice.below(4) == 0 ? 1 : 0);
    for (uint32_t i = 0; i < pieces; ++i)
        receive.sges.push_back(make_sge(host, true, dice.of(small ? kSmall : pieces == 1 ? kWhole : kPieces), dice));
    if (small && dice.once_in(8)) receive.sges.clear();
    const RecvWr wr{receive.wr_id, receive.sges.data(), static_cast<uint32_t>(receive.sges.size())};
    const int expected = reference_.post_receive(host, receive);
    const int got = real_[host].hca->post_recv(reference_.hosts[host].qp.qpn, wr, now());
    tell(std::string(host == 0 ? "A" : "B") + " posts receive " + std::to_string(receive.wr_id) + " " +
         text_of_sges(receive.sges) + " = " + std::to_string(got));
    expect("ibv_post_recv", expected, got);
}

void Driver::poll(size_t host, Dice& dice) {
    settle();
    Host& h = reference_.hosts[host];
    const uint32_t count = dice.once_in(4) ? std::min(dice.below(4), h.unpolled) : h.unpolled;
    tell(std::string(host == 0 ? "A" : "B") + " polls " + std::to_string(count));
    expect("ibv_poll_cq", 0, real_[host].hca->cq_consumed(h.cq, count));
    h.unpolled -= count;
}

void Driver::arm(size_t host, Dice& dice) {
    settle();
    const bool solicited_only = dice.below(2) != 0;
    tell(std::string(host == 0 ? "A" : "B") + (solicited_only ? " arms for solicited" : " arms"));
    reference_.arm(host, solicited_only);
    expect("ibv_req_notify_cq", 0, real_[host].hca->req_notify_cq(reference_.hosts[host].cq, solicited_only, now()));
}

}  // namespace simverbs::test::model
