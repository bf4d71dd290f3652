#include "sim/engine.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/check.hpp"
#include "sim/engine_partition.hpp"
#include "sim/engine_workers.hpp"
#include "sim/link_ring.hpp"

namespace simverbs::sim {

Engine::Engine(Config config) : config_(config) {
    if (config_.threads == 0) throw std::invalid_argument("an engine needs at least one thread");
    if (config_.window < SimTime::zero() || config_.window > kMaxWindow)
        throw std::invalid_argument("the window must lie between 0 and " + std::to_string(kMaxWindow.in_ps()) + " ps");
}

Engine::~Engine() = default;

NodeId Engine::add_node(Node& node, unsigned partition_hint) {
    SIM_CHECK(!running_ && node.engine_ == nullptr);
    const auto id = static_cast<NodeId>(nodes_.size());
    node.id_ = id;
    node.engine_ = this;
    nodes_.push_back(&node);
    hints_.push_back(partition_hint);
    if (started_) place(id, partition_hint == kAnyPartition ? id : partition_hint);
    return id;
}

void Engine::add_part(Node& part, NodeId of) {
    SIM_CHECK(!running_ && part.engine_ == nullptr && of < nodes_.size(), of);
    part.id_ = of;
    part.engine_ = this;
    parts_.push_back(&part);
    if (started_) place_part(part);
}

void Engine::place_part(Node& part) {
    part.shard_ = nodes_[part.id_]->shard_;
    part.activity_ = nodes_[part.id_]->activity_;
}

void Engine::place(NodeId node, unsigned partition) {
    partition %= config_.threads;
    partition_of_.resize(nodes_.size());
    partition_of_[node] = partition;
    nodes_[node]->shard_ = partition;
    nodes_[node]->activity_ = &partitions_[partition]->activity;
    for (const auto& p : partitions_) p->activity.resize(static_cast<uint32_t>(nodes_.size()));
}

Engine::Partition& Engine::partition_of(NodeId node) {
    return *partitions_[partition_of_[node]];
}

void Engine::start() {
    if (started_) return;
    started_ = true;
    window_ = config_.window != SimTime::zero() ? config_.window : std::min(smallest_latency_, kMaxWindow);
    const auto nodes = static_cast<NodeId>(nodes_.size());
    for (unsigned i = 0; i < config_.threads; ++i) {
        auto& p = *partitions_.emplace_back(std::make_unique<Partition>());
        p.activity.set_window(window_);
        p.activity.resize(nodes);
        p.outbox.resize(config_.threads);
    }
    for (NodeId id = 0; id < nodes; ++id) {
        const auto block = static_cast<unsigned>(uint64_t{id} * config_.threads / nodes);
        place(id, hints_[id] == kAnyPartition ? block : hints_[id]);
    }
    for (Node* part : parts_) place_part(*part);
    for (const Edge& edge : edges_) bind(edge);
    for (const auto& [node, t] : early_wakes_) wake(node, t);
    early_wakes_ = {};
}

SimTime Engine::window() {
    start();
    return window_;
}

void Engine::check_latency(SimTime latency) const {
    const SimTime window = started_ ? window_ : config_.window;
    if (latency < window || latency <= SimTime::zero())
        throw std::invalid_argument("a channel of " + std::to_string(latency.in_ps()) +
                                    " ps is shorter than the window of " + std::to_string(window.in_ps()) + " ps");
}

void Engine::register_channel(ChannelBase& channel, NodeId producer, NodeId consumer, SimTime latency) {
    SIM_CHECK(!running_);
    SIM_CHECK(producer == kExternal || producer < nodes_.size(), producer);
    SIM_CHECK(consumer == kExternal || consumer < nodes_.size(), consumer);
    if (producer != kExternal && consumer != kExternal) {
        check_latency(latency);
        smallest_latency_ = std::min(smallest_latency_, latency);
    }
    channel.edge_ = static_cast<uint32_t>(edges_.size());
    edges_.push_back({&channel, producer, consumer});
    if (started_) bind(edges_.back());
}

void Engine::unregister_channel(ChannelBase& channel) {
    edges_[channel.edge_] = edges_.back();
    edges_[channel.edge_].channel->edge_ = channel.edge_;
    edges_.pop_back();
}

void Engine::bind(const Edge& edge) {
    if (edge.consumer == kExternal) return;
    Partition& p = partition_of(edge.consumer);
    const bool same_thread = edge.producer == kExternal || &partition_of(edge.producer) == &p;
    edge.channel->bind(p.activity, same_thread);
}

size_t Engine::memory() const noexcept {
    size_t sum = fifo_memory();
    for (const auto& p : partitions_) sum += p->activity.max_ring_memory();
    return sum;
}

size_t Engine::fifo_memory() const noexcept {
    size_t sum = 0;
    for (const auto& p : partitions_) sum += p->activity.chunks().memory();
    return sum;
}

void Engine::note_staged(ChannelBase& channel, NodeId producer, NodeId consumer) {
    partition_of(producer).outbox[partition_of_[consumer]].push_back(&channel);
}

void Engine::wake(NodeId node, SimTime t) {
    if (!started_) {
        SIM_CHECK(t >= SimTime::zero() && node < nodes_.size(), t, node);
        early_wakes_.emplace_back(node, t);
        return;
    }
    SIM_CHECK(running_ || t >= frontier_, t, frontier_);
    partition_of(node).activity.wake(node, t);
}

void Engine::wake_lane(NodeId node, SimTime t, uint32_t lane) {
    wake(node, t);
    if (started_) partition_of(node).activity.note_lane(node, lane);  // else bind() does
}

void Engine::call_attention(NodeId node) {
    start();
    partition_of(node).activity.call_attention(node);
}

SimTime Engine::next_event_time() {
    start();
    SimTime best = SimTime::max();
    for (const auto& p : partitions_)
        best = std::min(best, p->activity.exact_next([&](NodeId n) { return nodes_[n]->next_event_time(); }));
    SIM_CHECK(best >= frontier_, best, frontier_);
    return best;
}

bool Engine::run_window(SimTime limit) {
    return run_windows(limit, 1) != 0;
}

void Engine::run_until(SimTime t) {
    run_windows(t, UINT64_MAX);
}

RunResult Engine::run() {
    const uint64_t chunk = std::clamp<uint64_t>(config_.livelock_windows, 1, 1U << 16);
    uint64_t last_progress = progress();
    uint64_t idle_windows = 0;
    while (run_windows(SimTime::max(), chunk) == chunk) {
        const uint64_t now = progress();
        idle_windows = now == last_progress && outstanding() ? idle_windows + chunk : 0;
        last_progress = now;
        if (idle_windows >= config_.livelock_windows) return {RunEnd::Livelock, stuck_dump()};
    }
    if (outstanding()) return {RunEnd::Stuck, stuck_dump()};
    return {};
}

bool Engine::outstanding() const {
    return std::ranges::any_of(reporters_, [](const StuckReporter* r) { return r->outstanding(); });
}

uint64_t Engine::progress() const {
    uint64_t sum = 0;
    for (const StuckReporter* r : reporters_) sum += r->progress();
    return sum;
}

std::string Engine::stuck_dump() const {
    std::string out = "stuck at " + std::to_string(frontier_.in_ps()) + " ps\n";
    for (const StuckReporter* r : reporters_)
        if (r->outstanding()) r->describe(out);
    return out;
}

void Engine::remove_stuck_reporter(StuckReporter& reporter) {
    std::erase(reporters_, &reporter);
}

void Engine::trace(const Node& node, const TraceRecord& record) {
    if (trace_sink_ == nullptr) return;
    start();
    SIM_CHECK(record.key.time >= frontier_, record.key.time, frontier_);
    partition_of(node.id()).trace.push_back(record);
}

void Engine::flush_trace() {
    for (const auto& p : partitions_) {
        trace_pending_.insert(trace_pending_.end(), p->trace.begin(), p->trace.end());
        p->trace.clear();
    }
    if (trace_pending_.empty() || trace_sink_ == nullptr) return;
    std::ranges::stable_sort(trace_pending_, {}, &TraceRecord::key);
    // Records ahead of the frontier wait, so that the sequence does not depend on where windows end.
    const auto ahead =
        std::ranges::lower_bound(trace_pending_, frontier_, {}, [](const TraceRecord& r) { return r.key.time; });
    const auto ready = static_cast<size_t>(ahead - trace_pending_.begin());
    if (ready != 0) trace_sink_->on_records(std::span(trace_pending_).first(ready));
    trace_pending_.erase(trace_pending_.begin(), ahead);
}

}  // namespace simverbs::sim
