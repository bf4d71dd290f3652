// What the server asks of a scenario's faults.
#include "verbs_shim/server/program_faults.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "scenarios/lang/scenario_schemas.hpp"
#include "verbs_shim/server/client.hpp"

namespace simverbs::server {
namespace {

using protocol::Op;
using sim::SimTime;

/// A client with CQs, without a process or an arena.
struct Rig {
    explicit Rig(uint32_t program) { client.program = program; }
    /// The limit that the faults give a new CQ.
    uint32_t make_cq(ProgramFaults& faults, bool has_channel = true) {
        rings.push_back(std::make_unique<protocol::RingHeader>());
        cqs.emplace_back();
        cqs.back().channel = has_channel ? 1 : 0;
        cqs.back().ring.header = rings.back().get();
        return faults.on_new_cq(client, static_cast<uint32_t>(cqs.size()), cqs.back());
    }
    void arm(ProgramFaults& faults, size_t cq, int64_t us) {
        faults.on_armed(client, static_cast<uint32_t>(cq + 1), cqs[cq], SimTime::us(us));
    }
    Client client;
    std::vector<std::unique_ptr<protocol::RingHeader>> rings;
    std::vector<CqObject> cqs;
};

TEST(ProgramFaults, TheNthCallOfTheProgramFails_NoOther) {
    ProgramFaults faults;
    const size_t fault = faults.add(ProgramFaults::FailCall{"f", 1, Op::CreateQp, "create_qp", 2, 2, EAGAIN});
    std::string why;
    EXPECT_EQ(faults.refuse(1, Op::CreateQp, SimTime::us(1), why), 0);
    EXPECT_EQ(faults.refuse(0, Op::CreateQp, SimTime::us(2), why), 0);
    EXPECT_EQ(faults.refuse(1, Op::CreateCq, SimTime::us(3), why), 0);
    EXPECT_EQ(why, "");
    EXPECT_EQ(faults.refuse(1, Op::CreateQp, SimTime::us(4), why), EAGAIN);
    EXPECT_EQ(why, "ibv_create_qp: failed with EAGAIN, because the scenario's fault 'f' wants it of call 2.");
    EXPECT_EQ(faults.refuse(1, Op::CreateQp, SimTime::us(5), why), EAGAIN);
    EXPECT_EQ(faults.refuse(1, Op::CreateQp, SimTime::us(6), why), 0);
    const FaultFiring firing = faults.firing(fault, "client");
    EXPECT_EQ(firing.times, 2U);
    EXPECT_EQ(firing.first, SimTime::us(4));
    EXPECT_EQ(firing.last, SimTime::us(5));
    EXPECT_EQ(firing.silence, "");
}

TEST(ProgramFaults, ACallThatNeverComesIsToldWithTheNumberOfThoseThatCame) {
    ProgramFaults faults;
    const size_t fault = faults.add(ProgramFaults::FailCall{"f", 1, Op::CreateQp, "create_qp", 7, 1, ENOMEM});
    std::string why;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(faults.refuse(1, Op::CreateQp, SimTime::us(1), why), 0);
    EXPECT_EQ(faults.firing(fault, "client").silence, "'client' made 3 calls of create_qp, it waits for call 7");
}

TEST(ProgramFaults, EveryCallOfTheLanguageIsARequest) {
    for (const std::string_view call : scenarios::kFailCallSchema.find("call")->choices)
        EXPECT_NE(op_of_call(call), Op::kCount) << call;
    EXPECT_EQ(op_of_call("create_nothing"), Op::kCount);
}

TEST(ProgramFaults, TheNthCqIsLimitedAndFiresWhenItOverruns) {
    ProgramFaults faults;
    const size_t fault = faults.add(ProgramFaults::LimitCq{1, 2, 5});
    Rig rig(1), other(0);
    EXPECT_EQ(other.make_cq(faults), 0U);
    EXPECT_EQ(rig.make_cq(faults), 0U);
    EXPECT_EQ(faults.firing(fault, "p").silence, "'p' made 1 CQ, it waits for number 2");
    EXPECT_EQ(rig.make_cq(faults), 5U);
    EXPECT_EQ(faults.limit_of(rig.client, 2), 5U);
    EXPECT_EQ(faults.limit_of(rig.client, 1), 0U);
    EXPECT_EQ(faults.firing(fault, "p").silence, "CQ 2 of 'p' never held more than 5 completions at once");
    faults.on_cq_error(rig.client, 1, SimTime::us(3));
    EXPECT_EQ(faults.firing(fault, "p").times, 0U);
    faults.on_cq_error(rig.client, 2, SimTime::us(4));
    EXPECT_EQ(faults.firing(fault, "p").times, 1U);
    faults.on_client_gone(rig.client);
    EXPECT_EQ(faults.limit_of(rig.client, 2), 0U);
}

TEST(ProgramFaults, ArmingIsHeldFromTheNthOfAnEmptyCqOn_UntilItHasBeenOnce) {
    ProgramFaults faults;
    const size_t fault = faults.add(ProgramFaults::PlaceCqe{1, 0, 2, SimTime::us(50)});
    Rig rig(1);
    (void)rig.make_cq(faults, false);
    (void)rig.make_cq(faults);
    EXPECT_EQ(rig.rings[0]->aux.load() + rig.rings[1]->aux.load(), 0U);
    EXPECT_EQ(faults.firing(fault, "p").silence, "'p' armed no CQ that was empty");
    rig.arm(faults, 1, 1);
    EXPECT_EQ(rig.rings[1]->aux.load(), 50'000'000U);
    rig.arm(faults, 1, 2);  // none came
    EXPECT_EQ(rig.rings[1]->aux.load(), 50'000'000U);
    rig.rings[1]->aux.store(protocol::kArmingHeld);  // one came
    rig.arm(faults, 1, 3);
    EXPECT_EQ(rig.rings[1]->aux.load(), 0U);
    EXPECT_EQ(faults.firing(fault, "p").times, 1U);
    EXPECT_EQ(faults.firing(fault, "p").first, SimTime::us(3));
    rig.arm(faults, 1, 4);
    EXPECT_EQ(rig.rings[1]->aux.load(), 0U);
}

TEST(ProgramFaults, ReceivesAreLateWhileTheFaultLasts) {
    ProgramFaults faults;
    const size_t fault = faults.add(ProgramFaults::DelayReceives{1, SimTime::us(10), SimTime::us(5), SimTime::us(7)});
    EXPECT_EQ(faults.receive_time(1, SimTime::us(4)), SimTime::us(4));
    EXPECT_EQ(faults.firing(fault, "p").silence, "'p' posted 1 receive, none of them meanwhile");
    EXPECT_EQ(faults.receive_time(1, SimTime::us(5)), SimTime::us(15));
    EXPECT_EQ(faults.receive_time(0, SimTime::us(5)), SimTime::us(5));
    EXPECT_EQ(faults.receive_time(1, SimTime::us(7)), SimTime::us(7));
    EXPECT_EQ(faults.firing(fault, "p").times, 1U);
}

TEST(ProgramFaults, AProgramIsFrozenUntilItThaws) {
    ProgramFaults faults;
    EXPECT_EQ(faults.frozen_until(3), SimTime::zero());
    faults.freeze(3, SimTime::max());
    EXPECT_EQ(faults.frozen_until(3), SimTime::max());
    EXPECT_EQ(faults.frozen_until(2), SimTime::zero());
    faults.freeze(3, SimTime::zero());
    EXPECT_EQ(faults.frozen_until(3), SimTime::zero());
}

}  // namespace
}  // namespace simverbs::server
