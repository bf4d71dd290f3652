// One lossless switch with hosts reduced to their ports, for tests of pauses: who pauses whom, when, and for how long.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/link/link.hpp"
#include "models/pfc/pfc.hpp"
#include "models/switch/switch.hpp"
#include "models/wire/opcode.hpp"
#include "sim/activity.hpp"
#include "sim/engine.hpp"

namespace simverbs::test {

/// A host that sends what it is told to, obeys pauses (or not), sends pauses when told to, and writes down everything.
class PfcHost final : public sim::Node {
  public:
    struct Seen {
        sim::SimTime time;
        wire::Packet packet;
    };
    struct Pause {
        sim::SimTime time;  ///< when it takes effect here
        uint16_t priorities;
        uint16_t quanta;
    };
    struct Burst {
        wire::LeafId dest = 0;
        uint64_t packets = 0;
        uint16_t payload = 1000;
        uint32_t priority = 3;
        sim::SimTime start;
        uint8_t flags = wire::kEcnCapable;
        uint16_t flow_hash = 0;
    };

    void attach_port(const link::PortWiring& wiring) { port = wiring; }
    void send(const Burst& burst) {
        bursts.push_back(burst);
        engine().wake(id(), burst.start);
    }
    /// A pause frame whose first bit leaves at `at`.
    void send_pause_at(sim::SimTime at, uint16_t priorities, uint16_t quanta) {
        frames.push_back({at, priorities, quanta});
        engine().wake(id(), at);
    }

    void run_window(sim::SimTime end) override {
        for (;;) {
            const sim::SimTime t = next_event_time();
            if (t >= end) {
                if (t != sim::SimTime::max()) activity().wake(id(), t);
                return;
            }
            step(t);
        }
    }
    [[nodiscard]] sim::SimTime next_event_time() const override {
        sim::SimTime t = std::min({port.ingress.next_time(), next_send()});
        if (port.control.in != nullptr) t = std::min(t, port.control.in->head_time());
        if (!frames.empty()) t = std::min(t, frames.front().time);
        return t;
    }

    link::PortWiring port;
    std::deque<Burst> bursts;
    std::deque<Pause> frames;
    std::vector<Seen> received;
    std::vector<Seen> sent;
    std::vector<Pause> pauses;
    bool obeys = true;

  private:
    [[nodiscard]] bool may_send(const Burst& b, sim::SimTime t) const {
        return !obeys || paused_until_[b.priority] <= t;
    }
    /// The first burst that can send does.
    [[nodiscard]] sim::SimTime next_send() const {
        sim::SimTime best = sim::SimTime::max();
        for (const Burst& b : bursts) {
            sim::SimTime t = std::max(b.start, port.egress.busy_until);
            if (obeys) t = std::max(t, paused_until_[b.priority]);
            best = std::min(best, t);
        }
        return best;
    }
    void step(sim::SimTime now) {
        if (port.control.in != nullptr && port.control.in->head_time() == now) {
            const link::FlowControlFrame f = port.control.in->front();
            port.control.in->pop();
            pauses.push_back({now, f.priorities, f.quanta});
            for (uint32_t p = 0; p < pfc::kPriorities; ++p)
                if ((f.priorities >> p) & 1) paused_until_[p] = now + pfc::quanta_time(f.quanta, port.params.rate);
            return;
        }
        if (port.ingress.next_time() == now) {
            wire::Packet p;
            if (port.ingress.pop(p, shard())) received.push_back({now, p});
            return;
        }
        if (!frames.empty() && frames.front().time == now) {
            const Pause f = frames.front();
            frames.pop_front();
            port.control.out->push(
                {.arrival = now + port.control.latency, .priorities = f.priorities, .quanta = f.quanta});
            return;
        }
        for (size_t i = 0; i < bursts.size(); ++i) {
            Burst& b = bursts[i];
            if (std::max(b.start, port.egress.busy_until) > now || !may_send(b, now)) continue;
            wire::Packet p;
            p.dest = b.dest & 0x3FFFF;
            p.priority = b.priority & 0xF;
            p.ttl = 8;
            p.opcode = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::WriteMiddle);
            p.psn = number_++ & 0xFFFFFF;
            p.flags = b.flags;
            p.flow_hash = b.flow_hash;
            p.payload_bytes = b.payload;
            port.egress.transmit(p, port.egress.bytes_of(p), now);
            sent.push_back({now, p});
            if (--b.packets == 0) bursts.erase(bursts.begin() + static_cast<std::ptrdiff_t>(i));
            return;
        }
    }
    std::array<sim::SimTime, pfc::kPriorities> paused_until_{};
    uint32_t number_ = 0;
};

/// Hosts 0 … n-1 on ports 0 … n-1.
class PfcStar {
  public:
    struct Cable {
        sim::BitRate rate = sim::BitRate::gbps(100);
        sim::SimTime propagation = sim::SimTime::ns(50);
        sim::SimTime pause_response = sim::SimTime::max();  ///< max(): the table's
    };
    explicit PfcStar(fabric::SwitchConfig config) {
        config.path = "sw0";
        if (config.ports == 0) config.ports = 8;
        sw = std::make_unique<fabric::Switch>(config, nullptr);
        engine.add_node(*sw);
    }
    PfcHost& add() { return add(Cable{}); }
    PfcHost& add(const Cable& cable) {
        const auto n = static_cast<fabric::PortIndex>(hosts.size());
        hosts.push_back(std::make_unique<PfcHost>());
        engine.add_node(*hosts.back());
        link::LinkParams params;
        params.rate = cable.rate;
        params.propagation = cable.propagation;
        params.flow_control = true;
        params.pause_response =
            cable.pause_response == sim::SimTime::max() ? pfc::response_time(cable.rate) : cable.pause_response;
        cables.push_back(std::make_unique<link::Link>(
            engine, params, link::LinkEnd{hosts.back()->id(), "h" + std::to_string(n), {}},
            link::LinkEnd{sw->id(), "sw0/" + std::to_string(n), sw->config().pipeline_latency}, nullptr));
        hosts.back()->attach_port(cables.back()->wiring_a());
        sw->attach_port(n, cables.back()->wiring_b());
        sw->table().set_route(n, sw->table().add_group({&n, 1}));
        return *hosts.back();
    }
    [[nodiscard]] uint64_t headroom_drops() const {
        uint64_t sum = 0;
        for (fabric::PortIndex p = 0; p < hosts.size(); ++p) sum += sw->counters(p).drops_headroom;
        return sum;
    }

    sim::Engine engine;
    std::unique_ptr<fabric::Switch> sw;
    std::vector<std::unique_ptr<PfcHost>> hosts;
    std::vector<std::unique_ptr<link::Link>> cables;
};

}  // namespace simverbs::test
