#include "scenarios/build/addressed_faults.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/wire/opcode_table.hpp"
#include "sim/check.hpp"

namespace simverbs::scenarios {

namespace {

/// Of packets; whatever else happens to a link takes it down.
link::FaultKind link_kind(AddressedFaultKind kind) {
    static constexpr std::pair<AddressedFaultKind, link::FaultKind> kOfPackets[] = {
        {AddressedFaultKind::Drop, link::FaultKind::Drop},
        {AddressedFaultKind::Corrupt, link::FaultKind::Corrupt},
        {AddressedFaultKind::Duplicate, link::FaultKind::Duplicate},
        {AddressedFaultKind::Delay, link::FaultKind::Delay},
        {AddressedFaultKind::Reorder, link::FaultKind::Reorder},
        {AddressedFaultKind::EcnMark, link::FaultKind::EcnMark}};
    for (const auto& [asked, of_link] : kOfPackets)
        if (asked == kind) return of_link;
    return link::FaultKind::Down;
}

link::FaultKind link_kind(FaultKind kind) {
    switch (kind) {
        case FaultKind::Drop:
            return link::FaultKind::Drop;
        case FaultKind::Corrupt:
            return link::FaultKind::Corrupt;
        case FaultKind::Duplicate:
            return link::FaultKind::Duplicate;
        case FaultKind::Delay:
            return link::FaultKind::Delay;
        case FaultKind::Reorder:
            return link::FaultKind::Reorder;
        case FaultKind::Down:
            return link::FaultKind::Down;
    }
    return link::FaultKind::Drop;
}

/// The schema lists the names, so that every one is known.
uint32_t opcode_of(std::string_view name) {
    const auto* const row =
        std::ranges::find_if(wire::kOpcodeTable, [&](const wire::OpcodeInfo& info) { return info.name == name; });
    SIM_CHECK(row != wire::kOpcodeTable.end());
    return row->opcode;
}

std::optional<uint32_t> header_value(const std::optional<int64_t>& value) {
    return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
}

link::HeaderMatch header_match(const PacketMatch& match) {
    link::HeaderMatch to;
    to.dest_qp = header_value(match.qpn);
    to.psn = header_value(match.psn);
    if (!match.opcode.empty()) to.opcode = opcode_of(match.opcode);
    to.nth = static_cast<uint64_t>(match.iteration.value_or(0));
    return to;
}

void set_trigger(const PacketTrigger& trigger, link::LinkFault& to) {
    to.nth = static_cast<uint64_t>(trigger.packet.value_or(0));
    to.every = static_cast<uint64_t>(trigger.every.value_or(0));
    to.probability = trigger.probability.value_or(0.0);
    to.most = static_cast<uint64_t>(trigger.most.value_or(0));
    if (trigger.match) to.match = header_match(*trigger.match);
}

/// `from` + `count` * `period`, or max() if that is beyond the end of time.
sim::SimTime end_of_flaps(const AddressedFaultSpec& fault) {
    int64_t end = 0;
    if (!fault.count || __builtin_mul_overflow(*fault.count, fault.period.in_ps(), &end) ||
        __builtin_add_overflow(end, fault.from.in_ps(), &end))
        return sim::SimTime::max();
    return sim::SimTime::ps(end);
}

}  // namespace

sim::SimTime end_of(const AddressedFaultSpec& fault) noexcept {
    if (!fault.lasts || *fault.lasts > sim::SimTime::max() - fault.at) return sim::SimTime::max();
    return fault.at + *fault.lasts;
}

link::LinkFault link_fault(const FaultSpec& fault) {
    link::LinkFault to;
    to.kind = link_kind(fault.kind);
    to.every = static_cast<uint64_t>(fault.every.value_or(0));
    to.probability = fault.probability.value_or(0.0);
    to.by = fault.by;
    to.behind = static_cast<uint32_t>(std::max(fault.behind, 1));
    to.from = fault.from;
    to.until = fault.until;
    to.path = fault.path;
    return to;
}

FaultWays ways_of(FaultDirection direction, bool is_turned) noexcept {
    const bool from_named = direction != FaultDirection::BToA;
    const bool to_named = direction != FaultDirection::AToB;
    return is_turned ? FaultWays{to_named, from_named} : FaultWays{from_named, to_named};
}

link::LinkFault link_fault(const AddressedFaultSpec& fault) {
    link::LinkFault to;
    to.kind = link_kind(fault.kind);
    to.from = fault.kind >= AddressedFaultKind::Kill ? fault.at : fault.from;
    to.until = fault.lasts ? end_of(fault) : fault.until;
    to.path = fault.name;
    to.by = fault.by;
    to.behind = static_cast<uint32_t>(std::max(fault.behind, 1));
    if (to.kind != link::FaultKind::Down) set_trigger(fault.trigger, to);
    if (fault.kind == AddressedFaultKind::Flap) {
        to.period = fault.period;
        to.down_time = fault.down_time;
        to.until = std::min(fault.until, end_of_flaps(fault));
    }
    return to;
}

}  // namespace simverbs::scenarios
