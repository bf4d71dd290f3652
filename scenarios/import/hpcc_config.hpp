// config.txt of the HPCC ns-3 artifact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::imports {

/// A value for links of a rate (KMIN_MAP, KMAX_MAP: KB; PMAX_MAP: probability).
struct RateValue {
    sim::BitRate rate;
    double value = 0;
};
using RateMap = std::vector<RateValue>;

/// LINK_DOWN: microseconds after the artifact's start of traffic (2 s), and the two nodes; 0: never.
struct LinkDown {
    int64_t at_us = 0;
    int64_t node_a = 0;
    int64_t node_b = 0;
};

/// The values as the file has them, in its units; what it does not give has the artifact's default.
struct HpccConfig {
    std::string topology_file, flow_file, trace_file, trace_output_file, fct_output_file, pfc_output_file,
        qlen_mon_file;
    bool enable_qcn = true;
    bool use_dynamic_pfc_threshold = true;
    bool enable_trace = true;
    bool clamp_target_rate = false;
    bool l2_back_to_zero = false;
    bool has_win = true;
    bool global_t = true;
    bool var_win = false;
    bool fast_react = true;
    bool multi_rate = true;
    bool sample_feedback = false;
    bool rate_bound = true;
    bool ack_high_prio = false;
    int64_t cc_mode = 1;  ///< 1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT
    int64_t packet_payload_size = 1000;
    int64_t l2_chunk_size = 0;
    int64_t l2_ack_interval = 0;
    int64_t fast_recovery_times = 5;
    int64_t mi_thresh = 5;
    int64_t int_multi = 1;
    int64_t buffer_size_mib = 16;
    int64_t qlen_mon_start_ns = 2'000'000'000;
    int64_t qlen_mon_end_ns = 2'100'000'000;
    int64_t pause_time_us = 5;
    double simulator_stop_time_s = 3.01;
    double alpha_resume_interval_us = 55;
    double rate_decrease_interval_us = 4;
    double rp_timer_us = 0;
    double ewma_gain = 1.0 / 16;
    double u_target = 0.95;
    double error_rate_per_link = 0;
    double pint_log_base = 1.05;
    double pint_prob = 1;
    sim::BitRate rate_ai, rate_hai, dctcp_rate_ai = sim::BitRate::gbps(1), min_rate = sim::BitRate::mbps(100);
    sim::BitRate data_rate;  ///< of old files; links have rates of their own
    std::string link_delay;  ///< of old files
    RateMap kmin_map, kmax_map, pmax_map;
    LinkDown link_down;
    std::vector<std::string_view> given_keys;  ///< in the file's order
};

/// A key, where its value goes, and what it means.
struct HpccKey {
    std::string_view name;
    std::variant<bool HpccConfig::*, int64_t HpccConfig::*, double HpccConfig::*, sim::BitRate HpccConfig::*,
                 std::string HpccConfig::*, RateMap HpccConfig::*, LinkDown HpccConfig::*>
        member;
    std::string_view meaning;
};

/// Every key that the artifact's program reads.
[[nodiscard]] std::span<const HpccKey> hpcc_keys() noexcept;

/// Reads lines "KEY VALUE …", with notes in braces as in config_doc.txt. An unknown key, a key twice and a wrong value
/// are problems.
[[nodiscard]] std::optional<HpccConfig> read_hpcc_config(std::string_view text, std::string_view file,
                                                         DiagnosticSink& sink);

}  // namespace simverbs::scenarios::imports
