// Parameters of DCQCN under their vendor names.
#pragma once

#include <cstdint>

#include "models/cc/arithmetic.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::cc::dcqcn {

/// Names, units and meaning: NVIDIA, "DCQCN CC Parameters"; what only the paper or the HPCC simulator has comes last.
struct DcqcnParams {
    // Alpha update.
    int64_t dce_tcp_g = 1020;  ///< what alpha keeps at an update, in 1/1024 (the paper's g is 1 - this)
    sim::SimTime dce_tcp_rtt = sim::SimTime::us(55);  ///< alpha timer
    int64_t initial_alpha_value = 1024;               ///< alpha at the first CNP, in 1/1024

    // Rate decrease.
    sim::BitRate rate_to_set_on_first_cnp;  ///< zero: the line rate
    double rpg_min_dec_fac = 0.5;           ///< one decrease leaves at least this share
    sim::BitRate rpg_min_rate = sim::BitRate::mbps(1);
    int64_t rpg_gd = 11;  ///< a decrease takes alpha × 2^(10 - gd): half of alpha for 11
    sim::SimTime rate_reduce_monitor_period = sim::SimTime::us(50);

    // Rate increase.
    bool clamp_tgt_rate = true;                 ///< every decrease sets the target rate (the paper)
    bool clamp_tgt_rate_after_time_inc = true;  ///< one after an increase by the timer does
    sim::SimTime rpg_time_reset = sim::SimTime::us(55);
    int64_t rpg_byte_reset = 0;  ///< zero: no byte counter
    int64_t rpg_threshold = 5;   ///< F: rounds of fast recovery
    sim::BitRate rpg_ai_rate;    ///< zero: ai_of_line_rate
    sim::BitRate rpg_hai_rate;   ///< zero: hai_of_line_rate

    // Notification point.
    sim::SimTime min_time_between_cnps = sim::SimTime::us(50);
    /// What is marked within that time of a CNP brings another at its end (the paper), or nothing (NICs).
    bool late_cnps = true;

    double ai_of_line_rate = 0;
    double hai_of_line_rate = 0;
    bool hai_grows = true;             ///< the i-th hyper increase adds i × rpg_hai_rate (paper, 802.1Qau)
    bool paper_reaction_point = true;  ///< see Dcqcn
    /// At the line rate the rate limiter is released, so that the next CNP is a first one. mstflint's description of
    /// rpg_max_rate.
    bool release_at_line_rate = false;
    bool cnp_in_ack = false;  ///< an ACK's ECN echo serves as the CNP (HPCC's simulator)
    WindowRule window = WindowRule::None;
};

}  // namespace simverbs::cc::dcqcn
