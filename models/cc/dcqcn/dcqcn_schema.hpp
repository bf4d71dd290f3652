// DCQCN's parameters, their ranges, and the three published sets.
#pragma once

#include <array>
#include <cstddef>

#include "models/cc/dcqcn/dcqcn_params.hpp"
#include "models/cc/parameters.hpp"

namespace simverbs::cc::dcqcn {

// Ranges: NVIDIA "DCQCN CC Parameters"; initial_alpha_value also takes the paper's 1 (1024), byte_reset the paper's
// 10 MB. Defaults: the paper (Zhu et al., SIGCOMM 2015); where it gives none (least rate, hyper increase), the
// ns3-rdma sample of its authors.
inline constexpr auto schema_of = [](bool window) {
    using enum ParameterKind;
    return std::to_array<ParameterInfo>({
        {"dce_tcp_g", Integer, 1020, "1020", 0, 1023, "alpha keeps dce_tcp_g/1024 at each update (g = 1 - that)"},
        {"dce_tcp_rtt", Time, 55 * kUs, "55 us", kUs, 131071 * kUs, "time between alpha updates"},
        {"initial_alpha_value", Integer, 1024, "1024", 1, 1024, "alpha at the first CNP, in 1/1024"},
        {"rate_to_set_on_first_cnp", Rate, 0, "0 Mb/s", 0, 1000 * kGbps,
         "current and target rate at the first CNP; 0: the line rate"},
        {"rpg_min_dec_fac", Fraction, 0.5, "0.5", 0, 1, "a decrease leaves at least this share of the rate"},
        {"rpg_min_rate", Rate, 100 * kMbps, "100 Mb/s", kMbps, 1000 * kGbps, "no decrease goes below this"},
        {"rpg_gd", Integer, 11, "11", 0, 15, "a decrease takes alpha x 2^(10 - rpg_gd) of the rate; 11: alpha/2"},
        {"rate_reduce_monitor_period", Time, 50 * kUs, "50 us", kUs, 1e6 * kUs, "at most one decrease in this time"},
        flag("clamp_tgt_rate", true, "every decrease sets the target rate to the current rate"),
        flag("clamp_tgt_rate_after_time_inc", true, "a decrease after an increase by the timer sets the target rate"),
        {"rpg_time_reset", Time, 55 * kUs, "55 us", kUs, 131071 * kUs, "rate timer: time between increases"},
        {"rpg_byte_reset", Size, 10'000 * kKb, "10 MB", 0, 1e9, "byte counter: bytes between increases; 0: none"},
        {"rpg_threshold", Integer, 5, "5", 1, 31, "rounds of fast recovery (F)"},
        {"rpg_ai_rate", Rate, 40 * kMbps, "40 Mb/s", 0, 1000 * kGbps, "step of additive increase; 0: ai_of_line_rate"},
        {"rpg_hai_rate", Rate, 200 * kMbps, "200 Mb/s", 0, 1000 * kGbps, "step of hyper increase; 0: hai_of_line_rate"},
        {"min_time_between_cnps", Time, 50 * kUs, "50 us", 0, 4095 * kUs,
         "the receiver sends at most one CNP a QP in this time"},
        flag("late_cnps", true, "what is marked within that time is answered by a CNP at its end, not forgotten"),
        {"ai_of_line_rate", Fraction, 2e-4, "0.0002", 0, 1, "step of additive increase, if rpg_ai_rate is 0"},
        {"hai_of_line_rate", Fraction, 2e-3, "0.002", 0, 1, "step of hyper increase, if rpg_hai_rate is 0"},
        flag("hai_grows", true, "the i-th hyper increase adds i steps (802.1Qau), not one"),
        flag("paper_reaction_point", true,
             "a CNP acts at once and restarts the alpha timer; 0: NIC, CNPs are looked at periodically"),
        flag("release_at_line_rate", false,
             "at the line rate the rate limiter is released: the next CNP is a first one"),
        flag("cnp_in_ack", false, "an ACK's ECN echo serves as the CNP: no CNP packets"),
        flag("window", window, "bound the bytes in flight by line rate x base RTT"),
        flag("variable_window", false, "the window shrinks with the rate"),
    });
};
inline constexpr auto kSchema = schema_of(false);
inline constexpr auto kSchemaWithWindow = schema_of(true);

/// HPCC's simulator ("Mellanox's version"), simulation/run.py and rdma-hw.cc: steps of 5 and 50 Mb/s per 25 Gb/s; where
/// there is a window (dcqcn_vwin), it follows the rate.
inline constexpr auto kHpccNs3 = std::to_array<PresetValue>({
    {"dce_tcp_g", 1020},
    {"dce_tcp_rtt", 1 * kUs},
    {"rpg_min_dec_fac", 0},
    {"clamp_tgt_rate", 0},
    {"rpg_min_rate", 1000 * kMbps},
    {"rate_reduce_monitor_period", 4 * kUs},
    {"rpg_time_reset", 300 * kUs},
    {"rpg_byte_reset", 0},
    {"rpg_threshold", 1},
    {"rpg_ai_rate", 0},
    {"rpg_hai_rate", 0},
    {"min_time_between_cnps", 0},
    {"late_cnps", 0},
    {"hai_grows", 0},
    {"paper_reaction_point", 0},
    {"cnp_in_ack", 1},
    {"variable_window", 1},
});

/// NVIDIA "DCQCN CC Parameters", column Default.
inline constexpr auto kFirmware = std::to_array<PresetValue>({
    {"dce_tcp_g", 1019},
    {"dce_tcp_rtt", 1 * kUs},
    {"initial_alpha_value", 1023},
    {"clamp_tgt_rate", 0},
    {"rpg_min_rate", 1 * kMbps},
    {"rate_reduce_monitor_period", 4 * kUs},
    {"rpg_time_reset", 300 * kUs},
    {"rpg_byte_reset", 32767},
    {"rpg_threshold", 1},
    {"rpg_ai_rate", 5 * kMbps},
    {"rpg_hai_rate", 50 * kMbps},
    {"min_time_between_cnps", 4 * kUs},
    {"late_cnps", 0},
    {"hai_grows", 0},
    {"paper_reaction_point", 0},
    {"release_at_line_rate", 1},
});

/// Marking: the paper's; HPCC's per port rate; what Cumulus Linux sets for the lossless class.
inline constexpr auto kPresets = std::to_array<Preset>({
    {"paper", "Zhu et al., SIGCOMM 2015 (the defaults)", {}, {5'000, 200'000, 0.01, {}}},
    {"hpcc-ns3",
     "HPCC's simulator, in the manner of Mellanox's NICs",
     kHpccNs3,
     {100'000, 400'000, 0.2, sim::BitRate::gbps(25)}},
    {"firmware", "defaults of NIC firmware", kFirmware, {150'000, 1'500'000, 1.0, {}}},
});

[[nodiscard]] DcqcnParams read_params(const Values& values);

}  // namespace simverbs::cc::dcqcn
