// A node: what the engine runs, one at a time, to the end of a window.
#pragma once

#include <cstdint>

#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Dense number of a node in its Engine. Numbers never influence results; names do (component ids are hashes of paths).
using NodeId = uint32_t;

class Engine;

/// A device of the fabric (switch, HCA) or any other owner of state. All that belongs to a node is touched only by
/// run_window() while the engine runs, and by its owner between windows; nodes speak only through channels with
/// latency.
class Node {
  public:
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() = default;

    /// Runs every event of this node with time < `end`, in key order (time, EventPhase, source). What it sends to
    /// another node arrives at or after `end`. Called only if Engine::wake asked for a time before `end`; may find
    /// nothing to do.
    virtual void run_window(SimTime end) = 0;

    /// Time of the earliest event that is pending here (channel heads included), SimTime::max() if none. Exact.
    [[nodiscard]] virtual SimTime next_event_time() const = 0;

    [[nodiscard]] NodeId id() const noexcept { return id_; }

  private:
    friend class Engine;
    NodeId id_ = 0;
};

}  // namespace simverbs::sim
