// Sources with a congestion control before one queue with RED: the least network in which a control loop closes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/cc/congestion_control.hpp"
#include "models/cc/parameters.hpp"

namespace simverbs::cc::test {

/// When the receiver sends a CNP for a marked packet, with `interval` = min_time_between_cnps.
enum class NotificationPoint : uint8_t {
    Immediate,  ///< at once, unless the last one is less than an interval ago (NICs)
    Periodic,   ///< at the end of the interval, one for all its marks (as late_cnps; the fluid model)
};

struct BottleneckConfig {
    PathFacts path;
    sim::BitRate rate;        ///< of the queue
    sim::SimTime round_trip;  ///< without the queue
    EcnMarking ecn;           ///< not given: no marks
    std::size_t sources = 1;
    NotificationPoint notification = NotificationPoint::Immediate;
};

/// Every source always has data. Packets meet the queue when they are sent; the whole delay lies on the way back.
class Bottleneck {
  public:
    Bottleneck(const CongestionControl& algorithm, const BottleneckConfig& config);

    /// Gives a source a CNP as another object with the same kind of state sees it: to start from where it left.
    void put_cnp(std::size_t source, const CongestionControl& seen_by);
    void run_until(sim::SimTime end);
    /// Rates and queue are measured from now on.
    void measure_from_now();

    [[nodiscard]] double mean_rate_bps(std::size_t source) const;
    [[nodiscard]] double mean_queue_bytes() const;
    [[nodiscard]] double largest_queue_bytes() const { return largest_queue_; }
    [[nodiscard]] double marked_share() const;
    [[nodiscard]] Control& control(std::size_t source) { return sources_[source].control; }

  private:
    struct Feedback {
        sim::SimTime time;
        uint32_t psn = 0;
        sim::SimTime sent;
        bool marked = false;
        HopInt hop;
    };
    struct Source {
        alignas(8) unsigned char state[CongestionControl::kMaxState];
        Control control;
        sim::SimTime next_send;
        uint32_t next_psn = 0;
        int64_t in_flight = 0;
        std::deque<Feedback> acks;
        std::deque<sim::SimTime> cnps;
        sim::SimTime no_cnp_before;  ///< at the receiver
        int64_t delivered_bytes = 0;
    };
    struct Queued {
        std::size_t source = 0;
        uint32_t psn = 0;
        sim::SimTime sent;
        bool marked = false;
    };

    /// In the order in which they happen at the same time.
    enum class Event : uint8_t { Departure, Cnp, Acknowledgement, Send };
    struct Next {
        sim::SimTime time = sim::SimTime::max();
        Event event = Event::Departure;
        std::size_t source = 0;
    };
    [[nodiscard]] Next next_event() const;
    [[nodiscard]] bool step(sim::SimTime end);
    void send(std::size_t index);
    void depart();
    void notify(Source& s);
    void receive_ack(Source& s);
    void receive_cnp(Source& s);
    [[nodiscard]] sim::SimTime send_time(const Source& s) const;
    [[nodiscard]] bool marks_packet();
    void update_by_time(Source& s);
    void sample_queue(sim::SimTime until);

    const CongestionControl& algorithm_;
    BottleneckConfig config_;
    Needs needs_;
    std::vector<Source> sources_;
    std::deque<Queued> queue_;
    sim::SimTime now_;
    sim::SimTime departure_;  ///< of the packet at the head
    uint64_t tx_bytes_ = 0;
    uint64_t arrivals_ = 0;
    uint64_t marks_ = 0;

    sim::SimTime measured_from_;
    sim::SimTime sampled_until_;
    double queue_byte_ps_ = 0;
    double largest_queue_ = 0;
    uint64_t measured_arrivals_ = 0;
    uint64_t measured_marks_ = 0;
};

}  // namespace simverbs::cc::test
