#include "models/timeline/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/cm/mad.hpp"
#include "models/timeline/events.hpp"
#include "models/timeline/header_text.hpp"
#include "models/wire/opcode_table.hpp"

namespace simverbs::timeline {

/// Times are those of captures: a sent packet has that of its first bit, a received one that of its last.
class Recorder::PortTap final : public link::PacketObserver {
  public:
    PortTap(Recorder& recorder, PortFacts port, const link::IngressPort& ingress, sim::SimTime rx_pipeline)
        : recorder_(recorder), port_(port), ingress_(ingress), rx_pipeline_(rx_pipeline) {}

    void on_packet(sim::SimTime time, const wire::Packet& packet, link::Direction direction) override {
        if (direction == link::Direction::Out)
            recorder_.on_sent(port_, ingress_.bytes_of(packet), time, packet);
        else
            recorder_.on_arrived(port_, ingress_.tail_time(packet) - rx_pipeline_, packet);
    }

  private:
    Recorder& recorder_;
    PortFacts port_;
    link::IngressPort ingress_;
    sim::SimTime rx_pipeline_;
};

class Recorder::FateTap final : public link::FateObserver {
  public:
    FateTap(Recorder& recorder, std::string place, bool is_switch)
        : recorder_(recorder), place_(std::move(place)), is_switch_(is_switch) {}

    void on_fault(sim::SimTime at, const wire::Packet& packet, const link::LinkFault& fault) override {
        Packet* p = recorder_.find_open(packet);
        if (p == nullptr) {
            recorder_.count_left_out(packet);
            return;
        }
        if (!p->what_happened.empty()) p->what_happened += "; ";
        p->what_happened += fmt::format("{} on {} (fault '{}')", apply(fault, *p, at), place_, fault.path);
        if (p->fate == Fate::Lost) recorder_.open_.erase(packet.extra);
    }

    void on_copied(const wire::Packet& packet, const wire::Packet& copy) override {
        const Packet* p = recorder_.find_open(packet);
        if (p == nullptr) return;
        Packet second = *p;
        if (!is_switch_) {
            second.treatment.duplicate = true;
            second.what_happened = fmt::format("the copy that a fault made on {}", place_);
        }
        recorder_.open_[copy.extra] = static_cast<uint32_t>(recorder_.packets_.size());
        recorder_.packets_.push_back(std::move(second));
    }

    void on_discarded(sim::SimTime at, const wire::Packet& packet, const std::string& node, const char* why) override {
        Packet* p = recorder_.find_open(packet);
        if (p == nullptr) {
            recorder_.count_left_out(packet);
            return;
        }
        p->fate = Fate::Discarded;
        p->received = at;
        p->what_happened = fmt::format("discarded by switch {}: {}", node, why);
        recorder_.open_.erase(packet.extra);
    }

  private:
    static std::string apply(const link::LinkFault& fault, Packet& p, sim::SimTime at) {
        switch (fault.kind) {
            case link::FaultKind::Drop:
            case link::FaultKind::Down:
                p.fate = Fate::Lost;
                p.received = at;
                return fault.kind == link::FaultKind::Drop ? "dropped" : "lost: the link is down";
            case link::FaultKind::Corrupt:
                return "corrupted: its ICRC is wrong, the receiver discards it";
            case link::FaultKind::Duplicate:
                return "duplicated";
            case link::FaultKind::Delay:
                p.treatment.delayed = true;
                return fmt::format("delayed by {:.3f} us", static_cast<double>(fault.by.in_ps()) * 1e-6);
            case link::FaultKind::Reorder:
                p.treatment.reordered = true;
                return fmt::format("held back behind {} later packet{}", fault.behind, fault.behind == 1 ? "" : "s");
            case link::FaultKind::EcnMark:
                return "marked with congestion experienced";
        }
        return {};
    }

    Recorder& recorder_;
    std::string place_;
    bool is_switch_;
};

Recorder::Recorder(size_t most_packets) : most_packets_(most_packets), work_(most_packets) {}
Recorder::~Recorder() = default;

void Recorder::attach(fabric::Adapters& adapters, size_t nic, const std::string& host, const std::string& device) {
    adapters.carry_addresses();
    pool_ = &adapters.pool();
    mover_ = adapters.mover();
    hca::Hca& hca = adapters.nic(nic);
    const uint32_t adapter = adapters_++;
    const auto first = static_cast<uint32_t>(ports_.size());
    for (size_t i = 0; i < hca.config().ports.size(); ++i) {
        const auto number = static_cast<uint8_t>(i + 1);
        if (!adapters.is_wired(nic, number)) continue;
        const PortFacts facts{static_cast<uint32_t>(ports_.size()), adapter};
        ports_.push_back({host, device, number});
        port_of_leaf_[hca.config().ports[i].leaf] = facts;
        port_taps_.push_back(
            std::make_unique<PortTap>(*this, facts, adapters.ingress(nic, number), hca.profile().timing.rx_pipeline));
        adapters.observe(nic, number, *port_taps_.back());
    }
    if (ports_.size() == first) ports_.push_back({host, device, 1});  // its QPs stand somewhere
    hca.set_observer(&work_.tap(adapter, first));
}

void Recorder::attach(link::Link& link, const std::string& name) {
    link.observe_faults(*fate_taps_.emplace_back(std::make_unique<FateTap>(*this, name, false)));
}

void Recorder::attach(fabric::Switch& fabric_switch) {
    fabric_switch.observe_discards(
        *fate_taps_.emplace_back(std::make_unique<FateTap>(*this, fabric_switch.config().path, true)));
}

Packet* Recorder::find_open(const wire::Packet& packet) {
    const auto found = open_.find(packet.extra);
    return packet.extra == wire::kNoExtra || found == open_.end() ? nullptr : &packets_[found->second];
}

void Recorder::count_left_out(const wire::Packet& packet) {
    // Flows beside the programs are none of it.
    if (open_left_out_.contains(packet.extra)) ++faults_left_out_;
}

Packet Recorder::record_of(const PortFacts& port, uint32_t wire_bytes, sim::SimTime at, const wire::Packet& packet) {
    const wire::PacketExtra& x = (*pool_)[packet.extra];
    Packet p;
    p.sent = at;
    p.from = port.index;
    p.source = work_.find(port.adapter, x.src_qp);
    if (p.source != kNone && !work_.queue_pairs[p.source].is_management) work_.queue_pairs[p.source].port = p.from;
    p.dest_qpn = packet.dest_qp;
    if (const auto to = port_of_leaf_.find(packet.dest); to != port_of_leaf_.end()) {
        p.to = to->second.index;
        p.dest = work_.find(to->second.adapter, packet.dest_qp);
    }
    p.psn = packet.psn;
    p.payload_bytes = packet.payload_bytes;
    p.wire_bytes = wire_bytes;
    p.opcode = static_cast<uint8_t>(packet.opcode);
    p.ack_req = (packet.flags & wire::kAckReq) != 0;
    p.solicited = (packet.flags & wire::kSolicited) != 0;
    p.becn = (packet.flags & wire::kBecn) != 0;
    p.is_retransmission = x.is_retransmission;
    p.syndrome = static_cast<uint8_t>(packet.aeth_syndrome);
    p.name = packet.framing == wire::kFramingRaw ? "Ethernet frame" : wire::opcode_name(p.opcode);
    p.headers = header_lines(packet, x);
    std::array<uint8_t, cm::kMadBytes> mad;
    if (packet.dest_qp == 1 && packet.payload_bytes == mad.size() && mover_ != nullptr &&
        mover_->peek(x.payload.stream, x.payload.offset, mad)) {
        MadText text = mad_text(mad);
        p.name = std::move(text.name);
        p.headers.insert(p.headers.end(), text.lines.begin(), text.lines.end());
    }
    return p;
}

void Recorder::on_sent(const PortFacts& port, uint32_t wire_bytes, sim::SimTime at, const wire::Packet& packet) {
    if (packet.extra == wire::kNoExtra) return;
    ++packets_sent_;
    if (packets_.size() >= most_packets_) {
        first_left_out_ = std::min(first_left_out_.value_or(at), at);
        retransmissions_left_out_ += (*pool_)[packet.extra].is_retransmission ? 1 : 0;
        open_.erase(packet.extra);
        open_left_out_.insert(packet.extra);
        return;
    }
    Packet p = record_of(port, wire_bytes, at, packet);
    if (p.source != kNone && p.dest != kNone) {
        QueuePair& from = work_.queue_pairs[p.source];
        if (from.type != hca::QpType::Ud) from.peer = p.dest;
    }
    open_[packet.extra] = static_cast<uint32_t>(packets_.size());
    packets_.push_back(std::move(p));
}

void Recorder::on_arrived(const PortFacts& port, sim::SimTime at, const wire::Packet& packet) {
    open_left_out_.erase(packet.extra);
    Packet* p = find_open(packet);
    if (p == nullptr) return;
    if (wire::is_group(packet.dest)) p->to = port.index;
    p->received = at;
    p->fate = (packet.flags & wire::kCorrupt) != 0   ? Fate::Corrupt
              : (packet.flags & wire::kTrimmed) != 0 ? Fate::Trimmed
                                                     : Fate::Received;
    p->treatment.marked = (packet.flags & wire::kFecn) != 0;
    open_.erase(packet.extra);
}

/// The engine's windows let one adapter run ahead of another: what is kept ends at one time for all.
void Recorder::cut(Timeline& t) const {
    if (!first_left_out_) return;
    t.cut = first_left_out_;
    const auto is_beyond = [&](sim::SimTime at) { return at >= *t.cut; };
    std::erase_if(t.packets, [&](const Packet& p) { return is_beyond(p.sent); });
    std::erase_if(t.states, [&](const StateChange& s) { return is_beyond(s.at); });
    t.work_left_out += std::erase_if(t.work, [&](const WorkRequest& w) { return is_beyond(w.posted); });
}

Timeline Recorder::take(sim::SimTime end) {
    Timeline t;
    t.ports = std::move(ports_);
    t.queue_pairs = std::move(work_.queue_pairs);
    t.packets = std::move(packets_);
    t.states = std::move(work_.states);
    t.work = std::move(work_.work);
    t.end = end;
    t.packets_sent = packets_sent_;
    t.faults_left_out = faults_left_out_;
    t.retransmissions_left_out = retransmissions_left_out_;
    t.work_left_out = work_.work_left_out;
    t.most_packets = most_packets_;
    cut(t);
    std::ranges::stable_sort(t.packets, {}, [](const Packet& p) { return std::pair(p.sent, p.from); });
    std::ranges::stable_sort(t.states, {}, &StateChange::at);
    std::ranges::stable_sort(t.work, {}, &WorkRequest::posted);
    for (WorkRequest& w : t.work) {
        w.open_until = end;
        if (w.completed || w.qp == kNone) continue;
        if (const auto& destroyed = t.queue_pairs[w.qp].destroyed) w.open_until = *destroyed;
        for (const StateChange& s : t.states)
            if (s.qp == w.qp && s.to == hca::QpState::Reset && s.at > w.posted)
                w.open_until = std::min(w.open_until, s.at);
    }
    t.events = find_events(t, work_.troubles);
    return t;
}

}  // namespace simverbs::timeline
