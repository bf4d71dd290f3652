#include "scenarios/import/hpcc_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/import/text_lines.hpp"
#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::scenarios::imports {

namespace {

using C = HpccConfig;

constexpr std::array<HpccKey, 50> kKeys{{
    {"ENABLE_QCN", &C::enable_qcn, "switches mark"},
    {"USE_DYNAMIC_PFC_THRESHOLD", &C::use_dynamic_pfc_threshold, "PFC thresholds depend on the free buffer"},
    {"PACKET_PAYLOAD_SIZE", &C::packet_payload_size, "bytes"},
    {"TOPOLOGY_FILE", &C::topology_file, "input"},
    {"FLOW_FILE", &C::flow_file, "input"},
    {"TRACE_FILE", &C::trace_file, "input"},
    {"TRACE_OUTPUT_FILE", &C::trace_output_file, "output"},
    {"FCT_OUTPUT_FILE", &C::fct_output_file, "output"},
    {"PFC_OUTPUT_FILE", &C::pfc_output_file, "output"},
    {"SIMULATOR_STOP_TIME", &C::simulator_stop_time_s, "s"},
    {"CC_MODE", &C::cc_mode, "1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT"},
    {"ALPHA_RESUME_INTERVAL", &C::alpha_resume_interval_us, "us; DCQCN: alpha timer"},
    {"RATE_DECREASE_INTERVAL", &C::rate_decrease_interval_us, "us; DCQCN"},
    {"CLAMP_TARGET_RATE", &C::clamp_target_rate, "DCQCN: clamp_tgt_rate"},
    {"RP_TIMER", &C::rp_timer_us, "us; DCQCN: rate timer"},
    {"EWMA_GAIN", &C::ewma_gain, "DCQCN and DCTCP: g"},
    {"FAST_RECOVERY_TIMES", &C::fast_recovery_times, "DCQCN: F"},
    {"RATE_AI", &C::rate_ai, "additive increase"},
    {"RATE_HAI", &C::rate_hai, "hyper increase"},
    {"MIN_RATE", &C::min_rate, "least rate"},
    {"DCTCP_RATE_AI", &C::dctcp_rate_ai, "DCTCP: additive increase"},
    {"ERROR_RATE_PER_LINK", &C::error_rate_per_link, "probability"},
    {"L2_CHUNK_SIZE", &C::l2_chunk_size, "bytes"},
    {"L2_ACK_INTERVAL", &C::l2_ack_interval, "packets an acknowledgement"},
    {"L2_BACK_TO_ZERO", &C::l2_back_to_zero, "go back to the message's start"},
    {"HAS_WIN", &C::has_win, "a window limits what is in flight"},
    {"GLOBAL_T", &C::global_t, "one base RTT for all pairs"},
    {"VAR_WIN", &C::var_win, "the window follows the rate"},
    {"FAST_REACT", &C::fast_react, "react to every acknowledgement"},
    {"U_TARGET", &C::u_target, "HPCC: eta"},
    {"MI_THRESH", &C::mi_thresh, "HPCC: maxStage"},
    {"INT_MULTI", &C::int_multi, "HPCC: unit of counters"},
    {"MULTI_RATE", &C::multi_rate, "HPCC: a rate a hop"},
    {"SAMPLE_FEEDBACK", &C::sample_feedback, "HPCC: INT once an RTT"},
    {"PINT_LOG_BASE", &C::pint_log_base, "HPCC-PINT"},
    {"PINT_PROB", &C::pint_prob, "HPCC-PINT: share of packets with INT"},
    {"RATE_BOUND", &C::rate_bound, "a rate limiter"},
    {"ACK_HIGH_PRIO", &C::ack_high_prio, "acknowledgements go first"},
    {"LINK_DOWN", &C::link_down, "us after 2 s, node, node"},
    {"ENABLE_TRACE", &C::enable_trace, "packet events"},
    {"KMAX_MAP", &C::kmax_map, "KB by link rate"},
    {"KMIN_MAP", &C::kmin_map, "KB by link rate"},
    {"PMAX_MAP", &C::pmax_map, "probability by link rate"},
    {"BUFFER_SIZE", &C::buffer_size_mib, "MiB a switch"},
    {"QLEN_MON_FILE", &C::qlen_mon_file, "output"},
    {"QLEN_MON_START", &C::qlen_mon_start_ns, "ns"},
    {"QLEN_MON_END", &C::qlen_mon_end_ns, "ns"},
    {"PAUSE_TIME", &C::pause_time_us, "us"},
    {"DATA_RATE", &C::data_rate, "of old files"},
    {"LINK_DELAY", &C::link_delay, "of old files"},
}};

/// Reads the values of one line into their member.
class ConfigValues {
  public:
    ConfigValues(HpccConfig& config, const std::vector<Word>& words, LineProblems& problems)
        : config_(config), words_(words), problems_(problems) {}

    void operator()(bool C::*member) {
        if (const auto value = one<uint32_t>("0 or 1", 0, 1)) config_.*member = *value == 1;
    }
    void operator()(int64_t C::*member) {
        if (const auto value = one<int64_t>("number", 0, INT64_MAX)) config_.*member = *value;
    }
    void operator()(double C::*member) {
        if (!has_values(1, "a number")) return;
        if (const auto value = real(words_[1])) config_.*member = *value;
    }
    void operator()(sim::BitRate C::*member) {
        if (!has_values(1, "a rate")) return;
        if (const auto value = parse_ns3_rate(words_[1].text)) {
            config_.*member = *value;
        } else {
            problems_.add(words_[1], in_quotes(words_[1].text) + " is no rate", "for example '50Mb/s'");
        }
    }
    void operator()(std::string C::*member) {
        if (has_values(1, "one word")) config_.*member = words_[1].text;
    }
    void operator()(LinkDown C::*member) {
        if (!has_values(3, "'LINK_DOWN US NODE NODE'")) return;
        const auto at = problems_.number<int64_t>(words_[1], "time", 0, INT64_MAX);
        const auto a = problems_.number<int64_t>(words_[2], "node", 0, UINT32_MAX);
        const auto b = problems_.number<int64_t>(words_[3], "node", 0, UINT32_MAX);
        if (at && a && b) config_.*member = {*at, *a, *b};
    }
    void operator()(RateMap C::*member) {
        if (words_.size() < 2)
            return problems_.add(words_[0], "no values", "a count, then a rate and a value for each");
        const auto count = problems_.number<uint32_t>(words_[1], "count", 0, UINT16_MAX);
        if (!count || !has_values(1 + 2 * std::size_t{*count}, fmt::format("{} pairs 'RATE VALUE'", *count))) return;
        for (std::size_t i = 2; i + 1 < words_.size(); i += 2) {
            const auto rate = problems_.number<int64_t>(words_[i], "rate in bits a second", 1, INT64_MAX);
            const auto value = real(words_[i + 1]);
            if (rate && value) (config_.*member).push_back({sim::BitRate::bps(*rate), *value});
        }
    }

  private:
    bool has_values(std::size_t count, std::string expected) {
        if (words_.size() == count + 1) return true;
        problems_.add(words_[0], fmt::format("{} value(s)", words_.size() - 1), std::move(expected));
        return false;
    }
    template <class Number>
    std::optional<Number> one(std::string_view what, Number least, Number most) {
        if (!has_values(1, "one value")) return std::nullopt;
        return problems_.number<Number>(words_[1], what, least, most);
    }
    std::optional<double> real(const Word& word) {
        const auto value = parse_real(word.text);
        if (value && *value >= 0) return value;
        problems_.add(word, in_quotes(word.text) + " is no number", "a number, 0 or more");
        return std::nullopt;
    }

    HpccConfig& config_;
    const std::vector<Word>& words_;
    LineProblems& problems_;
};

std::vector<std::string_view> key_names() {
    std::vector<std::string_view> names;
    names.reserve(kKeys.size());
    for (const HpccKey& key : kKeys) names.push_back(key.name);
    return names;
}

}  // namespace

std::span<const HpccKey> hpcc_keys() noexcept {
    return kKeys;
}

std::optional<HpccConfig> read_hpcc_config(std::string_view text, std::string_view file, DiagnosticSink& sink) {
    if (!check_is_text(text, file, sink)) return std::nullopt;
    const std::size_t problems_before = sink.count();
    TextLines lines(text, file);
    LineProblems problems(lines, sink);
    HpccConfig config;
    while (lines.next_with_words()) {
        std::vector<Word> words = lines.words();
        const auto note = std::find_if(words.begin(), words.end(), [](const Word& word) {
            return word.text.starts_with('{') || word.text.starts_with('#');
        });
        words.erase(note, words.end());
        if (words.empty()) continue;
        const auto key =
            std::find_if(kKeys.begin(), kKeys.end(), [&](const HpccKey& known) { return known.name == words[0].text; });
        if (key == kKeys.end()) {
            const std::string hint = sink.is_full() ? "" : did_you_mean(words[0].text, key_names());
            problems.add(words[0], fmt::format("unknown key {}", in_quotes(words[0].text)), "a key of config.txt",
                         hint);
            continue;
        }
        if (std::find(config.given_keys.begin(), config.given_keys.end(), key->name) != config.given_keys.end()) {
            problems.add(words[0], fmt::format("{} is given twice", key->name), "each key once");
            continue;
        }
        config.given_keys.push_back(key->name);
        std::visit(ConfigValues(config, words, problems), key->member);
    }
    if (sink.count() != problems_before) return std::nullopt;
    return config;
}

}  // namespace simverbs::scenarios::imports
