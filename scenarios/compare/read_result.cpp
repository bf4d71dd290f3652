#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/compare/read_files.hpp"
#include "scenarios/compare/result_object.hpp"
#include "scenarios/expect/value_text.hpp"
#include "scenarios/output/result_json.hpp"

namespace simverbs::scenarios::compare {

using Json = nlohmann::ordered_json;
using sim::SimTime;

namespace {

/// Where byte `at` of `text` stands.
SourcePosition position_of(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {nullptr, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(before.size() - line_start) + 1};
}

bool is_known_format(const ResultObject& result) {
    constexpr std::string_view kWanted = "the result.json of a simverbs run";
    if (!result.value().is_object() || !result.has("format") || result.value()["format"] != output::kResultFormat) {
        result.report("format", fmt::format("is not '{}'", output::kResultFormat), std::string(kWanted));
        return false;
    }
    const int64_t version = result.integer("version");
    if (version == output::kResultVersion) return true;
    if (result.has("version") && result.value()["version"].is_number_integer())
        result.report("version", fmt::format("is {}", version),
                      fmt::format("{}: another release of simverbs wrote it; run the scenario again with this one",
                                  output::kResultVersion));
    return false;
}

Percentiles percentiles(const ResultObject& group, std::string_view key) {
    const auto distribution = group.object_or_null(key);
    if (!distribution) return {};
    return {.mean = distribution->number_or_null("mean"),
            .p50 = distribution->number_or_null("p50"),
            .p95 = distribution->number_or_null("p95"),
            .p99 = distribution->number_or_null("p99")};
}

ComparedGroup read_group(const ResultObject& from) {
    ComparedGroup out{.name = from.text("name"),
                      .flows = from.number("flows"),
                      .completed = from.number("completed"),
                      .fct = percentiles(from, "fct_ps"),
                      .slowdown = percentiles(from, "slowdown"),
                      .goodput = percentiles(from, "goodput_bps")};
    if (from.has("bus_bandwidth_bps")) out.bus_bandwidth = percentiles(from, "bus_bandwidth_bps");
    return out;
}

ComparedTotals read_totals(const ResultObject& from) {
    return {.completed = from.number("completed"),
            .retransmissions = from.number("retransmissions"),
            .timeouts = from.number("timeouts"),
            .drops = from.number("drops"),
            .lossless_drops = from.number("lossless_drops"),
            .marks = from.number("ecn_marks"),
            .pauses = from.number("pfc_pauses_sent"),
            .paused = from.number("paused_ps"),
            .max_queue = from.number("max_queue_bytes"),
            .throughput = from.number_or_null("throughput_bps")};
}

report::Verdict read_verdict(const ResultObject& from) {
    report::Verdict out{.name = from.text("name"),
                        .passed = from.text("outcome") == expect::to_string(expect::Outcome::Passed),
                        .sentence = from.text("statement"),
                        .measured = {},
                        .wanted = from.text("wanted_text")};
    const auto measured = from.number_or_null("measured");
    const std::string unit = from.text("unit");
    for (const MetricUnit known : {MetricUnit::Count, MetricUnit::Number, MetricUnit::Ratio, MetricUnit::Time,
                                   MetricUnit::Size, MetricUnit::Rate})
        if (measured && unit == output::unit_text(known)) out.measured = expect::value_text(known, *measured);
    return out;
}

run::RunEnding read_ending(const ResultObject& from) {
    const std::string word = from.text("ending");
    using run::RunEnding;
    for (const RunEnding ending : {RunEnding::Done, RunEnding::Until, RunEnding::Stuck, RunEnding::Interrupted})
        if (word == output::ending_text(ending)) return ending;
    if (!word.empty()) from.report("ending", "is " + in_quotes(word), "one of done, until, stuck, interrupted");
    return RunEnding::Done;
}

void read_settings(const ResultObject& from, run::RunResult& result) {
    const ResultObject settings = from.object("settings");
    for (const auto& [key, value] : settings.value().items()) result.settings.emplace_back(key, settings.text(key));
}

void read_known(const ResultObject& from, ComparedRun& run) {
    run::RunResult& result = run.result;
    result.scenario = from.text("scenario");
    run.run_name = from.text("run");
    read_settings(from, result);
    result.seed = from.unsigned_integer("seed");
    result.algorithm = from.text("algorithm");
    result.is_infiniband = from.text("link_layer") == "InfiniBand";
    result.ending = read_ending(from);
    result.simulated_time = SimTime::ps(from.integer("simulated_time_ps"));
    for (const ResultObject& entry : from.objects("expectations")) run.verdicts.push_back(read_verdict(entry));
    run.totals = read_totals(from.object("totals"));
    for (const ResultObject& entry : from.objects("groups")) {
        run.groups.push_back(read_group(entry));
        result.groups.push_back({.name = run.groups.back().name, .kind = entry.text("kind"), .size_distribution = {}});
    }
}

}  // namespace

void read_result(std::string_view text, const std::string& file, ComparedRun& run, DiagnosticSink& sink) {
    try {
        const Json document = Json::parse(text);
        const ResultObject result(document, file, "", sink);
        if (is_known_format(result)) read_known(result, run);
    } catch (const Json::parse_error& error) {
        const SourcePosition at = position_of(text, error.byte == 0 ? 0 : error.byte - 1);
        sink.add({.file = file,
                  .line = at.line,
                  .column = at.column,
                  .path = {},
                  .problem = error.byte > text.size() ? "ends in the middle" : "is damaged here: this is no JSON",
                  .expected = "what simverbs run has written",
                  .hint = "run the scenario again"});
    }
}

}  // namespace simverbs::scenarios::compare
