#include "scenarios/build/addressed_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/wire/opcode_table.hpp"
#include "sim/check.hpp"

namespace simverbs::scenarios {

namespace {

link::FaultKind link_kind(AddressedFaultKind kind) {
    switch (kind) {
        case AddressedFaultKind::Drop:
            return link::FaultKind::Drop;
        case AddressedFaultKind::Corrupt:
            return link::FaultKind::Corrupt;
        case AddressedFaultKind::Duplicate:
            return link::FaultKind::Duplicate;
        case AddressedFaultKind::Delay:
            return link::FaultKind::Delay;
        case AddressedFaultKind::Reorder:
            return link::FaultKind::Reorder;
        case AddressedFaultKind::EcnMark:
            return link::FaultKind::EcnMark;
        case AddressedFaultKind::Down:
        case AddressedFaultKind::Flap:
        case AddressedFaultKind::PauseStorm:
        case AddressedFaultKind::Kill:
            return link::FaultKind::Down;
    }
    return link::FaultKind::Down;
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

/// "h0", "h0.mlx5_0", "h0.mlx5_0/1", "sw0" or "sw0/3" as names of one end of a link.
bool names(const LabSpec& lab, const LinkEnd& end, std::string_view place) {
    const std::string full = to_string(lab, end);
    if (full == place) return true;
    if (!full.starts_with(place)) {
        // "h0/2" is port 2 of its NIC.
        const std::string& node = end.is_switch ? lab.switches[static_cast<size_t>(end.node)].name
                                                : lab.hosts[static_cast<size_t>(end.node)].name;
        return !end.is_switch && fmt::format("{}/{}", node, end.port) == place;
    }
    return full[place.size()] == '.' || full[place.size()] == '/';
}

/// One fault on its way to the links where it acts.
struct LabFaultPlacer {
    const LabSpec& lab;
    fabric::FabricSpec& fabric;
    DiagnosticSink& sink;
    const AddressedFaultSpec& fault;

    void refuse(std::string problem, std::string expected) const {
        sink.add(fault.position, fault.path, std::move(problem), std::move(expected));
    }

    void place() const {
        if (fault.kind == AddressedFaultKind::PauseStorm)
            return refuse("links between programs have no pause frames", "another kind of fault");
        if (fault.trigger.match && fault.trigger.match->flow)
            return refuse("programs have queue pairs, not flows", "'qpn' instead of 'flow'");
        if (fault.kind == AddressedFaultKind::Kill) return kill();
        if (fault.link) on_link(*fault.link);
    }

    void on_link(const LinkRef& ref) const {
        for (size_t i = 0; i < lab.links.size(); ++i) {
            const LinkSpec& l = lab.links[i];
            const bool as_written = names(lab, l.a, ref.a.text) && (!ref.b || names(lab, l.b, ref.b->text));
            const bool turned = names(lab, l.b, ref.a.text) && (!ref.b || names(lab, l.a, ref.b->text));
            if (!as_written && !turned) continue;
            return put(i, ways_of(fault.direction, !as_written));
        }
        refuse(fmt::format("there is no link at '{}'{}", ref.a.text, ref.b ? " to '" + ref.b->text + "'" : ""),
               "both ends of a link of the topology, or one of them");
    }

    void put(size_t link, const FaultWays& ways) const {
        fabric::LinkSpec& to = fabric.links[link];
        if (ways.a_to_b) to.faults_a_to_b.push_back(link_fault(fault));
        if (ways.b_to_a) to.faults_b_to_a.push_back(link_fault(fault));
    }

    /// Whatever is dead neither sends nor receives any more.
    void kill() const {
        bool found = false;
        for (size_t i = 0; i < lab.links.size(); ++i) {
            if (!dies(lab.links[i].a) && !dies(lab.links[i].b)) continue;
            found = true;
            put(i, {true, true});
        }
        if (!found) refuse(fmt::format("'{}' has no link that could die", fault.victim->text), "something with a link");
    }

    [[nodiscard]] bool dies(const LinkEnd& end) const {
        if (!names(lab, end, fault.victim->text)) return false;
        // A host's name alone means its first NIC where a NIC dies.
        const bool whole_host = fault.victim->text.find('.') == std::string::npos;
        return fault.target != KillTarget::Nic || !whole_host || end.nic == 0;
    }
};

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

}  // namespace

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
    to.from = fault.kind == AddressedFaultKind::Kill ? fault.at : fault.from;
    to.until = fault.until;
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

void add_faults(const LabSpec& lab, std::span<const AddressedFaultSpec> faults, fabric::FabricSpec& fabric,
                DiagnosticSink& sink) {
    for (const AddressedFaultSpec& fault : faults) LabFaultPlacer{lab, fabric, sink, fault}.place();
}

}  // namespace simverbs::scenarios
