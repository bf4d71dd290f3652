#include "models/cc/timely/timely.hpp"

#include <new>

#include "models/cc/timely/timely_arithmetic.hpp"

namespace simverbs::cc {

namespace timely {

namespace {

struct TimelyState {
    sim::BitRate rate;
    sim::BitRate delta;
    sim::BitRate hai_delta;
    sim::SimTime last_rtt;  ///< zero: none yet
    double average_difference = 0;
    int64_t increases = 0;  ///< in a row
    wire::Psn last_update;  ///< next_psn at the last update
};

/// One update a round trip, as in HPCC's simulator; the paper has one a segment of 16 to 64 KB.
class Timely final : public CongestionControlWith<TimelyState> {
  public:
    Timely(std::string_view name, const TimelyParams& params) noexcept : name_(name), p_(params) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] Needs needs() const noexcept override { return {.rtt = true}; }

    void start(void* state, const PathFacts& path, Control& control) const noexcept override {
        TimelyState& s = *new (state) TimelyState{};
        s.rate = path.line_rate;
        s.delta = given_or_share(p_.delta, path.line_rate, p_.delta_of_line_rate);
        s.hai_delta = given_or_share(p_.hai_delta, path.line_rate, p_.hai_of_line_rate);
        control = Control{};
        publish(s, path, control);
    }

    void on_ack(void* state, const PathFacts& path, const Ack& ack, Control& control) const noexcept override {
        TimelyState& s = in(state);
        if (ack.rtt == sim::SimTime::zero()) return;
        const bool first = s.last_rtt == sim::SimTime::zero();
        if (!first && !is_past(ack.ack_psn, s.last_update)) return;
        if (!first) apply_sample(s, path, ack.rtt);
        s.last_rtt = ack.rtt;
        s.last_update = ack.next_psn;
        publish(s, path, control);
    }

  private:
    void apply_sample(TimelyState& s, const PathFacts& path, sim::SimTime rtt) const noexcept {
        s.average_difference = averaged_difference(s.average_difference, rtt - s.last_rtt, p_.alpha);
        const RateDecision decision = decide_rate(rtt, s.average_difference, p_);
        if (!decision.increase) {
            s.rate = scaled_rate(s.rate, decision.factor, p_.min_rate, path.line_rate);
            s.increases = 0;
            return;
        }
        const sim::BitRate step = s.increases < p_.hai_threshold ? s.delta : s.hai_delta;
        s.rate = std::min(path.line_rate, sim::BitRate::bps(s.rate.in_bps() + step.in_bps()));
        ++s.increases;
    }

    void publish(const TimelyState& s, const PathFacts& path, Control& control) const noexcept {
        control.rate = s.rate;
        control.window_bytes = window_by(p_.window, path, s.rate);
    }

    std::string_view name_;
    TimelyParams p_;
};

}  // namespace

std::unique_ptr<CongestionControl> make_timely(std::string_view name, const Values& v) {
    return std::make_unique<Timely>(name, TimelyParams{
                                              .alpha = v.number("alpha"),
                                              .beta = v.number("beta"),
                                              .t_low = v.time("t_low"),
                                              .t_high = v.time("t_high"),
                                              .min_rtt = v.time("min_rtt"),
                                              .hai_threshold = v.integer("hai_threshold"),
                                              .delta = v.rate("delta"),
                                              .hai_delta = v.rate("hai_delta"),
                                              .delta_of_line_rate = v.number("delta_of_line_rate"),
                                              .hai_of_line_rate = v.number("hai_of_line_rate"),
                                              .min_rate = v.rate("min_rate"),
                                              .window = v.window_rule(),
                                          });
}

}  // namespace timely

extern const AlgorithmInfo kTimely;
constinit const AlgorithmInfo kTimely = {
    .name = "timely",
    .summary = "TIMELY: rate from RTT and its gradient",
    .parameters = timely::kSchema,
    .presets = timely::kPresets,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> { return timely::make_timely("timely", v); },
    .check = [](const Values& v) { return check_order(v, "t_low", "t_high"); },
};

}  // namespace simverbs::cc
