// A node: what the engine runs, one at a time, to the end of a window.
#pragma once

#include <cstdint>

#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Dense number of a node in its Engine. Numbers never influence results; names do (component ids are hashes of paths).
using NodeId = uint32_t;
/// The world outside the engine (e.g. the fabric server between windows), as one end of a Channel.
inline constexpr NodeId kExternal = 0xFFFFFFFF;

class Activity;
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

    /// Runs every event of this node with window start <= time < `end`, in key order (time, EventPhase, source). What
    /// it sends to another node arrives at or after `end`. Called only if a wake asked for this window; may find
    /// nothing to do. For each event that it schedules for itself at or after `end` it calls Engine::wake (channels
    /// wake their consumers themselves).
    virtual void run_window(SimTime end) = 0;

    /// Time of the earliest event that is pending here (channel heads included), SimTime::max() if none. Exact.
    [[nodiscard]] virtual SimTime next_event_time() const = 0;

    /// Asks for the memory that run_window() will need first and that hot memory leads to. Called shortly before, when
    /// hot memory has come. Must change nothing.
    virtual void prefetch() const {}

    [[nodiscard]] NodeId id() const noexcept { return id_; }
    /// The engine that runs this node; set by Engine::add_node.
    [[nodiscard]] Engine& engine() const noexcept { return *engine_; }
    /// Number of the worker thread that runs this node, 0 … Engine::threads()-1. Only to choose a slab or shard; it
    /// must never influence results. 0 before the first window.
    [[nodiscard]] unsigned shard() const noexcept { return shard_; }

  protected:
    /// Wake-ups and the scratch LocalQueue of this node's partition; nullptr before the first window.
    [[nodiscard]] Activity& activity() const noexcept { return *activity_; }
    /// Memory that the engine prefetches before it runs this node: `count` pieces of two lines, `stride` bytes apart.
    void set_hot_memory(const void* begin, uint32_t count, uint32_t stride) noexcept {
        hot_ = begin;
        hot_count_ = count;
        hot_stride_ = stride;
    }

  private:
    friend class Engine;
    Engine* engine_ = nullptr;
    Activity* activity_ = nullptr;
    NodeId id_ = 0;
    unsigned shard_ = 0;
    const void* hot_ = nullptr;
    uint32_t hot_count_ = 0;
    uint32_t hot_stride_ = 0;
};

}  // namespace simverbs::sim
