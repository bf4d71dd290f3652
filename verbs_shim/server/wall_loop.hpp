// The wall clock: simulated time follows real time and never runs ahead; programs run freely.
#pragma once

#include <cstdint>

#include "verbs_shim/server/lab.hpp"
#include "verbs_shim/server/lab_runner.hpp"
#include "verbs_shim/server/placement.hpp"

namespace simverbs::server {

class WallLoop {
  public:
    WallLoop(Lab& lab, LabOwner& owner);
    LabEnd run();

  private:
    [[nodiscard]] sim::SimTime now() const;
    bool drain_all(sim::SimTime t);
    bool show_due(sim::SimTime t);
    void sleep_a_little(sim::SimTime t, uint32_t server_word);

    Lab* lab_;
    LabOwner* owner_;
    int64_t started_ns_;
    Placement placement_;
    uint32_t idle_rounds_ = 0;
};

}  // namespace simverbs::server
