#include "scenarios/run/build_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace simverbs::scenarios::run {

namespace {

/// Flaps without an end are listed one by one up to this many.
constexpr int64_t kMostFlaps = 10'000;

class FaultMaker {
  public:
    FaultMaker(const BuiltTopology& topology, BuiltFaults& built, DiagnosticSink& sink)
        : topology_(topology), built_(built), sink_(sink) {}

    void add(const AddressedFaultSpec& fault) {
        built_.records.push_back({fault.name, 0, fault.must_fire});
        if (fault.kind == AddressedFaultKind::Kill) return kill(fault);
        const auto link = fault.link ? topology_.find_link(*fault.link) : std::nullopt;
        if (!link) return unknown(fault, fault.link ? fault.link->a.text : "");
        switch (fault.kind) {
            case AddressedFaultKind::Down:
                return put(*link, fault.direction, down(fault, fault.from, fault.until));
            case AddressedFaultKind::Flap:
                return flap(*link, fault);
            case AddressedFaultKind::PauseStorm:
            case AddressedFaultKind::Kill:
                sink_.add(fault.position, fault.path, "pause storms cannot be simulated yet", "another kind of fault");
                return;
            case AddressedFaultKind::Drop:
                return packets(*link, fault, link::FaultKind::Drop);
            case AddressedFaultKind::Corrupt:
                return packets(*link, fault, link::FaultKind::Corrupt);
            case AddressedFaultKind::Duplicate:
                return packets(*link, fault, link::FaultKind::Duplicate);
            case AddressedFaultKind::Delay:
                return packets(*link, fault, link::FaultKind::Delay);
            case AddressedFaultKind::Reorder:
                return packets(*link, fault, link::FaultKind::Reorder);
            case AddressedFaultKind::EcnMark:
                return packets(*link, fault, link::FaultKind::EcnMark);
        }
    }

  private:
    void unknown(const AddressedFaultSpec& fault, const std::string& name) {
        sink_.add(fault.position, fault.path, fmt::format("there is no '{}' in this fabric", name),
                  "a host, a switch or a switch's port, such as 'tor0/1'");
    }
    void put(uint32_t link, FaultDirection direction, const link::LinkFault& fault) {
        if (direction != FaultDirection::BToA) built_.links[link].a_to_b.push_back(fault);
        if (direction != FaultDirection::AToB) built_.links[link].b_to_a.push_back(fault);
    }
    static link::LinkFault down(const AddressedFaultSpec& fault, sim::SimTime from, sim::SimTime until) {
        link::LinkFault to;
        to.kind = link::FaultKind::Down;
        to.from = from;
        to.until = until;
        to.path = fault.name;
        return to;
    }
    void flap(uint32_t link, const AddressedFaultSpec& fault) {
        sim::SimTime at = fault.from;
        for (int64_t i = 0; i < fault.count.value_or(kMostFlaps) && at < fault.until; ++i, at += fault.period)
            put(link, fault.direction, down(fault, at, std::min(at + fault.down_time, fault.until)));
    }
    /// Whatever is dead neither sends nor receives any more.
    void kill(const AddressedFaultSpec& fault) {
        const std::string& victim = fault.victim->text;
        const auto host = topology_.find_host(victim);
        bool found = false;
        for (uint32_t i = 0; i < topology_.topology.links.size(); ++i) {
            const topologies::Link& l = topology_.topology.links[i];
            for (const topologies::LinkEnd& end : {l.a, l.b}) {
                const bool hit = topology_.port_name(end) == victim || topology_.topology.name_of(end.node) == victim ||
                                 (!end.node.is_switch && host == std::optional(end.node.index));
                if (!hit) continue;
                found = true;
                put(i, FaultDirection::Both, down(fault, fault.at, sim::SimTime::max()));
                break;
            }
        }
        if (!found) unknown(fault, victim);
    }
    void packets(uint32_t link, const AddressedFaultSpec& fault, link::FaultKind kind) {
        const PacketTrigger& trigger = fault.trigger;
        link::LinkFault to;
        to.kind = kind;
        to.nth = static_cast<uint64_t>(trigger.packet.value_or(0));
        to.every = static_cast<uint64_t>(trigger.every.value_or(0));
        to.probability = trigger.probability.value_or(0);
        to.by = fault.by;
        to.behind = static_cast<uint32_t>(std::max(fault.behind, 1));
        to.from = fault.from;
        to.until = fault.until;
        to.path = fault.name;
        if (trigger.match || trigger.most) {
            sink_.add(fault.position, fault.path, "packets cannot be chosen by their headers, or counted off, yet",
                      "'packet', 'every' or 'probability'");
            return;
        }
        put(link, fault.direction, to);
    }

    const BuiltTopology& topology_;
    BuiltFaults& built_;
    DiagnosticSink& sink_;
};

}  // namespace

BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, DiagnosticSink& sink) {
    BuiltFaults built;
    built.links.resize(topology.topology.links.size());
    for (const AddressedFaultSpec& fault : spec.faults) FaultMaker(topology, built, sink).add(fault);
    return built;
}

}  // namespace simverbs::scenarios::run
