// Keys, queues, completions, states.
#include <algorithm>

#include "tests/conformance/verbs/model/reference.hpp"
#include "tests/conformance/verbs/model/transition_rules.hpp"

namespace simverbs::test::model {

bool has_operation(QpType type, WrOpcode op) {
    switch (op) {
        case WrOpcode::Send:
        case WrOpcode::SendWithImm:
            return true;
        case WrOpcode::RdmaWrite:
        case WrOpcode::RdmaWriteWithImm:
        case WrOpcode::LocalInv:
        case WrOpcode::BindMw:
            return type != QpType::Ud;
        case WrOpcode::SendWithInv:
        case WrOpcode::RdmaRead:
        case WrOpcode::AtomicCmpAndSwp:
        case WrOpcode::AtomicFetchAndAdd:
        case WrOpcode::AtomicWrite:
            return type == QpType::Rc;
        case WrOpcode::Tso:
        case WrOpcode::Driver1:
        case WrOpcode::Flush:
            return false;
    }
    return false;
}

namespace {

WcOpcode completion_opcode(WrOpcode op) {
    switch (op) {
        case WrOpcode::RdmaWrite:
        case WrOpcode::RdmaWriteWithImm:
            return WcOpcode::RdmaWrite;
        case WrOpcode::RdmaRead:
            return WcOpcode::RdmaRead;
        case WrOpcode::AtomicCmpAndSwp:
            return WcOpcode::CompSwap;
        case WrOpcode::AtomicFetchAndAdd:
            return WcOpcode::FetchAdd;
        case WrOpcode::AtomicWrite:
            return WcOpcode::AtomicWrite;
        case WrOpcode::LocalInv:
            return WcOpcode::LocalInv;
        case WrOpcode::BindMw:
            return WcOpcode::BindMw;
        case WrOpcode::Send:
        case WrOpcode::SendWithImm:
        case WrOpcode::SendWithInv:
        case WrOpcode::Tso:
        case WrOpcode::Driver1:
        case WrOpcode::Flush:
            break;
    }
    return WcOpcode::Send;
}

bool covers(uint64_t begin, uint64_t size, uint64_t va, uint64_t length) {
    return va >= begin && va - begin <= size && length <= size - (va - begin);
}

}  // namespace

int Reference::modify(size_t host, const QpAttr& a, uint32_t mask) {
    QueuePair& q = hosts[host].qp;
    if (!q.alive) return ENOENT;
    if (!modify_is_ok(type_, q.state, a, mask)) return EINVAL;
    const auto has = [mask](uint32_t bit) { return (mask & bit) != 0; };
    if (has(kAccessFlags)) q.access = a.qp_access_flags;
    if (has(kDestQpn)) q.dest_qpn = a.dest_qp_num & 0xFFFFFF;
    if (has(kQkey)) q.qkey = a.qkey;
    if (has(kSqPsn)) q.next_psn = a.sq_psn & 0xFFFFFF;
    if (has(kRqPsn)) q.expected_psn = a.rq_psn & 0xFFFFFF;
    if (has(kMaxQpRdAtomic)) q.max_rd_atomic = a.max_rd_atomic;
    if (has(kMaxDestRdAtomic)) q.max_dest_rd_atomic = a.max_dest_rd_atomic;
    if (!has(kState)) return 0;
    switch (a.qp_state) {
        case QpState::Reset: {
            // Nothing is remembered, nothing completes.
            QueuePair fresh;
            fresh.alive = true;
            fresh.qpn = q.qpn;
            fresh.inline_room = q.inline_room;
            fresh.sq_sig_all = q.sq_sig_all;
            q = fresh;
            return 0;
        }
        case QpState::Err:
            if (q.state != QpState::Err) enter_error(host);
            return 0;
        case QpState::Sqd: {
            // Nothing is under way between two settles, so that the queue is drained at once. The notification is
            // asked for with each transition anew.
            const bool enters = q.state != QpState::Sqd;
            q.state = QpState::Sqd;
            if (enters && has(kEnSqdAsyncNotify) && a.en_sqd_async_notify != 0)
                hosts[host].events.push_back({EventType::SqDrained, false});
            return 0;
        }
        case QpState::Init:
        case QpState::Rtr:
        case QpState::Rts:
        case QpState::Sqe:
            q.state = a.qp_state;
            return 0;
    }
    return 0;
}

int Reference::post_send(size_t host, const Send& send) {
    QueuePair& q = hosts[host].qp;
    const bool is_inline = (send.wr.send_flags & kInline) != 0;
    const WrOpcode op = send.wr.opcode;
    if (!q.alive || q.state == QpState::Reset || q.state == QpState::Init || q.state == QpState::Rtr) return EINVAL;
    if (q.sends.size() >= kSendQueue) return ENOMEM;
    if (is_inline && (send.inline_bytes.size() > q.inline_room || op == WrOpcode::RdmaRead ||
                      op == WrOpcode::AtomicCmpAndSwp || op == WrOpcode::AtomicFetchAndAdd))
        return EINVAL;
    if (!is_inline && send.sges.size() > kMaxSge) return EINVAL;
    if (type_ == QpType::Ud && has_operation(type_, op) && send.wr.ah == 0) return EINVAL;
    q.sends.push_back(send);
    return 0;
}

int Reference::post_receive(size_t host, const Receive& receive) {
    QueuePair& q = hosts[host].qp;
    if (!q.alive || q.state == QpState::Reset) return EINVAL;
    if (q.receives.size() + (q.taken ? 1 : 0) >= kReceiveQueue) return ENOMEM;
    if (receive.sges.size() > kMaxSge) return EINVAL;
    q.receives.push_back(receive);
    return 0;
}

int Reference::may_deregister(size_t host, size_t region) const {
    if (!hosts[host].regions[region].alive) return ENOENT;
    const bool used = std::ranges::any_of(
        hosts[host].windows, [region](const Window& w) { return w.alive && w.bound && w.region == region; });
    return used ? EBUSY : 0;
}

void Reference::arm(size_t host, bool solicited_only) {
    Host::Arm& arm = hosts[host].arm;
    if (arm != Host::Arm::Any) arm = solicited_only ? Host::Arm::Solicited : Host::Arm::Any;
}

const Region* Reference::by_lkey(size_t host, uint32_t lkey) const {
    for (const Region& r : hosts[host].regions)
        if (r.alive && r.lkey == lkey) return &r;
    return nullptr;
}

std::optional<uint64_t> Reference::local_range(size_t host, const Sge& sge, uint64_t skip, uint64_t length,
                                               uint32_t needed) const {
    const Region* r = by_lkey(host, sge.lkey);
    if (r == nullptr || r->pd != hosts[host].pd[0] || (r->access & needed) != needed) return {};
    if (!covers(r->iova, r->length, sge.addr + skip, length)) return {};
    return r->addr - kBase + (sge.addr + skip - r->iova);
}

std::optional<uint64_t> Reference::remote_range(size_t host, uint32_t rkey, uint64_t va, uint64_t length,
                                                uint32_t needed) const {
    const Host& h = hosts[host];
    for (const Region& r : h.regions) {
        if (!r.alive || r.rkey != rkey) continue;
        if (r.pd != h.pd[0] || (r.access & needed) != needed || !covers(r.iova, r.length, va, length)) return {};
        return r.addr - kBase + (va - r.iova);
    }
    for (const Window& w : h.windows) {
        if (!w.alive || !w.bound || w.rkey != rkey || (w.type == MwType::Type2 && w.qpn != h.qp.qpn)) continue;
        if (w.pd != h.pd[0] || (w.access & needed) != needed || !covers(w.iova, w.length, va, length)) return {};
        return w.addr - kBase + (va - w.iova);
    }
    return {};
}

bool Reference::bind(size_t host, const SendWr& wr) {
    Host& h = hosts[host];
    const auto window = std::ranges::find_if(h.windows, [&](const Window& w) { return w.alive && w.handle == wr.mw; });
    if (window == h.windows.end() || window->pd != h.pd[0]) return false;
    if ((wr.mw_rkey >> 8) != (window->rkey >> 8)) return false;
    if (window->type == MwType::Type2 && window->bound) return false;
    const uint64_t length = wr.compare_add;
    if (length == 0) {
        if (window->type == MwType::Type2) return false;
        window->bound = false;
        window->rkey = wr.mw_rkey;
        return true;
    }
    const auto region =
        std::ranges::find_if(h.regions, [&](const Region& r) { return r.alive && r.handle == wr.mw_mr; });
    if (region == h.regions.end() || region->pd != h.pd[0] || (region->access & kMwBind) == 0) return false;
    const bool writes = (wr.mw_access & (kRemoteWrite | kRemoteAtomic)) != 0;
    if (writes && (region->access & kLocalWrite) == 0) return false;
    if (!covers(region->iova, region->length, wr.remote_addr, length)) return false;
    window->bound = true;
    window->rkey = wr.mw_rkey;
    window->region = static_cast<size_t>(region - h.regions.begin());
    window->addr = region->addr + (wr.remote_addr - region->iova);
    window->iova = (wr.mw_access & kZeroBased) != 0 ? 0 : wr.remote_addr;
    window->length = length;
    window->access = wr.mw_access;
    window->qpn = h.qp.qpn;
    return true;
}

bool Reference::invalidate(size_t host, uint32_t rkey) {
    for (Window& w : hosts[host].windows) {
        if (!w.alive || !w.bound || w.rkey != rkey || w.type != MwType::Type2) continue;
        if (w.qpn != hosts[host].qp.qpn || w.pd != hosts[host].pd[0]) return false;
        w.bound = false;
        return true;
    }
    return false;
}

void Reference::complete(size_t host, Completion completion) {
    Host& h = hosts[host];
    if (h.unpolled >= h.cq_capacity || h.overrun) {
        // The completion is lost, as all later ones are, and with it the queue pair.
        if (!h.overrun) h.events.push_back({EventType::CqErr, true});
        h.overrun = true;
        if (h.qp.state != QpState::Err) {
            enter_error(host);
            h.events.push_back({EventType::QpFatal, false});
        }
        return;
    }
    ++h.unpolled;
    const bool counts = h.arm == Host::Arm::Any || (h.arm == Host::Arm::Solicited &&
                                                    (completion.solicited || completion.status != WcStatus::Success));
    h.completions.push_back(completion);
    if (!counts) return;
    h.arm = Host::Arm::None;
    ++h.channel_events;
}

void Reference::complete_send(size_t host, const Send& send, WcStatus status, std::optional<WcStatus> or_else) {
    const bool signaled = hosts[host].qp.sq_sig_all || (send.wr.send_flags & kSignaled) != 0;
    if (status == WcStatus::Success && !signaled) return;
    Completion c;
    c.wr_id = send.wr.wr_id;
    c.status = status;
    c.or_else = or_else;
    c.opcode = completion_opcode(send.wr.opcode);
    if (c.opcode == WcOpcode::RdmaRead) c.byte_len = static_cast<uint32_t>(length_of(send));
    if (c.opcode == WcOpcode::CompSwap || c.opcode == WcOpcode::FetchAdd) c.byte_len = 8;
    complete(host, c);
}

void Reference::complete_receive(size_t host, Completion completion) {
    QueuePair& q = hosts[host].qp;
    completion.is_send = false;
    completion.wr_id = q.taken->wr_id;
    q.taken.reset();
    complete(host, completion);
}

void Reference::enter_error(size_t host) {
    hosts[host].qp.state = QpState::Err;
    flush_sends(host);
    flush_receives(host);
}

void Reference::flush_sends(size_t host) {
    QueuePair& q = hosts[host].qp;
    while (!q.sends.empty()) {
        const Send send = q.sends.front();
        q.sends.pop_front();
        complete_send(host, send, WcStatus::WrFlushErr);
    }
}

void Reference::flush_receives(size_t host) {
    while (take_receive(host)) {
        Completion c;
        c.status = WcStatus::WrFlushErr;
        complete_receive(host, c);
    }
    hosts[host].qp.inbound = false;
}

bool Reference::take_receive(size_t host) {
    QueuePair& q = hosts[host].qp;
    if (q.taken) return true;
    if (q.receives.empty()) return false;
    q.taken = q.receives.front();
    q.receives.pop_front();
    return true;
}

/// A request could not be carried out: the receive that it took may be at fault, the program may be told.
void Reference::fail_receiver(size_t host, std::optional<WcStatus> receive_status, std::optional<EventType> event) {
    Host& h = hosts[host];
    if (receive_status && h.qp.taken) {
        h.qp.state = QpState::Err;
        Completion c;
        c.status = *receive_status;
        complete_receive(host, c);
    }
    if (event) h.events.push_back({*event, false});
    enter_error(host);
}

void Reference::settle() {
    for (size_t host : {0, 1}) {
        QueuePair& q = hosts[host].qp;
        if (q.state == QpState::Rts) type_ == QpType::Rc ? run_reliable(host) : run_unreliable(host);
        if (q.state == QpState::Sqe) flush_sends(host);
    }
    for (size_t host : {0, 1}) {
        if (hosts[host].qp.state != QpState::Err) continue;
        flush_sends(host);
        flush_receives(host);
    }
}

}  // namespace simverbs::test::model
