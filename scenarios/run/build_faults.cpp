#include "scenarios/run/build_faults.hpp"

#include <fmt/format.h>

#include "scenarios/build/addressed_faults.hpp"
#include "scenarios/run/flow_capture.hpp"

namespace simverbs::scenarios::run {

namespace {

class FaultMaker {
  public:
    FaultMaker(const BuiltTopology& topology, const flow::FlowPlan& plan, BuiltFaults& built, DiagnosticSink& sink)
        : topology_(topology), plan_(plan), built_(built), sink_(sink) {}

    void add(const AddressedFaultSpec& fault) {
        built_.records.push_back({fault.name, 0, fault.must_fire});
        if (fault.kind == AddressedFaultKind::Kill) return kill(fault);
        const auto found = fault.link ? topology_.find_link(*fault.link) : std::nullopt;
        if (!found) return unknown(fault, fault.link ? fault.link->a.text : "");
        if (fault.kind == AddressedFaultKind::PauseStorm) return storm(fault, *found);
        const auto& match = fault.trigger.match;
        FabricFault made;
        made.fault = link_fault(fault);
        if (made.fault.match && made.fault.match->dest_qp) find_qp(fault, *made.fault.match->dest_qp);
        if (match && match->flow) {
            made.by_flow = true;
            made.flows = flows_of(*match->flow);
        }
        put(found->link, ways_of(fault.direction, found->is_turned), made);
    }

    /// One that stands at a link.
    void add(uint32_t link, const FaultSpec& fault) {
        FabricFault made;
        made.fault = link_fault(fault);
        put(link, ways_of(fault.direction, false), made);
    }

  private:
    void unknown(const AddressedFaultSpec& fault, const std::string& name) {
        sink_.add(fault.position, fault.path, fmt::format("there is no '{}' in this fabric", name),
                  "a host, a switch or a switch's port, such as 'tor0/1'");
    }
    /// From a QP's number on the wire to the model's.
    void find_qp(const AddressedFaultSpec& fault, uint32_t& qp) {
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
        const std::string& victim = fault.victim->text;
        const auto host = topology_.find_host(victim);
        bool found = false;
        FabricFault death;
        death.fault = link_fault(fault);
        for (uint32_t i = 0; i < topology_.topology.links.size(); ++i) {
            const topologies::Link& l = topology_.topology.links[i];
            for (const topologies::LinkEnd& end : {l.a, l.b}) {
                const bool hit = topology_.port_name(end) == victim || topology_.topology.name_of(end.node) == victim ||
                                 (!end.node.is_switch && host == std::optional(end.node.index));
                if (!hit) continue;
                found = true;
                put(i, {true, true}, death);
                break;
            }
        }
        if (!found) unknown(fault, victim);
    }
    const BuiltTopology& topology_;
    const flow::FlowPlan& plan_;
    BuiltFaults& built_;
    DiagnosticSink& sink_;
};

}  // namespace

BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, const flow::FlowPlan& plan,
                         DiagnosticSink& sink) {
    BuiltFaults built;
    FaultMaker maker(topology, plan, built, sink);
    for (uint32_t i = 0; i < topology.faults.size(); ++i)
        for (const FaultSpec& fault : topology.faults[i]) maker.add(i, fault);
    for (const AddressedFaultSpec& fault : spec.faults) maker.add(fault);
    return built;
}

}  // namespace simverbs::scenarios::run
