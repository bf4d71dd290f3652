// The naive reference engine: all events in one sorted list, nothing clever.
#include <map>
#include <memory>
#include <optional>

#include "random_network.hpp"

namespace simverbs::sim::test {

namespace {

struct Event {
    enum class Kind { Message, Timer, Posted, Inject } kind;
    uint32_t node = 0;
    uint32_t local = 0;  ///< in-port, timer, injection
    Message message;
    uint64_t value = 0;
};
using EventMap = std::multimap<EventKey, Event>;

struct Reference;

struct NodeActions final : Actions {
    Reference* all = nullptr;
    uint32_t node = 0;
    SimTime now;
    std::vector<uint32_t> out_edges;
    std::optional<EventMap::iterator> timers[Behaviour::kTimers];
    std::unique_ptr<Behaviour> behaviour;

    void send(uint32_t out, uint32_t hops, uint64_t id, SimTime extra) override;
    void set_timer(uint32_t timer, SimTime at) override;
    void cancel_timer(uint32_t timer) override;
    void post(const EventKey& key, uint64_t value) override;
    void record(const TraceRecord& record) override;
};

struct Reference {
    explicit Reference(const NetworkSpec& spec)
        : net(spec), nodes(spec.nodes), last(spec.edges.size()), in_port(spec.edges.size()) {
        std::vector<uint32_t> ins(net.nodes, 0);
        for (uint32_t e = 0; e < net.edges.size(); ++e) {
            if (net.edges[e].from != kOutside) nodes[net.edges[e].from].out_edges.push_back(e);
            if (net.edges[e].to != kOutside) in_port[e] = ins[net.edges[e].to]++;
        }
        for (uint32_t n = 0; n < net.nodes; ++n) {
            nodes[n].all = this;
            nodes[n].node = n;
            nodes[n].behaviour =
                std::make_unique<Behaviour>(net.seed, n, static_cast<uint32_t>(nodes[n].out_edges.size()));
        }
    }

    void deliver(uint32_t edge, const Message& m) {
        const uint32_t to = net.edges[edge].to;
        if (to == kOutside) {
            outcome.outside.emplace_back(m.arrival.in_ps(), m.id);
            return;
        }
        events.emplace(EventKey{m.arrival, EventPhase::Deliver, nodes[to].behaviour->source(in_port[edge])},
                       Event{Event::Kind::Message, to, in_port[edge], m, 0});
    }

    void run() {
        for (const auto& [edge, m] : net.first_messages) {
            last[edge] = m.arrival;
            deliver(edge, m);
        }
        for (uint32_t i = 0; i < net.injections.size(); ++i)
            events.emplace(EventKey{net.injections[i].time, EventPhase::Fault, 0},
                           Event{Event::Kind::Inject, 0, i, {}, 0});
        while (!events.empty() && events.begin()->first.time < kRunLength) {
            const auto [key, event] = *events.begin();
            if (event.kind == Event::Kind::Timer) nodes[event.node].timers[event.local].reset();
            events.erase(events.begin());
            NodeActions& n = nodes[event.node];
            n.now = key.time;
            switch (event.kind) {
                case Event::Kind::Message:
                    n.behaviour->on_message(event.local, event.message, n);
                    break;
                case Event::Kind::Timer:
                    n.behaviour->on_timer(key.time, event.local, n);
                    break;
                case Event::Kind::Posted:
                    n.behaviour->on_posted(key, event.value, n);
                    break;
                case Event::Kind::Inject: {
                    const Injection& i = net.injections[event.local];
                    last[i.edge] = std::max(last[i.edge], i.time + net.edges[i.edge].latency);
                    deliver(i.edge, {last[i.edge], 6, i.id});
                    break;
                }
            }
        }
        for (const auto& n : nodes) outcome.node_hashes.push_back(n.behaviour->hash());
    }

    const NetworkSpec& net;
    EventMap events;
    std::vector<NodeActions> nodes;
    std::vector<SimTime> last;
    std::vector<uint32_t> in_port;
    Outcome outcome;
};

void NodeActions::send(uint32_t out, uint32_t hops, uint64_t id, SimTime extra) {
    const uint32_t edge = out_edges[out];
    SimTime& last = all->last[edge];
    last = std::max(last, now + all->net.edges[edge].latency + extra);
    all->deliver(edge, {last, hops, id});
}
void NodeActions::set_timer(uint32_t timer, SimTime at) {
    cancel_timer(timer);
    timers[timer] = all->events.emplace(EventKey{at, EventPhase::Timer, behaviour->source(timer)},
                                        Event{Event::Kind::Timer, node, timer, {}, 0});
}
void NodeActions::cancel_timer(uint32_t timer) {
    if (timers[timer]) all->events.erase(*timers[timer]);
    timers[timer].reset();
}
void NodeActions::post(const EventKey& key, uint64_t value) {
    all->events.emplace(key, Event{Event::Kind::Posted, node, 0, {}, value});
}
void NodeActions::record(const TraceRecord& record) {
    all->outcome.trace.push_back(record);
}

}  // namespace

Outcome run_reference(const NetworkSpec& net) {
    Reference reference(net);
    reference.run();
    return reference.outcome;
}

}  // namespace simverbs::sim::test
