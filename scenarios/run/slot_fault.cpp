#include "scenarios/run/slot_fault.hpp"

#include <fmt/format.h>

#include "models/host/ancestry.hpp"
#include "models/host/complex.hpp"

namespace simverbs::scenarios::run {

namespace {

host::Complex& complex_of(host::HostNode& node) {
    return dynamic_cast<host::Complex&>(node.complex());
}

uint64_t passed(const host::Complex& complex, host::AgentId agent) {
    return complex.up(agent).tlps + complex.down(agent).tlps;
}

}  // namespace

void schedule(const SlotFault& fault, fabric::Adapters& adapters) {
    host::HostNode& node = adapters.host(fault.host);
    host::Complex& complex = complex_of(node);
    const pcie::LinkSpec healthy = host::slot_of(complex.platform(), fault.agent).slot;
    pcie::LinkSpec degraded = healthy;
    degraded.generation = fault.generation.value_or(healthy.generation);
    degraded.lanes = fault.lanes.value_or(healthy.lanes);
    const auto seen = fault.seen;
    const host::AgentId agent = fault.agent;
    node.change_at(fault.from, [&complex, agent, degraded, seen] {
        seen->began = true;
        seen->before = passed(complex, agent);
        complex.set_slot(agent, degraded);
    });
    if (fault.until == sim::SimTime::max()) return;
    node.change_at(fault.until, [&complex, agent, healthy, seen] {
        seen->ended = true;
        seen->after = passed(complex, agent);
        complex.set_slot(agent, healthy);
    });
}

void collect(const SlotFault& fault, const fabric::Adapters& adapters, FaultRecord& record) {
    const auto& complex = dynamic_cast<const host::Complex&>(adapters.host(fault.host).complex());
    const SlotFault::Seen& seen = *fault.seen;
    if (!seen.began) {
        record.silence = "the run had ended before";
        return;
    }
    const uint64_t after = seen.ended ? seen.after : passed(complex, fault.agent);
    if (after > seen.before)
        record.add_firing(1, fault.from, fault.from);
    else
        record.silence = "nothing passed the slot meanwhile";
}

}  // namespace simverbs::scenarios::run
