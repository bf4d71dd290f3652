#include "models/link/link_faults.hpp"

#include "models/wire/opcode.hpp"
#include "sim/check.hpp"

namespace simverbs::link {

namespace {

sim::DrawPurpose purpose_of(FaultKind kind) {
    switch (kind) {
        case FaultKind::Drop:
        case FaultKind::Down:
            return sim::DrawPurpose::FaultDrop;
        case FaultKind::Corrupt:
            return sim::DrawPurpose::FaultCorrupt;
        case FaultKind::Duplicate:
            return sim::DrawPurpose::FaultDuplicate;
        case FaultKind::Delay:
            return sim::DrawPurpose::FaultDelay;
        case FaultKind::Reorder:
            return sim::DrawPurpose::FaultReorder;
        case FaultKind::EcnMark:
            return sim::DrawPurpose::FaultMark;
    }
    return sim::DrawPurpose::Other;
}

}  // namespace

uint64_t flow_key(wire::LeafId dest, uint32_t dest_qp, bool is_answer) noexcept {
    return uint64_t{is_answer} << 63 | uint64_t{dest} << 32 | dest_qp;
}

uint64_t flow_key(const wire::Packet& packet) noexcept {
    return flow_key(packet.dest, packet.dest_qp, wire::is_answer(packet.opcode));
}

LinkFaults::LinkFaults(std::vector<LinkFault> faults, uint64_t seed, sim::ComponentId port)
    : faults_(std::move(faults)), fired_(faults_.size()), matched_(faults_.size(), 0) {
    for (const LinkFault& f : faults_) {
        // Two faults of one kind on one port draw independently: the path tells them apart.
        const sim::ComponentId id = f.path.empty() ? port : port ^ sim::component_id(f.path);
        draws_.emplace_back(seed, id, purpose_of(f.kind));
    }
}

bool LinkFaults::hits(size_t fault, const wire::Packet& packet) noexcept {
    const LinkFault& f = faults_[fault];
    const sim::SimTime now = packet.arrival;
    if (now < f.from || now >= f.until) return false;
    if (f.most != 0 && fired_[fault].count >= f.most) return false;
    if (f.kind == FaultKind::Down)
        return f.period == sim::SimTime::zero() || (now - f.from).in_ps() % f.period.in_ps() < f.down_time.in_ps();
    if (f.match) {
        if (!f.match->matches(packet)) return false;
        ++matched_[fault];
        return f.match->nth == 0 || f.match->nth == matched_[fault];
    }
    if (f.nth != 0) return seen_ == f.nth;
    if (f.every != 0) return seen_ % f.every == 0;
    return f.probability > 0.0 && draws_[fault].unit(seen_) < f.probability;
}

bool LinkFaults::pop(PacketChannel& channel, wire::Packet& packet, wire::PacketPool* pool, unsigned shard) {
    last_was_lost_ = false;
    if (held_.next_time() <= channel.head_time()) {
        SIM_CHECK(!held_.empty());
        const sim::SimTime now = held_.next_time();
        const Held held = held_.pop();
        if (held.release_after != 0) --waiting_for_others_;
        packet = held.packet;
        packet.arrival = now;
        return true;
    }
    packet = channel.front();
    channel.pop();
    ++seen_;
    const bool came_out = apply(packet, channel, pool, shard);
    if (waiting_for_others_ != 0) release_overtaken(packet.arrival);
    return came_out;
}

bool LinkFaults::apply(wire::Packet& packet, PacketChannel& channel, wire::PacketPool* pool, unsigned shard) {
    const sim::SimTime now = packet.arrival;
    sim::SimTime hold_until = sim::SimTime::zero();
    uint64_t release_after = 0;
    bool copy = false;
    for (size_t i = 0; i < faults_.size(); ++i) {
        if (!hits(i, packet)) continue;
        if (fired_[i].count++ == 0) fired_[i].first = now;
        fired_[i].last = now;
        if (observer_ != nullptr) observer_->on_fault(now, packet, faults_[i]);
        switch (faults_[i].kind) {
            case FaultKind::Drop:
            case FaultKind::Down:
                ++lost_;
                last_was_lost_ = true;
                if (pool != nullptr) pool->release(shard, packet);
                return false;
            case FaultKind::Corrupt:
                packet.flags |= wire::kCorrupt;
                break;
            case FaultKind::Duplicate:
                copy = true;
                break;
            case FaultKind::Delay:
                hold_until = std::max(hold_until, now) + faults_[i].by;
                break;
            case FaultKind::Reorder:
                hold_until = std::max(hold_until, now + kReorderPatience);
                release_after = seen_ + std::max(faults_[i].behind, 1U);
                break;
            case FaultKind::EcnMark:
                packet.flags |= wire::kFecn;
                break;
        }
    }
    if (copy) {
        ++duplicated_;
        const wire::Packet second = pool != nullptr ? pool->duplicate(shard, packet) : packet;
        if (observer_ != nullptr) observer_->on_copied(packet, second);
        hold(second, now, 0, channel);
    }
    if (hold_until == sim::SimTime::zero()) return true;
    hold(packet, hold_until, release_after, channel);
    return false;
}

void LinkFaults::hold(const wire::Packet& packet, sim::SimTime until, uint64_t release_after, PacketChannel& channel) {
    held_.push({.time = until}, Held{packet, release_after});
    if (release_after != 0) ++waiting_for_others_;
    channel.wake_consumer(until);
}

void LinkFaults::release_overtaken(sim::SimTime now) {
    std::vector<Held> free;
    held_.remove_if([&](const Held& h) {
        const bool overtaken = h.release_after != 0 && h.release_after <= seen_;
        if (overtaken) free.push_back(h);
        return overtaken;
    });
    for (Held& h : free) {
        --waiting_for_others_;
        h.release_after = 0;
        held_.push({.time = now}, h);
    }
}

std::vector<FaultReport> LinkFaults::reports() const {
    std::vector<FaultReport> out;
    for (size_t i = 0; i < faults_.size(); ++i)
        out.push_back(
            {faults_[i].path, faults_[i].kind, fired_[i].count, fired_[i].first, fired_[i].last, seen_, matched_[i]});
    return out;
}

}  // namespace simverbs::link
