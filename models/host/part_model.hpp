// Somebody else's model in the place of a part of a host.
#pragma once

#include <cstdint>

#include "models/host/host_complex.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::host {

/// What comes to a part.
struct PartTransfer {
    bool is_write = false;  ///< data that go towards a memory; else out of it, or a request for them
    uint64_t address = DmaTarget::kAnyAddress;  ///< as in DmaTarget
    uint32_t bytes = 0;                         ///< on a PCIe link with framing
    sim::SimTime arrival;                       ///< its first byte is there
};

/// Takes the place of a link's direction or of a memory: contention and latency are its own. Called in the order of the
/// host's events; arrivals may lie ahead of them, and need not ascend (completions of a read that has just been asked
/// for).
class PartModel {
  public:
    virtual ~PartModel() = default;
    /// When the last byte has left the part (a link), is out of it (a read of a memory) or in it (a write). Not before
    /// its arrival.
    virtual sim::SimTime pass(const PartTransfer& transfer) = 0;
};

}  // namespace simverbs::host
