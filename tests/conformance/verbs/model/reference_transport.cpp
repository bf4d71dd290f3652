// What becomes of a message: RC, UC, UD. Packet by packet only where that can be seen.
#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/conformance/verbs/model/reference.hpp"

namespace simverbs::test::model {

namespace {

uint32_t packets_of(uint64_t length) {
    return static_cast<uint32_t>(std::max<uint64_t>(1, (length + kMtu - 1) / kMtu));
}
bool is_atomic(WrOpcode op) {
    return op == WrOpcode::AtomicCmpAndSwp || op == WrOpcode::AtomicFetchAndAdd;
}
bool is_write(WrOpcode op) {
    return op == WrOpcode::RdmaWrite || op == WrOpcode::RdmaWriteWithImm;
}

}  // namespace

bool is_local(WrOpcode op) {
    return op == WrOpcode::BindMw || op == WrOpcode::LocalInv;
}

bool fills_sges(WrOpcode op) {
    return op == WrOpcode::RdmaRead || is_atomic(op);
}

bool takes_receive(WrOpcode op) {
    return op == WrOpcode::Send || op == WrOpcode::SendWithImm || op == WrOpcode::SendWithInv ||
           op == WrOpcode::RdmaWriteWithImm;
}

uint64_t length_of(const Send& send) {
    if (is_local(send.wr.opcode)) return 0;
    if ((send.wr.send_flags & kInline) != 0) return send.inline_bytes.size();
    if (is_atomic(send.wr.opcode)) return 8;
    uint64_t n = 0;
    for (const Sge& sge : send.sges) n += sge.length;
    return n;
}

Reference::Payload Reference::gather(size_t host, const Send& send) const {
    Payload p;
    if ((send.wr.send_flags & kInline) != 0) {
        p.bytes = send.inline_bytes;
        p.unknown.resize(p.bytes.size());
        return p;
    }
    const Host& h = hosts[host];
    for (const Sge& sge : send.sges) {
        if (sge.length == 0) continue;
        const auto at = static_cast<std::ptrdiff_t>(*local_range(host, sge, 0, sge.length, 0));
        p.bytes.insert(p.bytes.end(), h.memory.begin() + at, h.memory.begin() + at + sge.length);
        p.unknown.insert(p.unknown.end(), h.unknown.begin() + at, h.unknown.begin() + at + sge.length);
    }
    return p;
}

void Reference::store(size_t host, uint64_t at, const Payload& from, uint64_t offset, uint64_t length) {
    if (length == 0) return;
    std::memcpy(&hosts[host].memory[at], &from.bytes[offset], length);
    std::memcpy(&hosts[host].unknown[at], &from.unknown[offset], length);
}

bool Reference::scatter(size_t host, const std::vector<Sge>& sges, uint64_t at, const Payload& from, uint64_t offset,
                        uint64_t length) {
    uint64_t begin = 0;
    for (const Sge& sge : sges) {
        if (length == 0) break;
        if (at < begin + sge.length) {
            const uint64_t skip = at - begin, n = std::min<uint64_t>(sge.length - skip, length);
            const auto to = local_range(host, sge, skip, n, kLocalWrite);
            if (!to) return false;
            store(host, *to, from, offset, n);
            at += n;
            offset += n;
            length -= n;
        }
        begin += sge.length;
    }
    return true;
}

/// What is wrong with a request before it leaves: keys are checked where there are bytes.
std::optional<WcStatus> Reference::local_fault(size_t host, const Send& send) const {
    const WrOpcode op = send.wr.opcode;
    if (!has_operation(type_, op)) return WcStatus::LocQpOpErr;
    const bool fills = op == WrOpcode::RdmaRead || is_atomic(op);
    const bool has_response = fills || op == WrOpcode::AtomicWrite;
    if (op == WrOpcode::AtomicWrite && length_of(send) != 8) return WcStatus::LocLenErr;
    if (has_response && hosts[host].qp.max_rd_atomic == 0) return WcStatus::LocQpOpErr;
    if (type_ == QpType::Ud && length_of(send) > 4096) return WcStatus::LocLenErr;
    if ((send.wr.send_flags & kInline) != 0) return {};
    uint64_t left = length_of(send);
    for (const Sge& sge : send.sges) {
        const uint64_t n = std::min<uint64_t>(sge.length, left);
        if (n > 0 && !local_range(host, sge, 0, n, fills ? uint32_t{kLocalWrite} : 0U)) return WcStatus::LocProtErr;
        left -= n;
    }
    return {};
}

bool Reference::reaches(size_t host) const {
    const QueuePair& q = hosts[host].qp;
    const QueuePair& peer = hosts[1 - host].qp;
    const bool listens = peer.state == QpState::Rtr || peer.state == QpState::Rts || peer.state == QpState::Sqd ||
                         peer.state == QpState::Sqe;
    return peer.alive && listens && (type_ == QpType::Ud || peer.qpn == q.dest_qpn);
}

Completion Reference::received(const Send& send, uint32_t bytes) const {
    Completion c;
    const WrOpcode op = send.wr.opcode;
    c.opcode = op == WrOpcode::RdmaWriteWithImm ? WcOpcode::RecvRdmaWithImm : WcOpcode::Recv;
    c.byte_len = bytes;
    c.solicited = (send.wr.send_flags & kSolicitedWr) != 0;
    if (op == WrOpcode::SendWithImm || op == WrOpcode::RdmaWriteWithImm) c.wc_flags |= kWcWithImm;
    if (op == WrOpcode::SendWithInv) c.wc_flags |= kWcWithInv;
    if (type_ == QpType::Ud) c.wc_flags |= kWcGrh;
    if (c.wc_flags != 0) c.imm_or_rkey = send.wr.imm_or_rkey;
    if ((c.wc_flags & (kWcWithImm | kWcWithInv)) == 0) c.imm_or_rkey = 0;
    return c;
}

// ---------------------------------------------------------------------------------------------------------------- RC

void Reference::run_reliable(size_t host) {
    QueuePair& q = hosts[host].qp;
    while (q.state == QpState::Rts && !q.sends.empty()) {
        const Send send = q.sends.front();
        q.sends.pop_front();
        WcStatus status = WcStatus::Success;
        bool answered_by_peer = false;
        if (send.wr.opcode == WrOpcode::BindMw) {
            if (!bind(host, send.wr)) status = WcStatus::MwBindErr;
        } else if (send.wr.opcode == WrOpcode::LocalInv) {
            if (!invalidate(host, send.wr.imm_or_rkey)) status = WcStatus::LocQpOpErr;
        } else if (const auto fault = local_fault(host, send)) {
            status = *fault;
        } else {
            status = deliver_reliable(host, send);
            answered_by_peer = true;
        }
        if (status == WcStatus::Success) {
            complete_send(host, send, status);
            continue;
        }
        q.state = QpState::Err;
        const bool maybe_unheard = losses_.any && answered_by_peer && status != WcStatus::RetryExcErr;
        complete_send(host, send, status, maybe_unheard ? std::optional(WcStatus::RetryExcErr) : std::nullopt);
        enter_error(host);
    }
}

Reference::Verdict Reference::deliver_reliable(size_t host, const Send& send) {
    QueuePair& q = hosts[host].qp;
    Host& peer = hosts[1 - host];
    if (!reaches(host) || q.next_psn != peer.qp.expected_psn) return WcStatus::RetryExcErr;
    if (peer.qp.state == QpState::Rtr && !peer.qp.communication_established) {
        peer.qp.communication_established = true;
        peer.events.push_back({EventType::CommEst, false});
    }
    const WrOpcode op = send.wr.opcode;
    const Verdict verdict = op == WrOpcode::RdmaRead                       ? deliver_read(host, send)
                            : is_atomic(op) || op == WrOpcode::AtomicWrite ? deliver_atomic(host, send)
                                                                           : deliver_message(host, send);
    if (verdict != WcStatus::Success) return verdict;
    const bool one_packet = is_atomic(op) || op == WrOpcode::AtomicWrite;
    q.next_psn = (q.next_psn + (one_packet ? 1 : packets_of(length_of(send)))) & 0xFFFFFF;
    // A completion that found no room: the peer is in the error state before it could acknowledge.
    return peer.qp.state == QpState::Err ? WcStatus::RetryExcErr : verdict;
}

Reference::Verdict Reference::deliver_message(size_t host, const Send& send) {
    const size_t to = 1 - host;
    QueuePair& peer = hosts[to].qp;
    const WrOpcode op = send.wr.opcode;
    const Payload payload = gather(host, send);
    const uint64_t length = payload.bytes.size();
    const uint32_t packets = packets_of(length);
    std::optional<uint64_t> target;
    for (uint32_t i = 0; i < packets; ++i) {
        const bool first = i == 0, last = i + 1 == packets;
        const uint64_t offset = uint64_t{i} * kMtu, n = std::min<uint64_t>(kMtu, length - offset);
        // Room for the message comes before its rights.
        const bool needs_receive = is_write(op) ? last && takes_receive(op) : first;
        if (needs_receive && !take_receive(to)) return WcStatus::RnrRetryExcErr;
        if (first && is_write(op)) {
            if ((peer.access & kRemoteWrite) == 0) {
                fail_receiver(to, {}, EventType::QpReqErr);
                return WcStatus::RemInvReqErr;
            }
            if (length > 0) target = remote_range(to, send.wr.rkey, send.wr.remote_addr, length, kRemoteWrite);
            if (length > 0 && !target) {
                // A WRITE of one packet has taken its receive already.
                fail_receiver(to, needs_receive ? std::optional(WcStatus::LocAccessErr) : std::nullopt,
                              EventType::QpAccessErr);
                return WcStatus::RemAccessErr;
            }
        }
        if (is_write(op)) {
            if (n > 0) store(to, *target + offset, payload, offset, n);
        } else {
            uint64_t room = 0;
            for (const Sge& sge : peer.taken->sges) room += sge.length;
            if (offset + n > room) {
                fail_receiver(to, WcStatus::LocLenErr, {});
                return WcStatus::RemInvReqErr;
            }
            if (!scatter(to, peer.taken->sges, offset, payload, offset, n)) {
                fail_receiver(to, WcStatus::LocProtErr, {});
                return WcStatus::RemOpErr;
            }
        }
        if (last && op == WrOpcode::SendWithInv && !invalidate(to, send.wr.imm_or_rkey)) {
            fail_receiver(to, {}, EventType::QpAccessErr);
            return WcStatus::RemAccessErr;
        }
        peer.expected_psn = (peer.expected_psn + 1) & 0xFFFFFF;
    }
    if (takes_receive(op)) complete_receive(to, received(send, static_cast<uint32_t>(length)));
    return WcStatus::Success;
}

Reference::Verdict Reference::deliver_read(size_t host, const Send& send) {
    const size_t to = 1 - host;
    QueuePair& peer = hosts[to].qp;
    const uint64_t length = length_of(send);
    if ((peer.access & kRemoteRead) == 0 || peer.max_dest_rd_atomic == 0) {
        fail_receiver(to, {}, EventType::QpReqErr);
        return WcStatus::RemInvReqErr;
    }
    Payload answer;
    if (length > 0) {
        const auto from = remote_range(to, send.wr.rkey, send.wr.remote_addr, length, kRemoteRead);
        if (!from) {
            fail_receiver(to, {}, EventType::QpAccessErr);
            return WcStatus::RemAccessErr;
        }
        const auto begin = static_cast<std::ptrdiff_t>(*from), end = begin + static_cast<std::ptrdiff_t>(length);
        answer.bytes.assign(hosts[to].memory.begin() + begin, hosts[to].memory.begin() + end);
        answer.unknown.assign(hosts[to].unknown.begin() + begin, hosts[to].unknown.begin() + end);
    }
    peer.expected_psn = (peer.expected_psn + packets_of(length)) & 0xFFFFFF;
    (void)scatter(host, send.sges, 0, answer, 0, length);
    return WcStatus::Success;
}

/// Eight bytes at once: atomics and ATOMIC WRITE.
Reference::Verdict Reference::deliver_atomic(size_t host, const Send& send) {
    const size_t to = 1 - host;
    QueuePair& peer = hosts[to].qp;
    const bool write = send.wr.opcode == WrOpcode::AtomicWrite;
    const uint32_t right = write ? kRemoteWrite : kRemoteAtomic;
    if ((peer.access & right) == 0 || send.wr.remote_addr % 8 != 0 || peer.max_dest_rd_atomic == 0) {
        fail_receiver(to, {}, EventType::QpReqErr);
        return WcStatus::RemInvReqErr;
    }
    const auto at = remote_range(to, send.wr.rkey, send.wr.remote_addr, 8, right);
    if (!at) {
        fail_receiver(to, {}, EventType::QpAccessErr);
        return WcStatus::RemAccessErr;
    }
    peer.expected_psn = (peer.expected_psn + 1) & 0xFFFFFF;
    if (write) {
        store(to, *at, gather(host, send), 0, 8);
        return WcStatus::Success;
    }
    Payload old, next;
    old.bytes.assign(&hosts[to].memory[*at], &hosts[to].memory[*at] + 8);
    old.unknown.assign(&hosts[to].unknown[*at], &hosts[to].unknown[*at] + 8);
    uint64_t value = 0;
    std::memcpy(&value, old.bytes.data(), 8);
    if (send.wr.opcode == WrOpcode::AtomicFetchAndAdd)
        value += send.wr.compare_add;
    else if (value == send.wr.compare_add)
        value = send.wr.swap;
    next = old;
    if (std::ranges::count(old.unknown, 0) != 8) next.unknown.assign(8, 1);
    std::memcpy(next.bytes.data(), &value, 8);
    store(to, *at, next, 0, 8);
    (void)scatter(host, send.sges, 0, old, 0, 8);
    return WcStatus::Success;
}

// --------------------------------------------------------------------------------------------------------- UC and UD

void Reference::run_unreliable(size_t host) {
    QueuePair& q = hosts[host].qp;
    while (q.state == QpState::Rts && !q.sends.empty()) {
        const Send send = q.sends.front();
        q.sends.pop_front();
        std::optional<WcStatus> fault;
        if (send.wr.opcode == WrOpcode::BindMw) {
            if (!bind(host, send.wr)) fault = WcStatus::MwBindErr;
        } else if (send.wr.opcode == WrOpcode::LocalInv) {
            if (!invalidate(host, send.wr.imm_or_rkey)) fault = WcStatus::LocQpOpErr;
        } else {
            fault = local_fault(host, send);
            if (!fault) type_ == QpType::Uc ? deliver_uc(host, send) : deliver_ud(host, send);
        }
        if (fault) q.state = QpState::Sqe;
        complete_send(host, send, fault.value_or(WcStatus::Success));
        if (fault) flush_sends(host);
    }
}

bool Reference::lost(size_t to) {
    return losses_.to_host[to].contains(++packets_to_[to]);
}

void Reference::deliver_uc(size_t host, const Send& send) {
    const size_t to = 1 - host;
    QueuePair& q = hosts[host].qp;
    QueuePair& peer = hosts[to].qp;
    const Payload payload = gather(host, send);
    const uint64_t length = payload.bytes.size();
    const uint32_t packets = packets_of(length);
    const bool write = is_write(send.wr.opcode);
    for (uint32_t i = 0; i < packets; ++i) {
        const bool first = i == 0, last = i + 1 == packets;
        const uint64_t offset = uint64_t{i} * kMtu, n = std::min<uint64_t>(kMtu, length - offset);
        const uint32_t psn = q.next_psn;
        q.next_psn = (q.next_psn + 1) & 0xFFFFFF;
        if (lost(to) || !reaches(host)) continue;
        const bool continues = peer.inbound && peer.inbound_write == write && psn == peer.expected_psn;
        peer.expected_psn = (psn + 1) & 0xFFFFFF;
        if (!first && !continues) {
            peer.inbound = false;
            continue;
        }
        if (first) {
            peer.inbound = true;
            peer.inbound_write = write;
            if (write && length > 0) {
                const auto at = remote_range(to, send.wr.rkey, send.wr.remote_addr, length, kRemoteWrite);
                if (at) peer.inbound_at = *at;
                if (!at) peer.inbound = false;
            }
            if (write && (peer.access & kRemoteWrite) == 0) peer.inbound = false;
            if (!peer.inbound) continue;
        }
        if ((write ? last && takes_receive(send.wr.opcode) : first) && !take_receive(to)) {
            peer.inbound = false;
            // Whether the last bytes of a dropped message are there, nobody says.
            if (write && n > 0)
                std::fill_n(hosts[to].unknown.begin() + static_cast<std::ptrdiff_t>(peer.inbound_at + offset), n, 1);
            continue;
        }
        if (write) {
            if (n > 0) store(to, peer.inbound_at + offset, payload, offset, n);
        } else {
            uint64_t room = 0;
            for (const Sge& sge : peer.taken->sges) room += sge.length;
            const bool fits = offset + n <= room;
            if (!fits || !scatter(to, peer.taken->sges, offset, payload, offset, n)) {
                fail_receiver(to, fits ? WcStatus::LocProtErr : WcStatus::LocLenErr, {});
                continue;
            }
        }
        if (!last) continue;
        peer.inbound = false;
        if (takes_receive(send.wr.opcode)) complete_receive(to, received(send, static_cast<uint32_t>(length)));
    }
}

void Reference::deliver_ud(size_t host, const Send& send) {
    const size_t to = 1 - host;
    QueuePair& q = hosts[host].qp;
    QueuePair& peer = hosts[to].qp;
    q.next_psn = (q.next_psn + 1) & 0xFFFFFF;
    if (lost(to) || !reaches(host) || peer.qpn != send.wr.remote_qpn) return;
    const uint32_t qkey = (send.wr.remote_qkey & 0x80000000U) != 0 ? q.qkey : send.wr.remote_qkey;
    if (qkey != peer.qkey || !take_receive(to)) return;
    const Payload payload = gather(host, send);
    uint64_t room = 0;
    for (const Sge& sge : peer.taken->sges) room += sge.length;
    const uint64_t length = kGrhBytes + payload.bytes.size();
    if (length > room) return fail_receiver(to, WcStatus::LocLenErr, {});
    // The GRH's place: its first half is undefined behind IPv4, the rest not looked at here.
    const Payload grh{std::vector<uint8_t>(kGrhBytes), std::vector<uint8_t>(kGrhBytes, 1)};
    if (!scatter(to, peer.taken->sges, kGrhBytes, payload, 0, payload.bytes.size()) ||
        !scatter(to, peer.taken->sges, 0, grh, 0, kGrhBytes))
        return fail_receiver(to, WcStatus::LocProtErr, {});
    complete_receive(to, received(send, static_cast<uint32_t>(length)));
}

}  // namespace simverbs::test::model
