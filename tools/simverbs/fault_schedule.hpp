// When a scenario's faults act on programs and on the ports of their adapters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/faulty_port.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::tools {

/// One thing that happens at one time.
struct FaultStep {
    enum class Kind : uint8_t {
        Begin,  ///< what the fault says: a death, a freeze, a change
        End,    ///< of a freeze or a port's state
        Dark,   ///< the cable at `port` goes down
        Light,  ///< and comes up again
    };
    sim::SimTime at;
    uint32_t fault = 0;  ///< number in the scenario
    Kind kind = Kind::Begin;
    std::optional<scenarios::run::FaultyPort> port;  ///< of steps of a port
};

/// Steps in order of time, then of the scenario's faults. Those of a flap are made as they come.
class FaultSchedule {
  public:
    /// `spec` must outlive this.
    FaultSchedule(const scenarios::ScenarioSpec& spec, const std::vector<scenarios::run::FaultyPort>& ports);

    /// max() if nothing is left.
    [[nodiscard]] sim::SimTime next() const noexcept;
    /// Something is to come that programs may wait for: not only a flap's next time.
    [[nodiscard]] bool has_more_than_flaps() const noexcept;
    /// The earliest step that is due at `now`.
    std::optional<FaultStep> take(sim::SimTime now);

  private:
    void put(FaultStep step);
    void add_ports_of(uint32_t fault, const scenarios::run::FaultyPort& port);

    const scenarios::ScenarioSpec& spec_;
    std::vector<FaultStep> steps_;  ///< in order, the earliest last
};

}  // namespace simverbs::tools
