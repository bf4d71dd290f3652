// A fabric of flows for tests: topology, plan and configuration to fill in, taps on NICs, congestion control by script.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/cc/register_algorithms.hpp"
#include "models/wire/aeth_syndrome.hpp"
#include "models/wire/opcode.hpp"
#include "scenarios/run/flow_fabric.hpp"
#include "scenarios/topologies/clos_topologies.hpp"
#include "scenarios/topologies/small_topologies.hpp"

namespace simverbs::test {

using flow::FlowStatus;
using scenarios::run::FlowFabric;
using scenarios::run::FlowRunEnd;
using sim::BitRate;
using sim::SimTime;
namespace topologies = scenarios::topologies;

inline bool is_ack(const wire::Packet& p) {
    return p.opcode == wire::kAckOpcode;
}
inline bool is_nak(const wire::Packet& p) {
    return is_ack(p) && p.aeth_syndrome >> 5 == static_cast<uint32_t>(wire::SyndromeKind::Nak);
}
inline bool is_data(const wire::Packet& p) {
    return !is_ack(p) && p.opcode != wire::kCnpOpcode;
}

/// Everything that passes a port.
class PortLog final : public link::PacketObserver {
  public:
    struct Entry {
        SimTime time;
        wire::Packet packet;
        bool out;
    };
    void on_packet(SimTime time, const wire::Packet& packet, link::Direction direction) override {
        entries.push_back({time, packet, direction == link::Direction::Out});
    }
    /// PSNs of the data packets that were sent, in order.
    [[nodiscard]] std::vector<uint32_t> data_sent() const {
        std::vector<uint32_t> psns;
        for (const Entry& e : entries)
            if (e.out && is_data(e.packet)) psns.push_back(e.packet.psn);
        return psns;
    }
    [[nodiscard]] std::vector<int64_t> data_times() const {
        std::vector<int64_t> times;
        for (const Entry& e : entries)
            if (e.out && is_data(e.packet)) times.push_back(e.time.in_ps());
        return times;
    }
    [[nodiscard]] size_t count(bool (*what)(const wire::Packet&), bool out) const {
        size_t n = 0;
        for (const Entry& e : entries) n += e.out == out && what(e.packet) ? 1 : 0;
        return n;
    }
    std::vector<Entry> entries;
};

/// Congestion control that does what a test says.
class ScriptedCc final : public cc::CongestionControl {
  public:
    explicit ScriptedCc(cc::Control first) : first_(first) {}
    [[nodiscard]] std::string_view name() const noexcept override { return "scripted"; }
    [[nodiscard]] size_t state_size() const noexcept override { return 8; }
    [[nodiscard]] cc::Needs needs() const noexcept override { return {}; }
    void start(void*, const cc::PathFacts&, cc::Control& control) const noexcept override { control = first_; }
    void on_time(void*, const cc::PathFacts&, SimTime now, cc::Control& control) const noexcept override {
        if (at_update) at_update(now, control);
    }
    std::function<void(SimTime, cc::Control&)> at_update;

  private:
    cc::Control first_;
};

/// Fill in the public members, then build() and run.
class FlowRig {
  public:
    FlowRig() { config.nics.payload_bytes = 1000; }

    static FlowRig back_to_back(SimTime delay = SimTime::us(1), BitRate rate = BitRate::gbps(100)) {
        FlowRig rig;
        (void)topologies::make_back_to_back(rig.topology, {{rate, delay}});
        return rig;
    }
    static FlowRig single_switch(uint32_t hosts, SimTime delay = SimTime::us(1), BitRate rate = BitRate::gbps(100)) {
        FlowRig rig;
        (void)topologies::make_single_switch(rig.topology, {hosts, {rate, delay}});
        return rig;
    }
    static FlowRig fat_tree(uint32_t k, SimTime delay = SimTime::us(1)) {
        FlowRig rig;
        (void)topologies::make_k_ary_fat_tree(rig.topology, {k, {BitRate::gbps(100), delay}});
        return rig;
    }
    /// Number of the new flow.
    flow::FlowIndex add(uint32_t src, uint32_t dst, int64_t bytes, SimTime start = {}, uint8_t priority = 3) {
        plan.flows.push_back({src, dst, bytes, start, 0, priority});
        return static_cast<flow::FlowIndex>(plan.flows.size() - 1);
    }
    void use(const char* algorithm_name, const cc::Parameters& parameters = {}) {
        algorithm = cc::make(*cc::find_algorithm(algorithm_name), parameters);
    }
    /// PFC on priority 3, as in FACTS.
    void use_pfc(sim::ByteCount buffer) {
        config.switches.buffer.total = buffer;
        config.switches.buffer.lossless = 1 << 3;
        config.switches.buffer.cell = 96;
    }
    FlowFabric& build() {
        if (!algorithm) use("none");
        config.cc = algorithm.get();
        fabric = std::make_unique<FlowFabric>(topology, plan, config);
        logs.resize(topology.hosts.size());
        return *fabric;
    }
    PortLog& tap(uint32_t host) {
        logs[host] = std::make_unique<PortLog>();
        fabric->nic(host).set_observer(logs[host].get());
        return *logs[host];
    }
    [[nodiscard]] const flow::FlowResult& result(flow::FlowIndex flow) const { return fabric->flows().result(flow); }

    topologies::Topology topology;
    flow::FlowPlan plan;
    scenarios::run::FlowFabricConfig config;
    std::unique_ptr<cc::CongestionControl> algorithm;
    std::vector<std::unique_ptr<PortLog>> logs;
    std::unique_ptr<FlowFabric> fabric;
};

/// Nothing is left anywhere: packets, records, buffer bytes, requesters.
inline std::string leftovers(FlowFabric& fabric) {
    std::string out;
    fabric.check_conservation();
    if (fabric.pool().in_use() != 0) out += std::to_string(fabric.pool().in_use()) + " packet records; ";
    if (fabric.active() != 0) out += std::to_string(fabric.active()) + " flows; ";
    for (size_t i = 0; i < fabric.switch_count(); ++i) {
        const fabric::Switch& s = std::as_const(fabric).fabric_switch(i);
        if (s.packets_inside() != 0 || s.buffered_bytes() != 0 || s.buffer().used() != 0)
            out += s.config().path + " holds packets; ";
    }
    return out;
}

}  // namespace simverbs::test
