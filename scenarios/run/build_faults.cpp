#include "scenarios/run/build_faults.hpp"

#include <fmt/format.h>

#include "scenarios/build/addressed_faults.hpp"

namespace simverbs::scenarios::run {

namespace {

class FaultMaker {
  public:
    FaultMaker(const ScenarioSpec& spec, const BuiltTopology& topology, BuiltFaults& built, DiagnosticSink& sink)
        : has_flows_(!spec.workloads.empty()), topology_(topology), built_(built), sink_(sink) {}

    void add(const AddressedFaultSpec& fault) {
        built_.records.push_back({fault.name, 0, fault.must_fire});
        if (fault.kind == AddressedFaultKind::Kill) return kill(fault);
        const auto found = fault.link ? topology_.find_link(*fault.link) : std::nullopt;
        if (!found) return unknown(fault);
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
                return put(found->link, fault.direction, found->is_turned, link_fault(fault));
        }
    }
    /// Of a link's own description.
    void add(const BuiltTopology::OwnFault& own) {
        put(own.link, own.fault->direction, own.is_turned, link_fault(*own.fault));
    }

  private:
    void unknown(const AddressedFaultSpec& fault) {
        if (fault.link && fault.link->b) {
            sink_.add(fault.position, fault.path,
                      fmt::format("there is no link at '{}' to '{}'", fault.link->a.text, fault.link->b->text),
                      "both ends of a link of the topology, or one of them");
            return;
        }
        const std::string& name = fault.link ? fault.link->a.text : fault.victim->text;
        sink_.add(fault.position, fault.path, fmt::format("there is no '{}' in this fabric", name),
                  "a host, a switch or a switch's port, such as 'tor0/1'");
    }
    void refuse_flow(const AddressedFaultSpec& fault) {
        if (has_flows_)
            sink_.add(fault.position, fault.path, "packets cannot be chosen by their flow yet",
                      "'qpn', 'psn', 'opcode' or 'iteration'");
        else
            sink_.add(fault.position, fault.path, "programs have queue pairs, not flows", "'qpn' instead of 'flow'");
    }
    /// `direction` is that of the end that was named first.
    void put(uint32_t link, FaultDirection direction, bool is_turned, const link::LinkFault& fault) {
        if (direction != FaultDirection::BToA) built_.links.push_back({link, !is_turned, fault});
        if (direction != FaultDirection::AToB) built_.links.push_back({link, is_turned, fault});
    }
    /// Whatever is dead neither sends nor receives any more.
    void kill(const AddressedFaultSpec& fault) {
        bool found = false;
        for (uint32_t i = 0; i < topology_.topology.links.size(); ++i) {
            const topologies::Link& l = topology_.topology.links[i];
            if (!dies(fault, l.a) && !dies(fault, l.b)) continue;
            found = true;
            put(i, FaultDirection::Both, false, link_fault(fault));
        }
        if (!found) unknown(fault);
    }
    [[nodiscard]] bool dies(const AddressedFaultSpec& fault, const topologies::LinkEnd& end) const {
        const std::string& victim = fault.victim->text;
        if (!topology_.is_called(end, victim)) return false;
        // A host's name alone means its first NIC where a NIC dies.
        const bool whole_host = victim.find('.') == std::string::npos;
        return fault.target != KillTarget::Nic || end.node.is_switch || !whole_host ||
               topology_.host_ports[end.node.index].nic == 0;
    }

    bool has_flows_;
    const BuiltTopology& topology_;
    BuiltFaults& built_;
    DiagnosticSink& sink_;
};

}  // namespace

BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, DiagnosticSink& sink) {
    BuiltFaults built;
    FaultMaker maker(spec, topology, built, sink);
    for (const AddressedFaultSpec& fault : spec.faults) maker.add(fault);
    for (const BuiltTopology::OwnFault& own : topology.own_faults) maker.add(own);
    return built;
}

}  // namespace simverbs::scenarios::run
