// A random network whose nodes do everything that an event can do. The behaviour is plain code without an engine, so
// that the real engine and the naive reference run the very same one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/event_key.hpp"
#include "sim/rng.hpp"
#include "sim/sim_time.hpp"
#include "sim/trace/trace_sink.hpp"

namespace simverbs::sim::test {

/// What travels.
struct Message {
    SimTime arrival = SimTime::max();
    uint32_t hops = 0;
    uint64_t id = 0;
};

/// A directed edge. `to` == kOutside: the world outside the engine.
inline constexpr uint32_t kOutside = 0xFFFFFFFF;
struct EdgeSpec {
    uint32_t from = 0;
    uint32_t to = 0;
    SimTime latency;
};

/// A message handed in from outside at `time` through edge `edge` (whose `from` is kOutside).
struct Injection {
    SimTime time;
    uint32_t edge = 0;
    uint64_t id = 0;
};

struct NetworkSpec {
    uint64_t seed = 0;
    uint32_t nodes = 0;
    std::vector<EdgeSpec> edges;
    std::vector<std::pair<uint32_t, Message>> first_messages;  ///< by edge
    std::vector<Injection> injections;                         ///< by time
    SimTime smallest_latency = SimTime::max();
};

/// A connected network with latencies from 20 ns to 400 ns, some of them equal.
inline NetworkSpec random_network(uint64_t seed) {
    NetworkSpec net;
    net.seed = seed;
    uint64_t ordinal = 0;
    const Draws draws(seed, component_id("network"), DrawPurpose::Workload);
    const auto below = [&](uint64_t n) { return draws.below(n, ordinal++); };
    const auto latency = [&] { return SimTime::ps(static_cast<int64_t>(20'000 + 1'000 * below(20) * below(20))); };
    net.nodes = static_cast<uint32_t>(2 + below(9));
    for (uint32_t n = 0; n < net.nodes; ++n) {
        net.edges.push_back({n, (n + 1) % net.nodes, latency()});
        for (uint64_t more = below(4); more > 0; --more)
            net.edges.push_back({n, static_cast<uint32_t>(below(net.nodes)), latency()});
    }
    for (const EdgeSpec& e : net.edges) net.smallest_latency = std::min(net.smallest_latency, e.latency);
    const auto inner = static_cast<uint32_t>(net.edges.size());
    for (uint32_t e = 0; e < inner; ++e)
        if (below(2) == 0)
            net.first_messages.push_back(
                {e, {net.edges[e].latency + SimTime::ps(static_cast<int64_t>(below(3) * 500)), 12, 1000 + e}});
    // Edges to and from the world outside; the latter may be shorter than any window.
    for (uint32_t k = 0; k < 2; ++k)
        net.edges.push_back({kOutside, static_cast<uint32_t>(below(net.nodes)), SimTime::ps(700)});
    net.edges.push_back({static_cast<uint32_t>(below(net.nodes)), kOutside, SimTime::ns(1)});
    SimTime at;
    for (uint64_t k = 0; k < 12; ++k) {
        at += SimTime::ps(static_cast<int64_t>(below(400'000)));
        net.injections.push_back({at, inner + static_cast<uint32_t>(below(2)), 5000 + k});
    }
    return net;
}

/// Where a node's actions go.
class Actions {
  public:
    virtual ~Actions() = default;
    /// Sends over the node's k-th outgoing edge; arrives `extra` after the earliest time (FIFO is kept).
    virtual void send(uint32_t out, uint32_t hops, uint64_t id, SimTime extra) = 0;
    virtual void set_timer(uint32_t timer, SimTime at) = 0;
    virtual void cancel_timer(uint32_t timer) = 0;
    /// An event of the ordinary list.
    virtual void post(const EventKey& key, uint64_t value) = 0;
    virtual void record(const TraceRecord& record) = 0;
};

/// State and reactions of one node.
class Behaviour {
  public:
    static constexpr uint32_t kTimers = 4;

    Behaviour(uint64_t seed, uint32_t node, uint32_t outs)
        : draws_(seed, component_id("node") + node, DrawPurpose::Other), node_(node), outs_(outs) {}

    [[nodiscard]] SourceId source(uint32_t local) const { return (uint64_t{node_} << 32) | local; }

    void on_message(uint32_t in, const Message& m, Actions& out) {
        note({m.arrival, EventPhase::Deliver, source(in)}, 1, m.id, out);
        react(m.arrival, EventPhase::Deliver, m.hops, m.id, out);
    }
    void on_timer(SimTime now, uint32_t timer, Actions& out) {
        note({now, EventPhase::Timer, source(timer)}, 2, timer, out);
        react(now, EventPhase::Timer, 3, draw(1'000'000), out);
    }
    void on_posted(const EventKey& key, uint64_t value, Actions& out) {
        note(key, 3, value, out);
        if (draw(3) == 0) react(key.time, key.phase, 2, value, out);
    }
    [[nodiscard]] uint64_t hash() const { return hash_; }

  private:
    uint64_t draw(uint64_t n) { return draws_.below(n, ordinal_++); }

    void note(const EventKey& key, uint32_t kind, uint64_t value, Actions& out) {
        hash_ = mix64(hash_ ^ mix64(static_cast<uint64_t>(key.time.in_ps())) ^ (value * 3) ^ kind);
        out.record({key, kind, value, hash_});
    }
    void react(SimTime now, EventPhase phase, uint32_t hops, uint64_t id, Actions& out) {
        if (hops > 0 && draw(8) != 0) {
            const uint64_t copies = draw(6) == 0 ? 2 : 1;
            for (uint64_t c = 0; c < copies; ++c)
                out.send(static_cast<uint32_t>(draw(outs_)), hops - 1, id * 2 + c,
                         SimTime::ps(static_cast<int64_t>(draw(4) * 2'500)));
        }
        if (draw(3) == 0) out.set_timer(static_cast<uint32_t>(draw(kTimers)), now + SimTime::ps(1 + span()));
        if (draw(4) == 0) out.cancel_timer(static_cast<uint32_t>(draw(kTimers)));
        if (draw(4) == 0) {
            // Later in the same picosecond where the phase allows it.
            constexpr EventPhase kPhases[] = {EventPhase::Fault, EventPhase::RateUpdate, EventPhase::Transmit,
                                              EventPhase::Observe};
            const EventPhase p = kPhases[draw(4)];
            const SimTime delay = p > phase && draw(2) == 0 ? SimTime::zero() : SimTime::ps(1 + span());
            out.post({now + delay, p, source(100 + static_cast<uint32_t>(draw(2)))}, draw(1'000'000));
        }
    }
    /// Mostly short, sometimes far beyond the ring of windows.
    int64_t span() {
        const uint64_t kind = draw(10);
        return static_cast<int64_t>(kind == 0 ? draw(20'000'000) : kind < 4 ? draw(4) : draw(300'000));
    }

    Draws draws_;
    uint64_t ordinal_ = 0;
    uint64_t hash_ = 0;
    uint32_t node_;
    uint32_t outs_;
};

/// What a run leaves: everything that must be equal.
struct Outcome {
    std::vector<TraceRecord> trace;
    std::vector<uint64_t> node_hashes;
    std::vector<std::pair<int64_t, uint64_t>> outside;  ///< (arrival, id) of what left the engine
};

/// No more events than this: networks that grow without end are cut at this time.
inline constexpr SimTime kRunLength = SimTime::us(40);

/// The naive reference: one sorted list of events.
[[nodiscard]] Outcome run_reference(const NetworkSpec& net);

/// How the real engine is to run.
struct RunOptions {
    SimTime window = SimTime::zero();
    unsigned threads = 1;
    uint64_t cut_seed = 0;  ///< not 0: windows end at random limits
    bool ask_next = false;  ///< ask for (and check) next_event_time between windows
};
[[nodiscard]] Outcome run_engine(const NetworkSpec& net, const RunOptions& options);

}  // namespace simverbs::sim::test
