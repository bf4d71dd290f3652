#include "models/cc/dcqcn/dcqcn_schema.hpp"

namespace simverbs::cc::dcqcn {

DcqcnParams read_params(const Values& v) {
    return {
        .dce_tcp_g = v.integer("dce_tcp_g"),
        .dce_tcp_rtt = v.time("dce_tcp_rtt"),
        .initial_alpha_value = v.integer("initial_alpha_value"),
        .rate_to_set_on_first_cnp = v.rate("rate_to_set_on_first_cnp"),
        .rpg_min_dec_fac = v.number("rpg_min_dec_fac"),
        .rpg_min_rate = v.rate("rpg_min_rate"),
        .rpg_gd = v.integer("rpg_gd"),
        .rate_reduce_monitor_period = v.time("rate_reduce_monitor_period"),
        .clamp_tgt_rate = v.is_set("clamp_tgt_rate"),
        .clamp_tgt_rate_after_time_inc = v.is_set("clamp_tgt_rate_after_time_inc"),
        .rpg_time_reset = v.time("rpg_time_reset"),
        .rpg_byte_reset = v.integer("rpg_byte_reset"),
        .rpg_threshold = v.integer("rpg_threshold"),
        .rpg_ai_rate = v.rate("rpg_ai_rate"),
        .rpg_hai_rate = v.rate("rpg_hai_rate"),
        .min_time_between_cnps = v.time("min_time_between_cnps"),
        .late_cnps = v.is_set("late_cnps"),
        .ai_of_line_rate = v.number("ai_of_line_rate"),
        .hai_of_line_rate = v.number("hai_of_line_rate"),
        .hai_grows = v.is_set("hai_grows"),
        .paper_reaction_point = v.is_set("paper_reaction_point"),
        .release_at_line_rate = v.is_set("release_at_line_rate"),
        .cnp_in_ack = v.is_set("cnp_in_ack"),
        .window = v.window_rule(),
    };
}

}  // namespace simverbs::cc::dcqcn
