#include "scenarios/run/build_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/build/addressed_faults.hpp"
#include "scenarios/run/flow_capture.hpp"

namespace simverbs::scenarios::run {

namespace {

class FaultMaker {
  public:
    FaultMaker(const ScenarioSpec& spec, const BuiltTopology& topology, const BuiltAdapters& adapters,
               const BuiltWorkloads& workloads, BuiltFaults& built, DiagnosticSink& sink)
        : spec_(spec),
          has_programs_(!spec.programs.empty()),
          topology_(topology),
          adapters_(adapters),
          workloads_(workloads),
          plan_(workloads.plan),
          built_(built),
          sink_(sink) {}

    void add(const AddressedFaultSpec& fault) {
        number_ = static_cast<uint32_t>(built_.records.size());
        built_.records.push_back({fault.name, 0, fault.must_fire, {}, {}, {}});
        switch (place_of(fault.kind)) {
            case FaultPlace::Link:
                return add_to_link(fault);
            case FaultPlace::Victim:
                return kill(fault);
            case FaultPlace::Program:
                return;  // the programs' own
            case FaultPlace::Port:
                return change_port(fault);
            case FaultPlace::Slot:
                return degrade(fault);
        }
    }

    /// Of a link's own description.
    void add(const BuiltTopology::OwnFault& own) {
        FabricFault made;
        made.fault = link_fault(*own.fault);
        put(own.link, ways_of(own.fault->direction, own.is_turned), made);
    }

  private:
    void add_to_link(const AddressedFaultSpec& fault) {
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
        // A cable without light is seen at both of its ends; one that works one way alone is not.
        const bool is_down = fault.kind == AddressedFaultKind::Down || fault.kind == AddressedFaultKind::Flap;
        if (is_down && fault.direction == FaultDirection::Both) see_down(found->link);
    }
    void see_down(uint32_t link) {
        const topologies::Link& l = topology_.topology.links[link];
        for (const topologies::LinkEnd* end : {&l.a, &l.b})
            if (const auto port = adapter_port(*end)) built_.ports.push_back(*port);
    }
    void see_death(const AddressedFaultSpec& fault, uint32_t link) {
        const topologies::Link& l = topology_.topology.links[link];
        for (const topologies::LinkEnd* end : {&l.a, &l.b}) {
            auto port = adapter_port(*end);
            if (!port) continue;
            port->is_victim = dies(fault, *end);
            built_.ports.push_back(*port);
        }
    }
    /// The port of an adapter that the end of a link is.
    [[nodiscard]] std::optional<FaultyPort> adapter_port(const topologies::LinkEnd& end) const {
        if (end.node.is_switch || adapters_.hosts.empty()) return std::nullopt;
        const HostPort& at = topology_.host_ports[end.node.index];
        const auto& nics = adapters_.hosts[at.host].nics;
        if (nics.empty()) return std::nullopt;
        return FaultyPort{number_, nics[at.nic].adapter, at.host, at.nic, static_cast<uint8_t>(at.port), false};
    }
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
    /// Whatever is dead or frozen neither sends nor receives.
    void kill(const AddressedFaultSpec& fault) {
        if (!fault.victim || fault.victim->text.empty()) return;  // has been reported
        if (fault.target == KillTarget::Program) return;
        bool found = false;
        FabricFault death;
        death.fault = link_fault(fault);
        for (uint32_t i = 0; i < topology_.topology.links.size(); ++i) {
            const topologies::Link& l = topology_.topology.links[i];
            if (!dies(fault, l.a) && !dies(fault, l.b)) continue;
            found = true;
            put(i, {true, true}, death);
            if (fault.kind == AddressedFaultKind::Kill) see_death(fault, i);
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
            case KillTarget::Program:
                return "program";
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

    /// A place is a port where it names one, or the first of its host or NIC.
    void change_port(const AddressedFaultSpec& fault) {
        const std::optional<PlaceRef>& place = fault.program.port;
        if (!place || place->text.empty() || adapters_.hosts.empty()) return missing_programs(fault);
        bool is_host = false;
        for (uint32_t i = 0; i < topology_.topology.links.size(); ++i) {
            const topologies::Link& l = topology_.topology.links[i];
            for (const topologies::LinkEnd* end : {&l.a, &l.b}) {
                if (!topology_.is_called(*end, place->text)) continue;
                is_host = is_host || !end->node.is_switch;
                const auto port = adapter_port(*end);
                if (!port) continue;
                if (!fits_layer(fault)) return;
                built_.ports.push_back(*port);
                if (fault.kind == AddressedFaultKind::PortState) close(fault, i, end == &l.a);
                return;
            }
        }
        if (is_host || topology_.find_link({*place, {}}))
            sink_.add(place->position, place->path, fmt::format("{} is no port of a program's adapter", quoted(*place)),
                      "a port of a host that runs programs", "for others there are 'down', 'flap' and 'kill'");
        else
            report_unknown_place(topology_, *place, "port", sink_);
    }
    /// A host has an inside if programs run there.
    void degrade(const AddressedFaultSpec& fault) {
        if (!fault.victim || adapters_.hosts.empty()) {
            if (fault.victim && !has_programs_)
                sink_.add(fault.victim->position, fault.victim->path,
                          fmt::format("nothing passes the slot {}", quoted(*fault.victim)), "a scenario with programs");
            return;
        }
        const std::string& text = fault.victim->text;
        const size_t slash = text.rfind('/');
        if (slash == std::string::npos) return;  // has been reported
        const std::string host_name = text.substr(0, slash), slot_name = text.substr(slash + 1);
        SlotFault made;
        made.fault = number_;
        made.from = fault.from;
        made.until = fault.until;
        if (fault.generation) made.generation = static_cast<uint8_t>(*fault.generation);
        if (fault.lanes) made.lanes = static_cast<uint8_t>(*fault.lanes);
        for (made.host = 0; made.host < adapters_.host_of_complex.size(); ++made.host) {
            const ProgramHost& host = adapters_.hosts[adapters_.host_of_complex[made.host]];
            if (host.name != host_name) continue;
            const auto agent = find_agent(host.inside->spec, slot_name);
            if (!agent) return;  // has been reported
            made.agent = *agent;
            built_.slots.push_back(std::move(made));
            return;
        }
        sink_.add(fault.victim->position, fault.victim->path,
                  fmt::format("nothing passes the slot {}: no program runs on '{}'", quoted(*fault.victim), host_name),
                  "a slot of a host that runs programs");
    }
    [[nodiscard]] static std::optional<host::AgentId> find_agent(const host::PlatformSpec& platform,
                                                                 std::string_view slot) {
        host::AgentId agent = 0;
        for (const host::NicSlotSpec& nic : platform.nics) {
            if (nic.name == slot) return agent;
            ++agent;
        }
        for (const host::GpuSpec& gpu : platform.gpus) {
            if (gpu.name == slot) return agent;
            ++agent;
        }
        return std::nullopt;
    }
    void missing_programs(const AddressedFaultSpec& fault) const {
        const std::optional<PlaceRef>& place = fault.program.port;
        if (!place || has_programs_) return;  // has been reported
        sink_.add(place->position, place->path, fmt::format("nobody would notice at {}", quoted(*place)),
                  "a scenario with programs");
    }
    [[nodiscard]] static std::string quoted(const PlaceRef& place) { return fmt::format("'{}'", place.text); }

    [[nodiscard]] bool fits_layer(const AddressedFaultSpec& fault) {
        if (topology_.layer == link::LinkLayer::InfiniBand) return true;
        const auto refuse = [&](std::string_view problem, std::string_view expected) {
            sink_.add(fault.position, fault.path, std::string(problem), std::string(expected));
            return false;
        };
        if (fault.kind == AddressedFaultKind::ChangePkey)
            return refuse("a RoCE port has one P_Key, 0xffff, for ever", "InfiniBand ('nic.link_layer')");
        if (fault.kind == AddressedFaultKind::PortEvent)
            return refuse("Ethernet has no subnet manager", "InfiniBand ('nic.link_layer')");
        if (fault.kind == AddressedFaultKind::PortState && fault.program.state == PortStateWanted::Armed)
            return refuse("an Ethernet port is down or active", "'down', 'active', or InfiniBand");
        return true;
    }
    /// What a port's state lets pass of its link's packets, until it is made active again.
    void close(const AddressedFaultSpec& fault, uint32_t link, bool at_a) {
        if (fault.program.state == PortStateWanted::Active) return;
        FabricFault made;
        made.fault = link_fault(fault);
        for (const AddressedFaultSpec& other : spec_.faults) {
            const bool reopens = other.kind == AddressedFaultKind::PortState && other.program.port &&
                                 other.program.port->text == fault.program.port->text && other.at > fault.at;
            if (reopens) made.fault.until = std::min(made.fault.until, other.at);
        }
        const bool lets_in = fault.program.state == PortStateWanted::Armed;
        put(link, {at_a || !lets_in, !at_a || !lets_in}, made);
    }

    const ScenarioSpec& spec_;
    bool has_programs_;
    const BuiltTopology& topology_;
    const BuiltAdapters& adapters_;
    uint32_t number_ = 0;  ///< of the fault that is being made
    const BuiltWorkloads& workloads_;
    const flow::FlowPlan& plan_;
    BuiltFaults& built_;
    DiagnosticSink& sink_;
};

}  // namespace

BuiltFaults build_faults(const ScenarioSpec& spec, const BuiltTopology& topology, const BuiltAdapters& adapters,
                         const BuiltWorkloads& workloads, DiagnosticSink& sink) {
    BuiltFaults built;
    FaultMaker maker(spec, topology, adapters, workloads, built, sink);
    for (const AddressedFaultSpec& fault : spec.faults) maker.add(fault);
    for (const BuiltTopology::OwnFault& own : topology.own_faults) maker.add(own);
    return built;
}

}  // namespace simverbs::scenarios::run
