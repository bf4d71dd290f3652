#include "tools/simverbs/fault_schedule.hpp"

#include <gtest/gtest.h>

namespace simverbs::tools {
namespace {

using scenarios::AddressedFaultKind;
using scenarios::run::FaultyPort;
using sim::SimTime;

scenarios::AddressedFaultSpec fault_of(AddressedFaultKind kind, int64_t at_us) {
    scenarios::AddressedFaultSpec fault;
    fault.kind = kind;
    fault.at = fault.from = SimTime::us(at_us);
    return fault;
}

/// "5:0B": at 5 us the beginning of fault 0; E its end, D dark, L light.
std::string all_of(FaultSchedule& schedule, SimTime until) {
    std::string out;
    while (const auto step = schedule.take(until)) {
        out += (out.empty() ? "" : " ") + std::to_string(step->at.in_ps() / 1'000'000) + ":" +
               std::to_string(step->fault) + "BEDL"[static_cast<int>(step->kind)];
    }
    return out;
}

TEST(FaultSchedule, StepsComeInOrderOfTime) {
    scenarios::ScenarioSpec spec;
    spec.faults = {fault_of(AddressedFaultKind::Kill, 9), fault_of(AddressedFaultKind::Freeze, 5),
                   fault_of(AddressedFaultKind::ChangeGid, 5), fault_of(AddressedFaultKind::FailCall, 0)};
    spec.faults[1].lasts = SimTime::us(2);
    FaultSchedule schedule(spec, {{2, 0, 0, 0, 1, false}});
    EXPECT_EQ(schedule.next(), SimTime::us(5));
    EXPECT_EQ(all_of(schedule, SimTime::us(4)), "");
    EXPECT_EQ(all_of(schedule, SimTime::us(100)), "5:1B 5:2B 7:1E 9:0B");
    EXPECT_EQ(schedule.next(), SimTime::max());
}

TEST(FaultSchedule, WhatLastsForEverDoesNotEnd) {
    scenarios::ScenarioSpec spec;
    spec.faults = {fault_of(AddressedFaultKind::Freeze, 5), fault_of(AddressedFaultKind::Down, 6)};
    FaultSchedule schedule(spec, {{1, 0, 0, 0, 1, false}});
    EXPECT_EQ(all_of(schedule, SimTime::max() - SimTime::us(1)), "5:0B 6:1D");
}

TEST(FaultSchedule, AFlapComesAsOftenAsItSays) {
    scenarios::ScenarioSpec spec;
    spec.faults = {fault_of(AddressedFaultKind::Flap, 5)};
    spec.faults[0].period = SimTime::us(10);
    spec.faults[0].down_time = SimTime::us(3);
    spec.faults[0].count = 3;
    FaultSchedule schedule(spec, {{0, 0, 0, 0, 1, false}});
    EXPECT_FALSE(schedule.has_more_than_flaps());
    EXPECT_EQ(all_of(schedule, SimTime::ms(1)), "5:0D 8:0L 15:0D 18:0L 25:0D 28:0L");
}

TEST(FaultSchedule, AFlapWithoutCountGoesOn) {
    scenarios::ScenarioSpec spec;
    spec.faults = {fault_of(AddressedFaultKind::Flap, 0)};
    spec.faults[0].period = SimTime::us(10);
    spec.faults[0].down_time = SimTime::us(3);
    FaultSchedule schedule(spec, {{0, 0, 0, 0, 1, false}});
    EXPECT_EQ(all_of(schedule, SimTime::us(20)), "0:0D 3:0L 10:0D 13:0L 20:0D");
    EXPECT_EQ(schedule.next(), SimTime::us(23));
}

}  // namespace
}  // namespace simverbs::tools
