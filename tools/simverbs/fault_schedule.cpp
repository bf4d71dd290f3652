#include "tools/simverbs/fault_schedule.hpp"

#include <algorithm>
#include <tuple>

#include "scenarios/build/addressed_faults.hpp"

namespace simverbs::tools {

using scenarios::AddressedFaultKind;
using scenarios::AddressedFaultSpec;
using scenarios::run::FaultyPort;
using sim::SimTime;

namespace {

SimTime sum_of(SimTime a, SimTime b) {
    return a > SimTime::max() - b ? SimTime::max() : a + b;
}

/// Later steps come first.
bool comes_after(const FaultStep& a, const FaultStep& b) {
    const auto key = [](const FaultStep& s) {
        const FaultyPort port = s.port.value_or(FaultyPort{});
        return std::tuple(s.at, s.fault, s.kind, port.adapter, port.port);
    };
    return key(a) > key(b);
}

/// Going down number n (from 0) of a flap; max(): there is none.
SimTime flap_time(const AddressedFaultSpec& fault, SimTime after) {
    const SimTime next = sum_of(after, fault.period);
    const bool is_over = fault.count && (next - fault.from).in_ps() / fault.period.in_ps() >= *fault.count;
    return is_over || next >= fault.until ? SimTime::max() : next;
}

}  // namespace

FaultSchedule::FaultSchedule(const scenarios::ScenarioSpec& spec, const std::vector<FaultyPort>& ports) : spec_(spec) {
    for (uint32_t f = 0; f < spec.faults.size(); ++f) {
        const AddressedFaultSpec& fault = spec.faults[f];
        const bool is_freeze = fault.kind == AddressedFaultKind::Freeze;
        if (!is_freeze && fault.kind != AddressedFaultKind::Kill) continue;
        put({fault.at, f, FaultStep::Kind::Begin, std::nullopt});
        if (is_freeze) put({end_of(fault), f, FaultStep::Kind::End, std::nullopt});
    }
    for (const FaultyPort& port : ports) add_ports_of(port.fault, port);
}

void FaultSchedule::add_ports_of(uint32_t number, const FaultyPort& port) {
    const AddressedFaultSpec& fault = spec_.faults[number];
    if (place_of(fault.kind) == scenarios::FaultPlace::Port) {
        put({fault.at, number, FaultStep::Kind::Begin, port});
        if (fault.kind == AddressedFaultKind::PortState) put({end_of(fault), number, FaultStep::Kind::End, port});
    } else if (fault.kind == AddressedFaultKind::Down) {
        put({fault.from, number, FaultStep::Kind::Dark, port});
        put({fault.until, number, FaultStep::Kind::Light, port});
    } else if (fault.kind == AddressedFaultKind::Flap) {
        put({fault.from, number, FaultStep::Kind::Dark, port});
    } else if (fault.kind == AddressedFaultKind::Kill) {
        put({fault.at, number, FaultStep::Kind::Dark, port});
    }
}

void FaultSchedule::put(FaultStep step) {
    if (step.at == SimTime::max()) return;
    steps_.insert(std::upper_bound(steps_.begin(), steps_.end(), step, comes_after), step);
}

SimTime FaultSchedule::next() const noexcept {
    return steps_.empty() ? SimTime::max() : steps_.back().at;
}

bool FaultSchedule::has_more_than_flaps() const noexcept {
    return std::ranges::any_of(
        steps_, [&](const FaultStep& step) { return spec_.faults[step.fault].kind != AddressedFaultKind::Flap; });
}

std::optional<FaultStep> FaultSchedule::take(SimTime now) {
    if (next() > now) return std::nullopt;
    const FaultStep step = steps_.back();
    steps_.pop_back();
    const AddressedFaultSpec& fault = spec_.faults[step.fault];
    if (fault.kind == AddressedFaultKind::Flap && step.kind == FaultStep::Kind::Dark) {
        put({step.at + fault.down_time, step.fault, FaultStep::Kind::Light, step.port});
        put({flap_time(fault, step.at), step.fault, FaultStep::Kind::Dark, step.port});
    }
    return step;
}

}  // namespace simverbs::tools
