#include "tools/simverbs/port_faults.hpp"

namespace simverbs::tools {

using scenarios::AddressedFaultKind;
using scenarios::AddressedFaultSpec;
using scenarios::PortEventKind;
using scenarios::PortStateWanted;
using scenarios::run::FaultyPort;

namespace {

hca::PortState state_of(PortStateWanted state) {
    switch (state) {
        case PortStateWanted::Down:
            return hca::PortState::Down;
        case PortStateWanted::Armed:
            return hca::PortState::Armed;
        case PortStateWanted::Active:
            return hca::PortState::Active;
    }
    return hca::PortState::Active;
}

}  // namespace

void PortFaults::apply(const FaultStep& step, const AddressedFaultSpec& fault) {
    const FaultyPort& port = *step.port;
    Now& now = ports_[{port.adapter, port.port}];
    switch (step.kind) {
        case FaultStep::Kind::Dark:
            // A dead NIC says so itself, once.
            if (port.is_victim && fault.target == scenarios::KillTarget::Nic &&
                fault.kind == AddressedFaultKind::Kill) {
                if (ports_[{port.adapter, 0}].dark++ > 0) return;
                lab_.hosts()[port.host].nics[port.nic].hca->raise_event(hca::EventType::DeviceFatal, 0,
                                                                        lab_.engine().frontier());
                return;
            }
            ++now.dark;
            return set_state(port, now);
        case FaultStep::Kind::Light:
            --now.dark;
            return set_state(port, now);
        case FaultStep::Kind::Begin:
            return begin(port, fault);
        case FaultStep::Kind::End:
            now.wanted = hca::PortState::Active;
            return set_state(port, now);
    }
}

void PortFaults::begin(const FaultyPort& port, const AddressedFaultSpec& fault) {
    hca::Hca& hca = *lab_.hosts()[port.host].nics[port.nic].hca;
    const sim::SimTime now = lab_.engine().frontier();
    const scenarios::ProgramFaultSpec& what = fault.program;
    if (fault.kind == AddressedFaultKind::PortState) {
        Now& state = ports_[{port.adapter, port.port}];
        state.wanted = state_of(what.state);
        return set_state(port, state);
    }
    if (fault.kind == AddressedFaultKind::ChangeGid)
        hca.change_gid(port.port, static_cast<uint32_t>(what.index), what.gid.value_or(hca::Gid{}), now);
    else if (fault.kind == AddressedFaultKind::ChangePkey)
        hca.change_pkey(port.port, static_cast<uint32_t>(what.index), what.pkey, now);
    else if (what.event == PortEventKind::LidChange && what.lid)
        hca.change_lid(port.port, static_cast<uint16_t>(*what.lid), now);
    else if (what.event == PortEventKind::LidChange)
        hca.raise_event(hca::EventType::LidChange, port.port, now);
    else if (what.event == PortEventKind::SmChange)
        hca.raise_event(hca::EventType::SmChange, port.port, now);
    else
        hca.raise_event(hca::EventType::ClientReregister, port.port, now);
    lab_.refresh_sysfs(port.host, port.nic, port.port);
}

void PortFaults::set_state(const FaultyPort& port, const Now& now) {
    hca::Hca& hca = *lab_.hosts()[port.host].nics[port.nic].hca;
    hca.set_port_state(port.port, now.dark > 0 ? hca::PortState::Down : now.wanted, lab_.engine().frontier());
    lab_.refresh_sysfs(port.host, port.nic, port.port);
}

}  // namespace simverbs::tools
