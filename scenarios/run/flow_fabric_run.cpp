// How a run of flows ends, what it has counted, and what is told when it ends badly: who waits for whom, which headroom
// was too small.
#include <algorithm>
#include <bit>
#include <functional>

#include "scenarios/run/flow_fabric.hpp"

namespace simverbs::scenarios::run {

using sim::SimTime;

namespace {

/// Over the hosts that have one; null stands for the others.
template <class F>
uint64_t sum_of(const std::vector<std::unique_ptr<flow::FlowNic>>& nics, F of) {
    uint64_t sum = 0;
    for (const auto& nic : nics) sum += nic ? of(*nic) : 0;
    return sum;
}

}  // namespace

FlowRunResult FlowFabric::run_until_done(const FlowRunLimit& limit) {
    constexpr int64_t kLooksPerPatience = 8;
    // A requester gives up after retry_cnt + 1 timeouts; the slowest that congestion control makes one (1 Mb/s) sends a
    // packet every 33 ms.
    const SimTime longest_silence =
        std::max(config_.nics.retransmission_timeout * (config_.nics.retry_cnt + 2), SimTime::ms(100));
    const SimTime patience = limit.patience != SimTime::zero() ? limit.patience : longest_silence;
    uint64_t last_progress = progress();
    SimTime progressed_at = engine_->frontier();
    for (;;) {
        const SimTime next = engine_->next_event_time();
        if (next == SimTime::max()) {
            if (outstanding()) return {FlowRunEnd::Stuck, engine_->stuck_dump()};
            return {FlowRunEnd::Idle, never_begun()};
        }
        if (next >= limit.time) {
            engine_->run_until(limit.time);
            return {FlowRunEnd::TimeLimit, {}};
        }
        engine_->run_until(std::min(limit.time, next + std::max(patience / kLooksPerPatience, SimTime::ps(1))));
        const uint64_t now = progress();
        if (now != last_progress || !outstanding()) {
            last_progress = now;
            progressed_at = engine_->frontier();
        } else if (engine_->frontier() - progressed_at >= patience) {
            return {FlowRunEnd::Stuck, engine_->stuck_dump()};
        }
    }
}

uint64_t FlowFabric::hops() const {
    uint64_t sum = sum_of(nics_, [](const flow::FlowNic& nic) { return nic.counters().tx_packets; });
    for (size_t i = 0; i < adapters_.size(); ++i)
        for (size_t port = 1; port <= adapters_.nic(i).config().ports.size(); ++port)
            sum += adapters_.nic(i).link_counts(static_cast<uint8_t>(port)).tx_packets;
    for (const auto& s : switches_)
        for (fabric::PortIndex p = 0; p < s->config().ports; ++p) sum += s->counters(p).tx_packets;
    return sum;
}

uint64_t FlowFabric::ended() const {
    return sum_of(nics_, [](const flow::FlowNic& nic) { return nic.ended(); });
}

SimTime FlowFabric::next_start() const {
    SimTime next = SimTime::max();
    for (const auto& nic : nics_)
        if (nic) next = std::min(next, nic->next_start());
    return next;
}

uint64_t FlowFabric::active() const {
    return sum_of(nics_, [](const flow::FlowNic& nic) { return nic.active(); });
}

bool FlowFabric::outstanding() const {
    return active() != 0 || adapters_.outstanding();
}

void FlowFabric::check_conservation() const {
    for (const auto& s : switches_) s->buffer().check();
}

size_t FlowFabric::memory() const {
    size_t sum = flows_->memory() + engine_->memory();
    for (const auto& l : links_) sum += l->memory();
    for (const auto& s : switches_) sum += s->memory();
    return sum + sum_of(nics_, [](const flow::FlowNic& nic) { return nic.memory(); });
}

/// What is left when everything has come to rest.
std::string FlowFabric::never_begun() const {
    uint64_t count = 0;
    for (flow::FlowIndex f = 0; f < flows_->size(); ++f) count += flows_->result(f).started == SimTime::max() ? 1 : 0;
    if (count == 0) return {};
    return "  " + std::to_string(count) + " flows never began: a flow that they wait for has failed\n";
}

uint64_t FlowFabric::progress() const {
    return adapters_.progress() + sum_of(nics_, [](const flow::FlowNic& nic) { return nic.progress(); });
}

void FlowFabric::describe(std::string& out) const {
    constexpr size_t kFlowsTold = 4;
    constexpr size_t kNicsTold = 16;
    size_t told = 0;
    for (const auto& nic : nics_) {
        if (nic == nullptr || nic->active() == 0) continue;
        if (told++ == kNicsTold) {
            out += "  and more hosts\n";
            break;
        }
        nic->describe(out, kFlowsTold);
    }
    adapters_.describe(out);
    for (size_t i = 0; i < switches_.size(); ++i) {
        const fabric::Switch& s = *switches_[i];
        for (fabric::PortIndex p = 0; p < s.config().ports; ++p) {
            for (uint32_t rest = s.stopped_priorities(p); rest != 0; rest &= rest - 1) {
                const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
                out += "  " + s.config().path + "/" + std::to_string(p) + ": " +
                       std::to_string(s.queue_bytes(p, priority)) + " bytes of priority " + std::to_string(priority) +
                       (config_.layer == link::LinkLayer::InfiniBand ? " have no credits from " : " are paused by ") +
                       topology_.name_of(switch_peers_[i][p].node) + "\n";
            }
        }
    }
    for (const FabricStorm& s : config_.storms) {
        const topologies::Link& l = topology_.links[s.link];
        if (s.until > engine_->frontier() && storm_frames(s) > 0)
            out += "  " + topology_.name_of((s.at_a ? l.a : l.b).node) + " pauses " +
                   topology_.name_of((s.at_a ? l.b : l.a).node) + " on priority " + std::to_string(s.priority) +
                   " without end (fault '" + s.name + "')\n";
    }
    out += pause_cycle();
}

/// A queue that may not send waits for its peer, where packets of its ingress wait in queues that may not send either.
std::string FlowFabric::pause_cycle() const {
    struct Stop {
        uint32_t node;
        fabric::PortIndex port;
        uint32_t priority;
        bool operator==(const Stop&) const = default;
    };
    std::vector<Stop> path;
    std::vector<Stop> done;
    std::string text;
    const std::function<bool(const Stop&)> visit = [&](const Stop& at) {
        if (const auto seen = std::ranges::find(path, at); seen != path.end()) {
            text = "  a circle of waiting:";
            for (auto i = seen; i != path.end(); ++i)
                text += " " + switches_[i->node]->config().path + "/" + std::to_string(i->port) + " ->";
            text += " " + switches_[at.node]->config().path + "/" + std::to_string(at.port) + " (priority " +
                    std::to_string(at.priority) + ")\n";
            return true;
        }
        if (std::ranges::find(done, at) != done.end()) return false;
        path.push_back(at);
        const Peer& peer = switch_peers_[at.node][at.port];
        if (peer.node.is_switch) {
            const fabric::Switch& next = *switches_[peer.node.index];
            for (fabric::PortIndex p = 0; p < next.config().ports; ++p) {
                for (uint32_t rest = next.stopped_priorities(p); rest != 0; rest &= rest - 1) {
                    const auto priority = static_cast<uint32_t>(std::countr_zero(rest));
                    if (!next.holds_from(p, priority, peer.port, at.priority)) continue;
                    if (visit({peer.node.index, p, priority})) return true;
                }
            }
        }
        path.pop_back();
        done.push_back(at);
        return false;
    };
    for (uint32_t i = 0; i < switches_.size(); ++i)
        for (fabric::PortIndex p = 0; p < switches_[i]->config().ports; ++p)
            for (uint32_t rest = switches_[i]->stopped_priorities(p); rest != 0; rest &= rest - 1)
                if (visit({i, p, static_cast<uint32_t>(std::countr_zero(rest))})) return text;
    return text;
}

std::string FlowFabric::lossless_drops() const {
    std::string out;
    for (const auto& s : switches_) {
        uint64_t drops = 0;
        for (fabric::PortIndex p = 0; p < s->config().ports; ++p) drops += s->counters(p).drops_headroom;
        if (drops == 0) continue;
        const sim::ByteCount has = s->config().buffer.headroom, wanted = s->buffer().max_headroom_wanted();
        out += "  " + s->config().path + ": " + std::to_string(drops) +
               " packets of lossless priorities dropped: headroom of " + std::to_string(has) +
               " bytes is too small by " + std::to_string(wanted - has) + "\n";
    }
    return out;
}

}  // namespace simverbs::scenarios::run
