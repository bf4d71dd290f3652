// The random network on the real engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "random_network.hpp"
#include "sim/activity.hpp"
#include "sim/engine.hpp"
#include "sim/event_list.hpp"
#include "sim/link_ring.hpp"
#include "sim/timer.hpp"

namespace simverbs::sim::test {

namespace {

using MessageChannel = Channel<Message>;

class RandomNode final : public Node, public Actions {
  public:
    RandomNode(uint64_t seed, uint32_t number, uint32_t outs) : behaviour_(seed, number, outs) {
        for (uint32_t t = 0; t < Behaviour::kTimers; ++t) timers_.emplace_back(queue_, behaviour_.source(t), t);
    }
    void add_in(MessageChannel& c) { ins_.push_back(&c); }
    void add_out(MessageChannel& c) { outs_.push_back({&c, SimTime::zero()}); }
    void set_last(const MessageChannel& c, SimTime t) {
        for (auto& o : outs_)
            if (o.channel == &c) o.last = t;
    }
    [[nodiscard]] const Behaviour& behaviour() const { return behaviour_; }

    void run_window(SimTime end) override {
        start_ = activity().window_start();
        end_ = end;
        LocalQueue& local = activity().local_queue();
        const auto ins = static_cast<uint32_t>(ins_.size());
        local.reset(ins + 2);
        for (uint32_t i = 0; i < ins; ++i) local.set_leaf(i, key(ins_[i]->head_time(), EventPhase::Deliver, i));
        local.set_leaf(ins, timer_key());
        local.set_leaf(ins + 1, list_key());
        local.build();
        while (local.top() != kNoEvent) {
            const uint32_t source = local_key_source(local.top());
            now_ = start_ + local_key_time(local.top());
            if (source < ins) {
                const Message m = ins_[source]->front();
                ins_[source]->pop();
                behaviour_.on_message(source, m, *this);
                local.update(source, key(ins_[source]->head_time(), EventPhase::Deliver, source));
            } else if (source == ins) {
                const auto timer = static_cast<uint32_t>(queue_.pop());
                behaviour_.on_timer(now_, timer, *this);
            } else {
                const EventKey k = list_.next_key();
                behaviour_.on_posted(k, list_.pop(), *this);
            }
            local.update(ins, timer_key());
            local.update(ins + 1, list_key());
        }
    }
    [[nodiscard]] SimTime next_event_time() const override {
        SimTime t = std::min(queue_.next_time(), list_.next_time());
        for (const auto* c : ins_) t = std::min(t, c->head_time());
        return t;
    }

    void send(uint32_t out, uint32_t hops, uint64_t id, SimTime extra) override {
        auto& o = outs_[out];
        o.last = std::max(o.last, now_ + o.channel->latency() + extra);
        o.channel->push({o.last, hops, id});
    }
    void set_timer(uint32_t timer, SimTime at) override {
        timers_[timer].set(at);
        engine().wake(id(), at);
    }
    void cancel_timer(uint32_t timer) override {
        timers_[timer].cancel();
        timers_[timer].cancel();
    }
    void post(const EventKey& key, uint64_t value) override {
        list_.push(key, value);
        engine().wake(id(), key.time);
    }
    void record(const TraceRecord& record) override { engine().trace(*this, record); }

  private:
    struct Out {
        MessageChannel* channel;
        SimTime last;
    };
    [[nodiscard]] LocalKey key(SimTime t, EventPhase phase, uint32_t source) const {
        return t < end_ ? local_key(t - start_, phase, source) : kNoEvent;
    }
    [[nodiscard]] LocalKey timer_key() const {
        return key(queue_.next_time(), EventPhase::Timer, static_cast<uint32_t>(ins_.size()));
    }
    [[nodiscard]] LocalKey list_key() const {
        return list_.empty() ? kNoEvent
                             : key(list_.next_time(), list_.next_key().phase, static_cast<uint32_t>(ins_.size()) + 1);
    }

    Behaviour behaviour_;
    std::vector<MessageChannel*> ins_;
    std::vector<Out> outs_;
    TimerQueue queue_;
    std::vector<Timer> timers_;
    EventList<uint64_t> list_;
    SimTime start_;
    SimTime end_;
    SimTime now_;
};

class CollectingSink final : public TraceSink {
  public:
    void on_records(std::span<const TraceRecord> records) override {
        trace.insert(trace.end(), records.begin(), records.end());
    }
    std::vector<TraceRecord> trace;
};

/// Runs to `until` with windows cut at random places (or not).
void advance(Engine& engine, SimTime until, const RunOptions& options, uint64_t& ordinal) {
    if (options.cut_seed == 0 && !options.ask_next) return engine.run_until(until);
    const Draws draws(options.cut_seed, 1, DrawPurpose::Other);
    while (engine.frontier() < until) {
        SimTime limit = until;
        if (options.cut_seed != 0)
            limit = std::min(until,
                             engine.frontier() + SimTime::ps(static_cast<int64_t>(1 + draws.below(30'000, ordinal++))));
        if (!options.ask_next) {
            engine.run_window(limit);
            continue;
        }
        const SimTime next = engine.next_event_time();
        EXPECT_EQ(next, engine.next_event_time());
        const SimTime before = engine.frontier();
        engine.run_window(limit);
        EXPECT_GT(engine.frontier(), before);
        // Nothing that is pending was overtaken, and nothing that was announced was late.
        EXPECT_GE(engine.next_event_time(), engine.frontier());
        if (next >= limit) {
            EXPECT_EQ(engine.next_event_time(), next);
        }
    }
}

}  // namespace

Outcome run_engine(const NetworkSpec& net, const RunOptions& options) {
    Engine engine({.window = options.window, .threads = options.threads, .seed = net.seed});
    CollectingSink sink;
    engine.set_trace_sink(&sink);

    std::vector<uint32_t> outs(net.nodes, 0);
    for (const EdgeSpec& e : net.edges)
        if (e.from != kOutside) ++outs[e.from];
    std::vector<std::unique_ptr<RandomNode>> nodes;
    for (uint32_t n = 0; n < net.nodes; ++n) {
        nodes.push_back(std::make_unique<RandomNode>(net.seed, n, outs[n]));
        engine.add_node(*nodes.back(), net.seed % 2 == 0 ? Engine::kAnyPartition : n);
    }
    std::vector<std::unique_ptr<MessageChannel>> channels;
    for (const EdgeSpec& e : net.edges) {
        auto& c = *channels.emplace_back(
            std::make_unique<MessageChannel>(engine, e.from == kOutside ? kExternal : nodes[e.from]->id(),
                                             e.to == kOutside ? kExternal : nodes[e.to]->id(), e.latency));
        if (e.from != kOutside) nodes[e.from]->add_out(c);
        if (e.to != kOutside) nodes[e.to]->add_in(c);
    }
    for (const auto& [edge, m] : net.first_messages) {
        channels[edge]->push(m);
        nodes[net.edges[edge].from]->set_last(*channels[edge], m.arrival);
    }
    uint64_t ordinal = 0;
    std::vector<SimTime> last(net.edges.size());
    for (const Injection& i : net.injections) {
        advance(engine, i.time, options, ordinal);
        last[i.edge] = std::max(last[i.edge], i.time + net.edges[i.edge].latency);
        channels[i.edge]->push({last[i.edge], 6, i.id});
    }
    advance(engine, kRunLength, options, ordinal);

    Outcome outcome;
    outcome.trace = std::move(sink.trace);
    for (const auto& n : nodes) outcome.node_hashes.push_back(n->behaviour().hash());
    MessageChannel& leaving = *channels.back();
    for (; !leaving.empty(); leaving.pop())
        outcome.outside.emplace_back(leaving.front().arrival.in_ps(), leaving.front().id);
    return outcome;
}

}  // namespace simverbs::sim::test
