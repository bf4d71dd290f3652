// A slot of a host that gives less than it should for a while.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "models/fabric/adapters.hpp"
#include "models/host/host_complex.hpp"
#include "scenarios/run/run_result.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::scenarios::run {

struct SlotFault {
    uint32_t fault = 0;  ///< number in the scenario
    size_t host = 0;     ///< among the fabric's hosts that have a complex
    host::AgentId agent = 0;
    std::optional<uint8_t> generation, lanes;  ///< that it has meanwhile
    sim::SimTime from, until = sim::SimTime::max();

    /// What passed the slot's link while it was degraded.
    struct Seen {
        bool began = false, ended = false;
        uint64_t before = 0, after = 0;  ///< TLPs
    };
    std::shared_ptr<Seen> seen = std::make_shared<Seen>();
};

/// Has the slot changed by its host's own events. Before the first window.
void schedule(const SlotFault& fault, fabric::Adapters& adapters);
/// At the end: whether it fired, and if not, why.
void collect(const SlotFault& fault, const fabric::Adapters& adapters, FaultRecord& record);

}  // namespace simverbs::scenarios::run
