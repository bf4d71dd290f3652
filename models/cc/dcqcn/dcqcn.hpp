// DCQCN's reaction point.
#pragma once

#include <memory>
#include <string_view>

#include "models/cc/congestion_control.hpp"
#include "models/cc/dcqcn/dcqcn_params.hpp"
#include "models/cc/dcqcn/dcqcn_rate_increase.hpp"
#include "models/cc/parameters.hpp"

namespace simverbs::cc::dcqcn {

/// State of one QP.
struct DcqcnState {
    Recovery rates;
    IncreaseSteps steps;
    double alpha = 0;
    sim::SimTime alpha_since;    ///< alpha is what it was after the update at this time
    sim::SimTime timer_at;       ///< next expiry of the rate timer; max: not running before the first decrease
    sim::SimTime period_start;   ///< monitor periods follow each other from here (paper: no decrease before this)
    sim::SimTime decrease_at;    ///< a decrease that a CNP has caused; max: none
    bool had_cnp = false;        ///< a rate limiter exists
    bool cnp_for_alpha = false;  ///< a CNP came since the last alpha update
};

/// The reaction point, in the two forms that are published:
/// - paper_reaction_point: a CNP decreases the rate at once and updates alpha, which restarts the alpha timer; a CNP
///   that comes within rate_reduce_monitor_period of the last decrease waits for its end. (Zhu et al., SIGCOMM 2015)
/// - otherwise, as NICs and HPCC's simulator: the alpha timer runs freely and each update asks whether a CNP came
///   since the last; the rate decreases at the end of a monitor period in which a CNP came. Both start at the first
///   CNP.
///
/// Timers are applied late, with the result of timers on time: what lies before an input is caught up first. At the
/// same instant the order is: alpha update, rate timer, decrease, then the input (CNP, byte counter). Alpha is read
/// only at a decrease, so it is only then computed.
class Dcqcn final : public CongestionControlWith<DcqcnState> {
  public:
    explicit Dcqcn(std::string_view name, const DcqcnParams& params) noexcept : name_(name), p_(params) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] Needs needs() const noexcept override;
    void start(void* state, const PathFacts& path, Control& control) const noexcept override;
    void on_ack(void* state, const PathFacts& path, const Ack& ack, Control& control) const noexcept override;
    void on_cnp(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept override;
    void on_time(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept override;
    void on_bytes(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept override;

  private:
    void catch_up(DcqcnState& s, sim::SimTime now, Control& control) const noexcept;
    void run_timer(DcqcnState& s, sim::SimTime now) const noexcept;
    void update_alpha(DcqcnState& s, sim::SimTime now) const noexcept;
    void apply_first_cnp(DcqcnState& s, sim::SimTime now) const noexcept;
    void apply_decrease(DcqcnState& s, sim::SimTime now, Control& control) const noexcept;
    void publish(const DcqcnState& s, const PathFacts& path, Control& control) const noexcept;

    std::string_view name_;
    DcqcnParams p_;
};

[[nodiscard]] std::unique_ptr<CongestionControl> make_dcqcn(std::string_view name, const Values& values);

}  // namespace simverbs::cc::dcqcn
