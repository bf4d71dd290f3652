#include "models/cc/dcqcn/dcqcn.hpp"

#include <algorithm>
#include <new>

#include "models/cc/dcqcn/dcqcn_alpha.hpp"
#include "models/cc/dcqcn/dcqcn_rate_decrease.hpp"
#include "models/cc/dcqcn/dcqcn_schema.hpp"

namespace simverbs::cc {

namespace dcqcn {

Needs Dcqcn::needs() const noexcept {
    if (p_.cnp_in_ack) return {.ecn_echo = true};
    return {.cnp = true, .min_time_between_cnps = p_.min_time_between_cnps, .late_cnps = p_.late_cnps};
}

void Dcqcn::start(void* state, const PathFacts& path, Control& control) const noexcept {
    DcqcnState& s = *new (state) DcqcnState;
    s.rates.current = s.rates.target = path.line_rate.in_bps();
    s.steps = {
        .ai = given_or_share(p_.rpg_ai_rate, path.line_rate, p_.ai_of_line_rate).in_bps(),
        .hai = given_or_share(p_.rpg_hai_rate, path.line_rate, p_.hai_of_line_rate).in_bps(),
        .line_rate = path.line_rate.in_bps(),
        .threshold = p_.rpg_threshold,
        .byte_counter = p_.rpg_byte_reset > 0,
        .hai_grows = p_.hai_grows,
    };
    s.timer_at = s.decrease_at = sim::SimTime::max();
    control = Control{};
    publish(s, path, control);
}

void Dcqcn::on_ack(void* state, const PathFacts& path, const Ack& ack, Control& control) const noexcept {
    if (ack.ecn_echo && p_.cnp_in_ack) on_cnp(state, path, ack.now, control);
}

void Dcqcn::on_cnp(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept {
    DcqcnState& s = in(state);
    catch_up(s, now, control);
    if (p_.release_at_line_rate && s.decrease_at == sim::SimTime::max() && is_settled(s.rates, s.steps))
        s.had_cnp = false;
    if (!s.had_cnp) {
        apply_first_cnp(s, now);
    } else if (!p_.paper_reaction_point) {
        update_alpha(s, now);
        s.cnp_for_alpha = true;
    }
    if (s.decrease_at == sim::SimTime::max()) {
        s.decrease_at = p_.paper_reaction_point ? std::max(now, s.period_start)
                                                : next_period_end(s.period_start, now, p_.rate_reduce_monitor_period);
        if (s.decrease_at == now) apply_decrease(s, now, control);
    }
    publish(s, path, control);
}

void Dcqcn::on_time(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept {
    DcqcnState& s = in(state);
    catch_up(s, now, control);
    publish(s, path, control);
}

void Dcqcn::on_bytes(void* state, const PathFacts& path, sim::SimTime now, Control& control) const noexcept {
    DcqcnState& s = in(state);
    catch_up(s, now, control);
    while (control.bytes_to_update <= 0 && !is_settled(s.rates, s.steps)) {
        s.rates = after_byte_counter(s.rates, s.steps);
        control.bytes_to_update += p_.rpg_byte_reset;
    }
    publish(s, path, control);
}

/// A rate limiter is made for the QP.
void Dcqcn::apply_first_cnp(DcqcnState& s, sim::SimTime now) const noexcept {
    s.had_cnp = true;
    s.alpha = static_cast<double>(p_.initial_alpha_value) / kAlphaUnit;
    s.alpha_since = s.period_start = now;
    s.cnp_for_alpha = false;
    if (p_.rate_to_set_on_first_cnp.in_bps() > 0)
        s.rates.current = s.rates.target = std::min(p_.rate_to_set_on_first_cnp.in_bps(), s.steps.line_rate);
}

void Dcqcn::catch_up(DcqcnState& s, sim::SimTime now, Control& control) const noexcept {
    if (s.decrease_at <= now) apply_decrease(s, s.decrease_at, control);
    run_timer(s, now);
}

void Dcqcn::run_timer(DcqcnState& s, sim::SimTime now) const noexcept {
    if (now < s.timer_at) return;
    const int64_t expiries = (now - s.timer_at) / p_.rpg_time_reset + 1;
    s.rates = after_timer(s.rates, expiries, s.steps);
    s.timer_at += p_.rpg_time_reset * expiries;
}

void Dcqcn::update_alpha(DcqcnState& s, sim::SimTime now) const noexcept {
    const int64_t updates = (now - s.alpha_since) / p_.dce_tcp_rtt;
    if (updates == 0) return;
    const double kept = kept_share(p_.dce_tcp_g);
    if (s.cnp_for_alpha) s.alpha = alpha_after_cnp(s.alpha, kept);
    s.alpha = alpha_without_cnp(s.alpha, kept, updates - (s.cnp_for_alpha ? 1 : 0));
    s.cnp_for_alpha = false;
    s.alpha_since += p_.dce_tcp_rtt * updates;
}

void Dcqcn::apply_decrease(DcqcnState& s, sim::SimTime now, Control& control) const noexcept {
    update_alpha(s, now);
    run_timer(s, now);
    if (clamps_target(s.rates.time_stage, s.rates.byte_stage, p_)) s.rates.target = s.rates.current;
    s.rates.current = decreased_rate(sim::BitRate::bps(s.rates.current), s.alpha, p_).in_bps();
    s.rates.time_stage = s.rates.byte_stage = 0;
    s.timer_at = now + p_.rpg_time_reset;
    if (s.steps.byte_counter) control.bytes_to_update = p_.rpg_byte_reset;
    s.decrease_at = sim::SimTime::max();
    if (!p_.paper_reaction_point) return;
    s.alpha = alpha_after_cnp(s.alpha, kept_share(p_.dce_tcp_g));
    s.alpha_since = now;
    s.period_start = now + p_.rate_reduce_monitor_period;
}

void Dcqcn::publish(const DcqcnState& s, const PathFacts& path, Control& control) const noexcept {
    control.rate = sim::BitRate::bps(s.rates.current);
    control.window_bytes = window_by(p_.window, path, control.rate);
    const bool settled = is_settled(s.rates, s.steps);
    control.next_update = settled ? s.decrease_at : std::min(s.decrease_at, s.timer_at);
    if (settled) control.bytes_to_update = Control::kNever;
}

std::unique_ptr<CongestionControl> make_dcqcn(std::string_view name, const Values& values) {
    return std::make_unique<Dcqcn>(name, read_params(values));
}

}  // namespace dcqcn

extern const AlgorithmInfo kDcqcn;
constinit const AlgorithmInfo kDcqcn = {
    .name = "dcqcn",
    .summary = "DCQCN: rate control by CNPs, as in RoCE NICs",
    .parameters = dcqcn::kSchema,
    .presets = dcqcn::kPresets,
    .factory = [](const Values& v) -> std::unique_ptr<CongestionControl> { return dcqcn::make_dcqcn("dcqcn", v); },
};

}  // namespace simverbs::cc
