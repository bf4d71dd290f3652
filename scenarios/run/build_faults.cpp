#include "scenarios/run/build_faults.hpp"

#include <fmt/format.h>

#include "scenarios/build/addressed_faults.hpp"

namespace simverbs::scenarios::run {

namespace {

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
            case AddressedFaultKind::PauseStorm:
            case AddressedFaultKind::Kill:
                sink_.add(fault.position, fault.path, "pause storms cannot be simulated yet", "another kind of fault");
                return;
            case AddressedFaultKind::Drop:
            case AddressedFaultKind::Corrupt:
            case AddressedFaultKind::Duplicate:
            case AddressedFaultKind::Delay:
            case AddressedFaultKind::Reorder:
            case AddressedFaultKind::EcnMark:
            case AddressedFaultKind::Down:
            case AddressedFaultKind::Flap:
                if (fault.trigger.match && fault.trigger.match->flow) return refuse_flow(fault);
                return put(*link, fault.direction, link_fault(fault));
        }
    }

  private:
    void unknown(const AddressedFaultSpec& fault, const std::string& name) {
        sink_.add(fault.position, fault.path, fmt::format("there is no '{}' in this fabric", name),
                  "a host, a switch or a switch's port, such as 'tor0/1'");
    }
    void refuse_flow(const AddressedFaultSpec& fault) {
        sink_.add(fault.position, fault.path, "packets cannot be chosen by their flow yet",
                  "'qpn', 'psn', 'opcode' or 'iteration'");
    }
    void put(uint32_t link, FaultDirection direction, const link::LinkFault& fault) {
        if (direction != FaultDirection::BToA) built_.links.push_back({link, true, fault});
        if (direction != FaultDirection::AToB) built_.links.push_back({link, false, fault});
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
                put(i, FaultDirection::Both, link_fault(fault));
                break;
            }
        }
        if (!found) unknown(fault, victim);
    }
    const BuiltTopology& topology_;
    BuiltFaults& built_;
    DiagnosticSink& sink_;
};

}  // namespace

BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, DiagnosticSink& sink) {
    BuiltFaults built;
    for (const AddressedFaultSpec& fault : spec.faults) FaultMaker(topology, built, sink).add(fault);
    return built;
}

}  // namespace simverbs::scenarios::run
