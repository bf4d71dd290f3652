// From scatter/gather entries to memory: L_Key checks, DMA writes.
#include "models/hca/device.hpp"

namespace simverbs::hca {

WcStatus Device::local_status_of(Check check, bool is_response) const noexcept {
    if (check == Check::LocalKey && !is_response) return profile.behaviour.bad_lkey;
    if (check == Check::LocalLength || check == Check::ReceiveTooSmall) return WcStatus::LocLenErr;
    if (check == Check::MwBind) return WcStatus::MwBindErr;
    return check == Check::LocalOperation || check == Check::InvalidateKey ? WcStatus::LocQpOpErr
                                                                           : WcStatus::LocProtErr;
}

WcStatus Device::receive_status_of(Check check) const noexcept {
    return check == Check::ReceiveTooSmall ? profile.behaviour.receive_too_small : profile.behaviour.bad_receive;
}

void Device::aim_at(const Mr* mr, uint64_t va) noexcept {
    if (mr == nullptr) return host_port.aim({});
    // Spaces differ in their low bits, those of GPUs from those of processes in the high ones.
    const uint64_t space = (mr->space ^ (mr->space >> 16)) & 0xFFFF;
    host_port.aim({mr->host_memory, space << 48 | (mr->addr + (va - mr->iova)) % (uint64_t{1} << 48)});
}

void Device::aim_at(std::span<const Sge> sges, uint64_t at) noexcept {
    for (const Sge& sge : sges) {
        if (at < sge.length) return aim_at(mrs.find_lkey(sge.lkey), sge.addr + at);
        at -= sge.length;
    }
    host_port.aim({});
}

void Device::aim_at_source(const Qp& qp, uint32_t message, uint64_t at) noexcept {
    if (qp.verbs == nullptr) return host_port.aim({});
    const VerbsQp& v = *qp.verbs;
    const size_t slot = message & qp.message_mask;
    aim_at(std::span(&v.sges[slot * std::max(v.init.cap.max_send_sge, 1U)], v.wqes[slot].num_sge), at);
}

Device::LocalFault Device::resolve_sges(uint32_t pd, std::span<const Sge> sges, uint64_t length, uint32_t needed,
                                        std::vector<ResolvedSge>& out) const {
    out.clear();
    uint64_t left = length;
    for (const Sge& sge : sges) {
        if (left == 0) break;
        const auto n = static_cast<uint32_t>(std::min<uint64_t>(left, sge.length));
        if (n == 0) continue;
        const Mr* mr = mrs.find_lkey(sge.lkey);
        const MrVerdict verdict = check_access(mr, pd, sge.addr, n, needed);
        if (verdict != MrVerdict::Ok) return {local_check_of(verdict), sge.addr, n, sge.lkey};
        if (!host_port.reaches(mr->host_memory)) [[unlikely]]
            return {Check::LocalMemory, sge.addr, n, sge.lkey};
        out.push_back({mr->space, mr->addr + (sge.addr - mr->iova), n});
        left -= n;
    }
    return {};
}

Device::LocalFault Device::scatter(uint32_t pd, std::span<const Sge> sges, uint64_t at, const wire::Packet& packet,
                                   sim::SimTime visible_at) {
    static constexpr wire::PayloadRef kNoPayload{};
    const wire::PayloadRef& payload = packet.extra == wire::kNoExtra ? kNoPayload : (*pool)[packet.extra].payload;
    const wire::OpcodeInfo& info = *wire::find_opcode(packet.opcode);
    const bool part = !info.ends_message() || info.completes_receive_wqe;
    uint64_t begin = 0;
    uint32_t done = 0;
    for (const Sge& sge : sges) {
        if (done == packet.payload_bytes) break;
        const uint64_t from = at + done;
        if (from < begin + sge.length) {
            const uint64_t offset = from - begin;
            const auto n = static_cast<uint32_t>(std::min<uint64_t>(sge.length - offset, packet.payload_bytes - done));
            const Mr* mr = mrs.find_lkey(sge.lkey);
            const MrVerdict verdict = check_access(mr, pd, sge.addr + offset, n, kLocalWrite);
            if (verdict != MrVerdict::Ok) return {local_check_of(verdict), sge.addr + offset, n, sge.lkey};
            if (!host_port.reaches(mr->host_memory)) [[unlikely]]
                return {Check::LocalMemory, sge.addr + offset, n, sge.lkey};
            write_payload(payload, done, n, mr->space, mr->addr + (sge.addr + offset - mr->iova), part, visible_at);
            done += n;
        }
        begin += sge.length;
    }
    if (done < packet.payload_bytes) return {Check::ReceiveTooSmall, 0, packet.payload_bytes, 0};
    return {};
}

Device::LocalFault Device::scatter_bytes(uint32_t pd, std::span<const Sge> sges, std::span<const uint8_t> bytes,
                                         sim::SimTime visible_at) {
    const auto fault = resolve_sges(pd, sges, bytes.size(), kLocalWrite, scratch);
    if (fault.check != Check::None) return fault;
    if (mover == nullptr) return {};
    const wire::StreamId stream = mover->open_bytes(bytes);
    uint64_t at = 0;
    for (const ResolvedSge& r : scratch) {
        write_payload({stream, static_cast<uint32_t>(bytes.size()), 0}, at, r.length, r.space, r.va, false, visible_at);
        at += r.length;
    }
    mover->release(stream);
    if (at < bytes.size()) return {Check::ReceiveTooSmall, 0, bytes.size(), 0};
    return {};
}

}  // namespace simverbs::hca
