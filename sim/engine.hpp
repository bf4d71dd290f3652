// The engine: windows, one node at a time, no global event queue (docs/architecture.md, "Order and determinism").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/activity.hpp"
#include "sim/node.hpp"
#include "sim/sim_time.hpp"
#include "sim/stuck.hpp"
#include "sim/trace/trace_sink.hpp"

namespace simverbs::sim {

class ChannelBase;

/// Configuration of an Engine.
struct EngineConfig {
    /// Length of a window; zero: the longest legal one (smallest channel latency, at most kMaxWindow).
    SimTime window = SimTime::zero();
    unsigned threads = 1;
    uint64_t seed = 1;
    /// run() gives up after this many windows without progress (StuckReporter::progress) while work is outstanding.
    uint64_t livelock_windows = 20'000'000;
};

/// How Engine::run ended.
enum class RunEnd : uint8_t {
    Idle,      ///< nothing is scheduled and nobody waits for anything
    Stuck,     ///< nothing is scheduled while work is outstanding
    Livelock,  ///< events go on, but nothing progresses
};
struct RunResult {
    RunEnd end = RunEnd::Idle;
    std::string dump;  ///< the stuck-state dump; empty when Idle
};

/// One simulation. Several can live in one process. Results depend neither on the window length, nor on the number of
/// threads, nor on where windows are cut short. All methods are for the owning thread, between windows, unless said
/// otherwise.
class Engine {
  public:
    using Config = EngineConfig;
    static constexpr unsigned kAnyPartition = 0xFFFFFFFF;

    explicit Engine(Config config = {});
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine();

    /// Adds a node (not owned; it must outlive the engine's last window). Nodes with the same hint run in the same
    /// thread (hint modulo threads); without hints, contiguous blocks of nodes do. Legal between windows, too.
    NodeId add_node(Node& node, unsigned partition_hint = kAnyPartition);

    /// Makes `part` a part of a node that has been added: it has the node's number, so that what wakes it wakes the
    /// node, and its thread. The node runs it, the engine never does. Not owned.
    void add_part(Node& part, NodeId of);

    /// Asks that `node` runs in the window that contains `t` >= frontier(). Legal from the node's own run_window (times
    /// before its end are ignored: the node is running), and from outside between windows.
    void wake(NodeId node, SimTime t);

    /// For Channel, between windows: wakes `node` for what comes by a lane (Activity::note_lane).
    void wake_lane(NodeId node, SimTime t, uint32_t lane);
    /// For Channel, between windows: see Activity::call_attention.
    void call_attention(NodeId node);

    /// Every event before this time is done, none at or after it is.
    [[nodiscard]] SimTime frontier() const noexcept { return frontier_; }

    /// Time of the earliest pending event of all nodes, SimTime::max() if none. Exact; never before frontier().
    [[nodiscard]] SimTime next_event_time();

    /// Runs one window: from the first bucket with activity (or the rest of one that was cut short) to min(bucket end,
    /// limit). Empty windows are skipped. Returns false if no node asked to run before `limit`; the frontier is then
    /// `limit` (unchanged for SimTime::max()).
    bool run_window(SimTime limit = SimTime::max());

    /// Runs all events before `t`; the frontier is then `t`.
    void run_until(SimTime t);

    /// Runs until nothing is scheduled, then asks the stuck reporters whether anybody still waits for something.
    RunResult run();

    /// The stuck-state dump of now: the text of every reporter with outstanding work.
    [[nodiscard]] std::string stuck_dump() const;
    /// Registers a reporter (not owned). In a dump, reporters speak in the order of registration.
    void add_stuck_reporter(StuckReporter& reporter) { reporters_.push_back(&reporter); }
    void remove_stuck_reporter(StuckReporter& reporter);

    /// Sets where traced events go (nullptr: nowhere). Records reach the sink window by window, sorted by key.
    void set_trace_sink(TraceSink* sink) noexcept { trace_sink_ = sink; }
    [[nodiscard]] bool tracing() const noexcept { return trace_sink_ != nullptr; }
    /// Emits a trace record; legal from `node`'s own run_window and between windows.
    void trace(const Node& node, const TraceRecord& record);

    [[nodiscard]] uint64_t seed() const noexcept { return config_.seed; }
    [[nodiscard]] unsigned threads() const noexcept { return config_.threads; }
    /// The window in use; fixes it (and starts the engine) if that has not happened yet.
    [[nodiscard]] SimTime window();
    /// Is a window being run right now?
    [[nodiscard]] bool running() const noexcept { return running_; }
    /// Windows run so far (statistics only: depends on window length).
    [[nodiscard]] uint64_t windows_run() const noexcept { return windows_run_; }

    /// For Channel: a new edge between nodes (either end may be kExternal). Its latency bounds the window; throws
    /// std::invalid_argument if a window in use (or configured) is longer than `latency`. The bound does not apply to
    /// channels with an external end: the limits handed to run_window keep those causal.
    void register_channel(ChannelBase& channel, NodeId producer, NodeId consumer, SimTime latency);
    void unregister_channel(ChannelBase& channel);
    /// The most bytes that the nodes' FIFOs (ChunkPool) and the channels' rings have needed.
    [[nodiscard]] size_t memory() const noexcept;
    /// The FIFOs' part of it.
    [[nodiscard]] size_t fifo_memory() const noexcept;
    /// For Channel: it staged items for a consumer in another thread; drained after this window.
    void note_staged(ChannelBase& channel, NodeId producer, NodeId consumer);

  private:
    struct Partition;
    struct Workers;
    struct Edge {
        ChannelBase* channel;
        NodeId producer;
        NodeId consumer;
    };

    void start();
    void place(NodeId node, unsigned partition);
    void place_part(Node& part);
    void bind(const Edge& edge);
    void check_latency(SimTime latency) const;
    Partition& partition_of(NodeId node);

    /// Runs up to `max_windows` windows before `limit`; returns how many ran.
    uint64_t run_windows(SimTime limit, uint64_t max_windows);
    uint64_t run_windows_alone(SimTime limit, uint64_t max_windows);
    uint64_t run_windows_threaded(SimTime limit, uint64_t max_windows);
    /// Runs one partition's nodes to `end`.
    void run_partition(Partition& partition, SimTime bucket, SimTime start, SimTime end);
    void drain_into(unsigned consumer);
    void flush_trace();
    [[nodiscard]] bool outstanding() const;
    [[nodiscard]] uint64_t progress() const;

    Config config_;
    bool started_ = false;
    bool running_ = false;
    SimTime frontier_ = SimTime::zero();
    SimTime window_ = SimTime::zero();
    SimTime smallest_latency_ = SimTime::max();
    uint64_t windows_run_ = 0;
    TraceSink* trace_sink_ = nullptr;
    std::vector<Node*> nodes_;
    std::vector<unsigned> hints_;
    std::vector<Node*> parts_;
    std::vector<uint32_t> partition_of_;
    std::vector<std::unique_ptr<Partition>> partitions_;
    std::vector<Edge> edges_;
    std::vector<std::pair<NodeId, SimTime>> early_wakes_;  ///< asked for before the start
    std::vector<StuckReporter*> reporters_;
    std::vector<TraceRecord> trace_pending_;
    std::unique_ptr<Workers> workers_;
};

}  // namespace simverbs::sim
