#include "tests/unit/models/cc/bottleneck.hpp"

#include <algorithm>

namespace simverbs::cc::test {

namespace {

/// A number in [0, 1) from an ordinal (splitmix64's finisher): the same marks in every run.
double draw(uint64_t ordinal) {
    uint64_t x = (ordinal + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return static_cast<double>(x >> 11) * 0x1.0p-53;
}

}  // namespace

Bottleneck::Bottleneck(const CongestionControl& algorithm, const BottleneckConfig& config)
    : algorithm_(algorithm), config_(config), needs_(algorithm.needs()), sources_(config.sources) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        algorithm_.start(sources_[i].state, config_.path, sources_[i].control);
        // Not all in the same picosecond.
        sources_[i].next_send = sim::SimTime::ps(static_cast<int64_t>(i));
    }
}

void Bottleneck::put_cnp(std::size_t source, const CongestionControl& seen_by) {
    seen_by.on_cnp(sources_[source].state, config_.path, now_, sources_[source].control);
}

void Bottleneck::run_until(sim::SimTime end) {
    while (step(end)) {
    }
    sample_queue(end);
    now_ = end;
}

void Bottleneck::measure_from_now() {
    measured_from_ = sampled_until_ = now_;
    queue_byte_ps_ = largest_queue_ = 0;
    measured_arrivals_ = arrivals_;
    measured_marks_ = marks_;
    for (Source& s : sources_) s.delivered_bytes = 0;
}

double Bottleneck::mean_rate_bps(std::size_t source) const {
    return static_cast<double>(sources_[source].delivered_bytes) * 8 / (now_ - measured_from_).in_s();
}

double Bottleneck::mean_queue_bytes() const {
    return queue_byte_ps_ / static_cast<double>((now_ - measured_from_).in_ps());
}

double Bottleneck::marked_share() const {
    return static_cast<double>(marks_ - measured_marks_) / static_cast<double>(arrivals_ - measured_arrivals_);
}

sim::SimTime Bottleneck::send_time(const Source& s) const {
    return s.in_flight < s.control.window_bytes ? std::max(s.next_send, now_) : sim::SimTime::max();
}

Bottleneck::Next Bottleneck::next_event() const {
    Next next;
    if (!queue_.empty()) next.time = departure_;
    const auto consider = [&](sim::SimTime time, Event event, std::size_t source) {
        if (time < next.time || (time == next.time && event < next.event)) next = {time, event, source};
    };
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        const Source& s = sources_[i];
        if (!s.cnps.empty()) consider(s.cnps.front(), Event::Cnp, i);
        if (!s.acks.empty()) consider(s.acks.front().time, Event::Acknowledgement, i);
        consider(send_time(s), Event::Send, i);
    }
    return next;
}

bool Bottleneck::step(sim::SimTime end) {
    const Next next = next_event();
    if (next.time > end || next.time == sim::SimTime::max()) return false;
    sample_queue(next.time);
    now_ = next.time;
    switch (next.event) {
        case Event::Departure:
            depart();
            break;
        case Event::Cnp:
            receive_cnp(sources_[next.source]);
            break;
        case Event::Acknowledgement:
            receive_ack(sources_[next.source]);
            break;
        case Event::Send:
            send(next.source);
            break;
    }
    return true;
}

void Bottleneck::sample_queue(sim::SimTime until) {
    const double bytes = static_cast<double>(queue_.size()) * config_.path.packet_bytes;
    queue_byte_ps_ += bytes * static_cast<double>((until - sampled_until_).in_ps());
    largest_queue_ = std::max(largest_queue_, bytes);
    sampled_until_ = until;
}

bool Bottleneck::marks_packet() {
    ++arrivals_;
    if (!config_.ecn.given()) return false;
    const double bytes = static_cast<double>(queue_.size()) * config_.path.packet_bytes;
    const auto kmin = static_cast<double>(config_.ecn.kmin);
    const auto kmax = static_cast<double>(config_.ecn.kmax);
    const double p = bytes >= kmax ? 1.0 : bytes <= kmin ? 0.0 : config_.ecn.pmax * (bytes - kmin) / (kmax - kmin);
    const bool marked = draw(arrivals_) < p;
    marks_ += marked;
    return marked;
}

void Bottleneck::update_by_time(Source& s) {
    if (s.control.next_update <= now_) algorithm_.on_time(s.state, config_.path, now_, s.control);
}

void Bottleneck::send(std::size_t index) {
    Source& s = sources_[index];
    update_by_time(s);
    const bool marked = marks_packet();
    if (queue_.empty()) departure_ = now_ + config_.rate.time_for(config_.path.packet_bytes);
    queue_.push_back({index, s.next_psn & wire::Psn::kMask, now_, marked});
    ++s.next_psn;
    s.in_flight += config_.path.payload_bytes;
    s.control.bytes_to_update -= config_.path.packet_bytes;
    if (s.control.bytes_to_update <= 0) algorithm_.on_bytes(s.state, config_.path, now_, s.control);
    s.next_send = now_ + s.control.rate.time_for(config_.path.packet_bytes);
}

void Bottleneck::depart() {
    const Queued packet = queue_.front();
    queue_.pop_front();
    Source& s = sources_[packet.source];
    tx_bytes_ += config_.path.packet_bytes;
    s.delivered_bytes += config_.path.packet_bytes;
    Feedback f{.time = now_ + config_.round_trip, .psn = packet.psn, .sent = packet.sent, .marked = packet.marked};
    f.hop = {now_, tx_bytes_, static_cast<uint32_t>(queue_.size() * config_.path.packet_bytes), HopRate(config_.rate)};
    if (needs_.cnp && packet.marked) notify(s);
    s.acks.push_back(f);
    if (!queue_.empty()) departure_ = now_ + config_.rate.time_for(config_.path.packet_bytes);
}

void Bottleneck::notify(Source& s) {
    if (now_ < s.no_cnp_before) return;
    const sim::SimTime interval = needs_.min_time_between_cnps;
    sim::SimTime at = now_;
    if (config_.notification == NotificationPoint::Periodic) {
        at = interval * (now_ / interval + 1);
        s.no_cnp_before = at;
    } else {
        s.no_cnp_before = now_ + interval;
    }
    s.cnps.push_back(at + config_.round_trip);
}

void Bottleneck::receive_cnp(Source& s) {
    s.cnps.pop_front();
    update_by_time(s);
    algorithm_.on_cnp(s.state, config_.path, now_, s.control);
}

void Bottleneck::receive_ack(Source& s) {
    const Feedback f = s.acks.front();
    s.acks.pop_front();
    update_by_time(s);
    s.in_flight -= config_.path.payload_bytes;
    const Ack ack = {
        .now = now_,
        .rtt = now_ - f.sent,
        .acked_bytes = config_.path.payload_bytes,
        .ack_psn = wire::Psn(f.psn),
        .next_psn = wire::Psn(s.next_psn),
        .ecn_echo = f.marked,
        .hops = std::span<const HopInt>(&f.hop, 1),
    };
    algorithm_.on_ack(s.state, config_.path, ack, s.control);
}

}  // namespace simverbs::cc::test
