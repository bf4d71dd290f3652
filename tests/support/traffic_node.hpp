// A NIC reduced to its port: sends packets at a steady pace, counts and hashes what comes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/link/ports.hpp"
#include "models/wire/opcode.hpp"
#include "models/wire/packet.hpp"
#include "sim/activity.hpp"
#include "sim/engine.hpp"
#include "sim/node.hpp"
#include "sim/rng.hpp"

namespace simverbs::test {

struct TrafficConfig {
    wire::LeafId self = 0;
    wire::LeafId dest = 0;
    uint64_t packets = 0;  ///< to send; then it falls silent
    uint16_t payload_bytes = 1000;
    uint32_t priority = 0;
    double load = 1.0;   ///< share of the line rate
    bool spray = false;  ///< each packet is its own flow
    sim::SimTime first;  ///< when the first packet starts
};

class TrafficNode final : public sim::Node {
  public:
    explicit TrafficNode(const TrafficConfig& config) : config_(config) { set_hot_memory(&port_, 2, 128); }
    void attach_port(const link::PortWiring& wiring) {
        port_ = wiring;
        next_send_ = config_.first;
        if (config_.packets != 0) engine().wake(id(), next_send_);
    }
    link::PortWiring& port() { return port_; }

    void run_window(sim::SimTime end) override {
        for (;;) {
            const sim::SimTime in = port_.ingress.next_time();
            const sim::SimTime out = sent_ < config_.packets ? next_send_ : sim::SimTime::max();
            if (std::min(in, out) >= end) {
                if (out != sim::SimTime::max()) activity().wake(id(), out);
                return;
            }
            if (in <= out)
                receive();
            else
                send(out);
        }
    }
    [[nodiscard]] sim::SimTime next_event_time() const override {
        return std::min(port_.ingress.next_time(), sent_ < config_.packets ? next_send_ : sim::SimTime::max());
    }

    [[nodiscard]] uint64_t sent() const { return sent_; }
    [[nodiscard]] uint64_t received() const { return received_; }
    [[nodiscard]] uint64_t corrupt() const { return corrupt_; }
    [[nodiscard]] uint64_t out_of_order() const { return out_of_order_; }
    [[nodiscard]] sim::SimTime last_arrival() const { return last_arrival_; }
    /// Over time, sender's number and headers of every packet received, in order.
    [[nodiscard]] uint64_t hash() const { return hash_; }

  private:
    void receive() {
        wire::Packet p;
        if (!port_.ingress.pop(p, shard())) return;
        ++received_;
        corrupt_ += (p.flags & wire::kCorrupt) != 0;
        out_of_order_ += p.psn < highest_psn_;
        highest_psn_ = std::max<uint32_t>(highest_psn_, p.psn);
        last_arrival_ = p.arrival;
        hash_ = sim::mix64(hash_ ^ static_cast<uint64_t>(p.arrival.in_ps())) + (uint64_t{p.psn} << 20 | p.dest_qp);
        if (port_.ingress.pool != nullptr) port_.ingress.pool->release(shard(), p);
    }
    void send(sim::SimTime now) {
        wire::Packet p;
        p.dest = config_.dest;
        p.priority = config_.priority;
        p.ttl = 64;
        p.dest_qp = config_.self;
        p.opcode = wire::make_opcode(wire::Transport::Rc, wire::BaseOpcode::WriteMiddle);
        p.psn = static_cast<uint32_t>(sent_) & 0xFFFFFF;
        p.payload_bytes = config_.payload_bytes;
        p.flow_hash = static_cast<uint16_t>(config_.spray ? sent_ * 40503 : config_.self * 40503U);
        ++sent_;
        const uint32_t bytes = port_.egress.bytes_of(p);
        const sim::SimTime done = port_.egress.transmit(p, bytes, now);
        next_send_ = config_.load >= 1.0 ? done
                                         : now + sim::SimTime::ps(static_cast<int64_t>(
                                                     static_cast<double>((done - now).in_ps()) / config_.load));
    }

    link::PortWiring port_;
    TrafficConfig config_;
    sim::SimTime next_send_;
    uint64_t sent_ = 0;
    uint64_t received_ = 0;
    uint64_t corrupt_ = 0;
    uint64_t out_of_order_ = 0;
    uint32_t highest_psn_ = 0;
    sim::SimTime last_arrival_;
    uint64_t hash_ = 0;
};

}  // namespace simverbs::test
