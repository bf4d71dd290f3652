#include "scenarios/run/build_faults.hpp"

#include <fmt/format.h>

#include "scenarios/build/addressed_faults.hpp"
#include "scenarios/run/flow_capture.hpp"

namespace simverbs::scenarios::run {

namespace {

class FaultMaker {
  public:
    FaultMaker(const ScenarioSpec& spec, const BuiltTopology& topology, const BuiltWorkloads& workloads,
               BuiltFaults& built, DiagnosticSink& sink)
        : has_programs_(!spec.programs.empty()),
          topology_(topology),
          workloads_(workloads),
          plan_(workloads.plan),
          built_(built),
          sink_(sink) {}

    void add(const AddressedFaultSpec& fault) {
        built_.records.push_back({fault.name, 0, fault.must_fire});
        if (fault.kind == AddressedFaultKind::Kill) return kill(fault);
        FabricFault made;
        made.fault = link_fault(fault);
        const auto& match = fault.trigger.match;
        if (made.fault.match && made.fault.match->dest_qp) find_qp(*match, *made.fault.match->dest_qp);
        if (match && match->flow) {
            made.by_flow = true;
            made.flows = flows_of(*match->flow);
        }
        if (!fault.link) return;  // has been reported
        const auto found = topology_.find_link(*fault.link);
        if (!found) return unknown(*fault.link);
        if (fault.kind == AddressedFaultKind::PauseStorm) return storm(fault, *found);
        put(found->link, ways_of(fault.direction, found->is_turned), made);
    }

    /// Of a link's own description.
    void add(const BuiltTopology::OwnFault& own) {
        FabricFault made;
        made.fault = link_fault(*own.fault);
        put(own.link, ways_of(own.fault->direction, own.is_turned), made);
    }

  private:
    void unknown(const LinkRef& link) {
        for (const PlaceRef* end : {&link.a, link.b ? &*link.b : nullptr}) {
            if (end == nullptr || topology_.find_link({*end, {}})) continue;
            return report_unknown_place(topology_, *end, "host, switch or port", sink_);
        }
        sink_.add(link.a.position, link.a.path,
                  fmt::format("there is no link at '{}' to '{}'", link.a.text, link.b->text),
                  "both ends of a link of the topology, or one of them");
    }
    /// From a QP's number on the wire to the model's. Where programs run, QPNs are theirs.
    void find_qp(const PacketMatch& match, uint32_t& qp) {
        if (has_programs_) return;
        if (qp < kFirstQpn) {
            sink_.add(match.qpn_position, match.qpn_path, fmt::format("no flow has the QPN {}", qp),
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
        if (plan_.groups.empty() || (plan_.flows.empty() && has_programs_ && workloads_.has_all())) {
            sink_.add(ref.position, ref.path,
                      has_programs_ ? "programs have queue pairs, not flows" : "the scenario has no flows",
                      has_programs_ ? "'qpn' instead of 'flow'" : "a key of packets that there are");
            return out;
        }
        int64_t number = 0;
        for (flow::FlowIndex i = 0; i < plan_.flows.size(); ++i) {
            if (!ref.workload.empty() && plan_.groups[plan_.flows[i].group] != ref.workload) continue;
            if (!ref.number || *ref.number == number) out.push_back(i);
            ++number;
        }
        if (out.empty() && workloads_.has_all(ref.workload)) {
            const std::string where = ref.workload.empty() ? "the run" : fmt::format("'{}'", ref.workload);
            sink_.add(ref.position, ref.path, fmt::format("there is no flow '{}': {} has {}", ref.text, where, number),
                      number > 0 ? fmt::format("0 to {}", number - 1) : "");
        }
        return out;
    }
    /// Whatever is dead neither sends nor receives any more.
    void kill(const AddressedFaultSpec& fault) {
        if (!fault.victim || fault.victim->text.empty()) return;  // has been reported
        bool found = false;
        FabricFault death;
        death.fault = link_fault(fault);
        for (uint32_t i = 0; i < topology_.topology.links.size(); ++i) {
            const topologies::Link& l = topology_.topology.links[i];
            if (!dies(fault, l.a) && !dies(fault, l.b)) continue;
            found = true;
            put(i, {true, true}, death);
        }
        if (!found) report_unknown_place(topology_, *fault.victim, victim_kind(fault.target), sink_);
    }
    [[nodiscard]] static std::string_view victim_kind(KillTarget target) {
        switch (target) {
            case KillTarget::Host:
                return "host";
            case KillTarget::Nic:
                return "NIC";
            case KillTarget::Switch:
                return "switch";
            case KillTarget::Port:
                return "port";
        }
        return "";
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
    const BuiltWorkloads& workloads_;
    const flow::FlowPlan& plan_;
    BuiltFaults& built_;
    DiagnosticSink& sink_;
};

}  // namespace

BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, const BuiltWorkloads& workloads,
                         DiagnosticSink& sink) {
    BuiltFaults built;
    FaultMaker maker(spec, topology, workloads, built, sink);
    for (const AddressedFaultSpec& fault : spec.faults) maker.add(fault);
    for (const BuiltTopology::OwnFault& own : topology.own_faults) maker.add(own);
    return built;
}

}  // namespace simverbs::scenarios::run
