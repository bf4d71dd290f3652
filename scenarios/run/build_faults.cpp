#include "scenarios/run/build_faults.hpp"

#include <fmt/format.h>

#include "scenarios/build/addressed_faults.hpp"
#include "scenarios/run/flow_capture.hpp"

namespace simverbs::scenarios::run {

namespace {

class FaultMaker {
  public:
    FaultMaker(const ScenarioSpec& spec, const BuiltTopology& topology, const flow::FlowPlan& plan, BuiltFaults& built,
               DiagnosticSink& sink)
        : has_programs_(!spec.programs.empty()), topology_(topology), plan_(plan), built_(built), sink_(sink) {}

    void add(const AddressedFaultSpec& fault) {
        built_.records.push_back({fault.name, 0, fault.must_fire});
        if (fault.kind == AddressedFaultKind::Kill) return kill(fault);
        const auto found = fault.link ? topology_.find_link(*fault.link) : std::nullopt;
        if (!found) return unknown(fault);
        if (fault.kind == AddressedFaultKind::PauseStorm) return storm(fault, *found);
        const auto& match = fault.trigger.match;
        FabricFault made;
        made.fault = link_fault(fault);
        if (made.fault.match && made.fault.match->dest_qp) find_qp(fault, *made.fault.match->dest_qp);
        if (match && match->flow) {
            if (plan_.flows.empty() && has_programs_) return refuse_flow(fault);
            made.by_flow = true;
            made.flows = flows_of(*match->flow);
        }
        put(found->link, ways_of(fault.direction, found->is_turned), made);
    }

    /// Of a link's own description.
    void add(const BuiltTopology::OwnFault& own) {
        FabricFault made;
        made.fault = link_fault(*own.fault);
        put(own.link, ways_of(own.fault->direction, own.is_turned), made);
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
        sink_.add(fault.position, fault.path, "programs have queue pairs, not flows", "'qpn' instead of 'flow'");
    }
    /// From a QP's number on the wire to the model's. Where programs run, QPNs are theirs.
    void find_qp(const AddressedFaultSpec& fault, uint32_t& qp) {
        if (has_programs_) return;
        if (qp < kFirstQpn) {
            sink_.add(fault.position, fault.path, fmt::format("no flow has the QPN {}", qp),
                      fmt::format("{} for a host's first QP, and so on", kFirstQpn));
        }
        qp -= kFirstQpn;
    }
    void put(uint32_t link, const FaultWays& ways, FabricFault fault) {
        fault.link = link;
        for (const bool from_a : {true, false}) {
            if (from_a ? !ways.a_to_b : !ways.b_to_a) continue;
            fault.from_a = from_a;
            built_.links.push_back(fault);
        }
    }
    /// The port that is named first pauses the other; with `direction` b_to_a the other way round, or both.
    void storm(const AddressedFaultSpec& fault, const FoundLink& found) {
        if (topology_.layer == link::LinkLayer::InfiniBand) {
            sink_.add(fault.position, fault.path, "InfiniBand has credits, not pauses", "another kind of fault");
            return;
        }
        FaultDirection direction = fault.direction;
        if (direction == FaultDirection::Both) direction = FaultDirection::AToB;
        const FaultWays ways = ways_of(direction, found.is_turned);
        built_.storms.push_back(
            {fault.name, found.link, ways.a_to_b, static_cast<uint32_t>(fault.priority), fault.from, fault.until});
    }
    std::vector<flow::FlowIndex> flows_of(const FlowRef& ref) {
        std::vector<flow::FlowIndex> out;
        int64_t number = 0;
        for (flow::FlowIndex i = 0; i < plan_.flows.size(); ++i) {
            if (!ref.workload.empty() && plan_.groups[plan_.flows[i].group] != ref.workload) continue;
            if (!ref.number || *ref.number == number) out.push_back(i);
            ++number;
        }
        if (out.empty() && !plan_.groups.empty()) {
            const std::string where = ref.workload.empty() ? "the run" : fmt::format("'{}'", ref.workload);
            sink_.add(ref.position, ref.path, fmt::format("there is no flow '{}': {} has {}", ref.text, where, number),
                      number > 0 ? fmt::format("0 to {}", number - 1) : "");
        }
        return out;
    }
    /// Whatever is dead neither sends nor receives any more.
    void kill(const AddressedFaultSpec& fault) {
        bool found = false;
        FabricFault death;
        death.fault = link_fault(fault);
        for (uint32_t i = 0; i < topology_.topology.links.size(); ++i) {
            const topologies::Link& l = topology_.topology.links[i];
            if (!dies(fault, l.a) && !dies(fault, l.b)) continue;
            found = true;
            put(i, {true, true}, death);
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

    bool has_programs_;
    const BuiltTopology& topology_;
    const flow::FlowPlan& plan_;
    BuiltFaults& built_;
    DiagnosticSink& sink_;
};

}  // namespace

BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, const flow::FlowPlan& plan,
                         DiagnosticSink& sink) {
    BuiltFaults built;
    FaultMaker maker(spec, topology, plan, built, sink);
    for (const AddressedFaultSpec& fault : spec.faults) maker.add(fault);
    for (const BuiltTopology::OwnFault& own : topology.own_faults) maker.add(own);
    return built;
}

}  // namespace simverbs::scenarios::run
