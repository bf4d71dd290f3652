// What the HCA tells the software of its host: completions, events, memory that changed.
#pragma once

#include <cstdint>

#include "models/hca/explanation.hpp"
#include "models/hca/verbs_types.hpp"
#include "models/host/host_memory.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::hca {

/// Dense numbers of objects inside one Hca, reused only after a while. 0 is never a valid handle.
using PdHandle = uint32_t;
using MrHandle = uint32_t;
using CqHandle = uint32_t;
using SrqHandle = uint32_t;
using AhHandle = uint32_t;
using XrcdHandle = uint32_t;
using DmHandle = uint32_t;
/// A client of an HCA (one opened device context of one process), chosen by the driver.
using OwnerId = uint32_t;

struct AsyncEvent {
    EventType type{};
    OwnerId owner = 0;    ///< whose object it is; 0 for port and device events (all clients)
    uint32_t object = 0;  ///< qpn, CqHandle, SrqHandle or port number, by type
};

/// Upward edge of an Hca. Called while the node runs its window, in the node's event order; `visible_at` is when the
/// host's software can see it, and never decreases for one CQ (nor for one AsyncEvent owner).
/// A driver queues what it is told and shows it when its thread's clock reaches the stamp. It must not call back
/// into the Hca.
class HostSink {
  public:
    virtual ~HostSink() = default;
    virtual void on_cqe(CqHandle cq, const Cqe& cqe, sim::SimTime visible_at) = 0;
    /// An armed CQ got its completion (once for each req_notify_cq).
    virtual void on_cq_event(CqHandle cq, sim::SimTime visible_at) = 0;
    virtual void on_async_event(const AsyncEvent& event, sim::SimTime visible_at) = 0;
    /// DMA changed bytes [va, va+length) of a space: only for spaces that are watched (Hca::watch_memory). `part`: of a
    /// message of which more is to come, if only its completion.
    virtual void on_memory_written(host::AddressSpaceId space, uint64_t va, uint64_t length, bool part,
                                   sim::SimTime visible_at) = 0;
    virtual void on_incident(const Incident&) {}
};

}  // namespace simverbs::hca
