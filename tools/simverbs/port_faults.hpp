// What faults do to the ports of programs' adapters.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "models/hca/verbs_types.hpp"
#include "scenarios/lang/addressed_fault_spec.hpp"
#include "tools/simverbs/fault_schedule.hpp"
#include "verbs_shim/server/lab.hpp"

namespace simverbs::tools {

/// Between two moves of the lab.
class PortFaults {
  public:
    explicit PortFaults(server::Lab& lab) : lab_(lab) {}

    /// A step of a port: it and the tables are what the fault says, and programs are told.
    void apply(const FaultStep& step, const scenarios::AddressedFaultSpec& fault);

  private:
    struct Now {
        int dark = 0;  ///< faults that keep its cable down
        hca::PortState wanted = hca::PortState::Active;
    };
    void set_state(const scenarios::run::FaultyPort& port, const Now& now);
    void begin(const scenarios::run::FaultyPort& port, const scenarios::AddressedFaultSpec& fault);

    server::Lab& lab_;
    std::map<std::pair<uint32_t, uint8_t>, Now> ports_;  ///< by adapter and port; 0: the adapter itself
};

}  // namespace simverbs::tools
