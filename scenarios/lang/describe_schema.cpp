#include <fmt/format.h>

#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/metric_table.hpp"
#include "scenarios/lang/platform_schemas.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/lang/scenario_schemas.hpp"
#include "scenarios/lang/schema.hpp"
#include "scenarios/lang/topology.hpp"

namespace simverbs::scenarios {

namespace {

std::vector<const ComponentSchema*> made_schema_list() {
    std::vector<const ComponentSchema*> list{&kScenarioSchema,      &kLabSchema,     &kHostSchema, &kNicSchema,
                                             &kSwitchSchema,        &kPfcSchema,     &kEcnSchema,  &kSchedulerSchema,
                                             &kVlArbitrationSchema, &kFecnSchema,    &kLinkSchema, &kFaultSchema,
                                             &kDelaySchema,         &kReorderSchema, &kDownSchema};
    list.insert(list.end(), {&kPlatformSchema, &kNumaNodeSchema, &kNumaLinkSchema, &kHostBridgeSchema,
                             &kPcieSwitchSchema, &kSlotSchema, &kGpuSchema, &kNvLinkSchema, &kNvLinkPairSchema,
                             &kIommuSchema, &kGpuDriverSchema, &kCpuSchema});
    list.insert(list.end(), topology_schemas().begin(), topology_schemas().end());
    list.insert(list.end(), {&kTransportSchema, &kCcSchema});
    list.insert(list.end(), workload_schemas().begin(), workload_schemas().end());
    list.insert(list.end(), {&kFlowEntrySchema,      &kProgramSchema,     &kReadySchema,       &kProgramExpectSchema,
                             &kAddressedFaultSchema, &kPacketFaultSchema, &kPacketDelaySchema, &kPacketReorderSchema,
                             &kPacketMatchSchema,    &kFlapSchema,        &kPauseStormSchema,  &kKillSchema,
                             &kFreezeSchema,         &kFailCallSchema,    &kLimitCqSchema,     &kPlaceCqeSchema,
                             &kDelayReceivesSchema,  &kPortStateSchema,   &kChangeGidSchema,   &kChangePkeySchema,
                             &kPortEventSchema,      &kDegradeSlotSchema, &kExpectationSchema, &kOutputsSchema,
                             &kSeriesSchema,         &kRunSchema,         &kMeasureSchema});
    return list;
}

/// A GitHub-style anchor of a heading.
std::string anchor_of(std::string_view name) {
    std::string out(name);
    for (char& c : out) {
        if (c == ' ') c = '-';
    }
    return out;
}

/// '|' would end a cell of the table.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

std::string default_cell(const Field& field) {
    if (field.required) return "required";
    if (!field.default_note.empty()) return cell(field.default_note);
    return field.default_text.empty() ? std::string("–") : fmt::format("`{}`", cell(field.default_text));
}

std::string value_cell(const Field& field) {
    std::string out = cell(expected_value(field));
    if (field.component != nullptr) {
        out += fmt::format(" (see [{}](#{}))", field.component->name, anchor_of(field.component->name));
    }
    if (field.variants == nullptr) return out;
    std::string links;
    for (const ComponentSchema* variant : field.variants()) {
        const std::string_view kind = variant->name.substr(variant->name.find(' ') + 1);
        links += fmt::format("{}[{}](#{})", links.empty() ? "" : ", ", kind, anchor_of(variant->name));
    }
    return out + fmt::format(" (kinds: {})", links);
}

std::string describe_component(const ComponentSchema& schema) {
    std::string out = fmt::format("## {}\n\n{}\n\n", schema.name, schema.help);
    out += "| key | meaning | value | default |\n| --- | --- | --- | --- |\n";
    for (const Field& field : schema.fields) {
        out += fmt::format("| `{}` | {} | {} | {} |\n", field.key, cell(field.help), value_cell(field),
                           default_cell(field));
    }
    return out + "\n";
}

std::string describe_units() {
    std::string out =
        "## units\n\nA number that measures something has its unit; without it, it is an error. "
        "Values are exact: one that is not a whole number of the base unit is an error.\n\n"
        "| kind | example | units | whole number of |\n| --- | --- | --- | --- |\n";
    for (const QuantityKind kind : {QuantityKind::Rate, QuantityKind::Size, QuantityKind::Time, QuantityKind::Length}) {
        const QuantityInfo& info = quantity_info(kind);
        std::string units;
        for (const Unit& unit : info.units) units += fmt::format("{}`{}`", units.empty() ? "" : " ", unit.name);
        out += fmt::format("| {} | `{}` | {} | {} |\n", info.noun, info.example, units, info.base_name);
    }
    return out +
           "| a probability | `0.1 %`, `1e-5` | none or `%` | – |\n"
           "| a number | `0.8`, `1/256` | none | – |\n";
}

std::string_view unit_of(MetricUnit unit) noexcept {
    switch (unit) {
        case MetricUnit::Count:
            return "a number of events";
        case MetricUnit::Number:
            return "a number";
        case MetricUnit::Ratio:
            return "a share";
        case MetricUnit::Time:
            return "a time";
        case MetricUnit::Size:
            return "a size";
        case MetricUnit::Rate:
            return "a rate";
    }
    return "";
}

std::string selectors_cell(const MetricInfo& metric) {
    std::string out;
    for (const SelectorKind kind : {SelectorKind::Group, SelectorKind::Flow, SelectorKind::Host, SelectorKind::Switch,
                                    SelectorKind::Link, SelectorKind::Port, SelectorKind::Queue, SelectorKind::Slot}) {
        if (metric.selectors.contains(kind)) out += fmt::format("{}{}", out.empty() ? "" : ", ", selector_name(kind));
    }
    return out.empty() ? "–" : out;
}

constexpr std::string_view kExpectationsText = R"(## expectations

A statement is one of

| statement | example |
| --- | --- |
| METRIC COMPARISON VALUE | `fct.slowdown.p99 of websearch < 10`, `goodput of flow 3 >= 39 Gb/s` |
| … with a tolerance | `goodput.mean of incast == 5 Gb/s ± 5%` (`+-` is `±`) |
| METRIC COMPARISON METRIC | `fct.slowdown.p95 of hpcc_flows < fct.slowdown.p95 of dcqcn_flows` |
| never EVENT | `never drops`, `never timeouts of incast` |
| fault NAME fired | `fault 'cut' fired`, `fault 'cut' fired 3 times`, `fault 'cut' never fired` |
| all flows complete | `all flows complete within 10 ms`, `all flows of incast complete` |

A METRIC is `NAME.STATISTIC of SELECTOR`, of which only the name must be there, or the other way round:
`queue tor0/5 p99 < 200 KB` (a queue's length), `link tor0/5 > 97%` (a link's utilisation), `flow 3 goodput > 1 Gb/s`.
Statistics are `mean`, `min`, `max`, `total`, `count` and percentiles such as `p50`, `p99` and `p99.9`.
A SELECTOR is the name of a workload, host, switch or port (`tor0/5`), or a word that says which, and the name:
`group websearch`, `flow 3` (of the run), `flow websearch[3]` (of a workload), `host h0`, `switch tor0`,
`link tor0/1 - agg0/2`, `port tor0/5`, `queue tor0/5 priority 3`. Without one, everything is meant.
After a metric, `from TIME` and `until TIME` say which part of the run counts, and `within TIME`, of a count or a time,
means the largest value in any interval of that length: `pfc_pauses of tor0/3 within 1 ms < 5`.
In `all flows complete within 10 ms`, the time counts from the beginning of the run.

| metric | meaning | value | statistic | can be asked of |
| --- | --- | --- | --- | --- |
)";

std::string describe_metrics() {
    std::string out(kExpectationsText);
    for (const MetricInfo& metric : metrics()) {
        out += fmt::format(
            "| `{}` | {} | {} | {} | {} |\n", metric.name, metric.help, unit_of(metric.unit),
            metric.default_statistic.empty() ? "–" : fmt::format("`{}` if none is asked for", metric.default_statistic),
            selectors_cell(metric));
    }
    return out + "\n";
}

}  // namespace

std::span<const ComponentSchema* const> all_schemas() noexcept {
    static const std::vector<const ComponentSchema*> kList = made_schema_list();
    return kList;
}

std::string describe_algorithms(std::span<const KnownAlgorithm> algorithms) {
    std::string out;
    for (const KnownAlgorithm& algorithm : algorithms) {
        out += fmt::format("## cc {}\n\n{}\n\n", algorithm.name, algorithm.help);
        std::string presets;
        for (const std::string& preset : algorithm.presets)
            presets += fmt::format("{}`{}`", presets.empty() ? "" : ", ", preset);
        if (!presets.empty()) out += fmt::format("Presets: {}.\n\n", presets);
        if (algorithm.parameters.empty()) continue;
        out += "| key | meaning | value | default |\n| --- | --- | --- | --- |\n";
        for (const KnownParameter& parameter : algorithm.parameters) {
            const Field field = parameter.field();
            out += fmt::format("| `{}` | {} | {} | {} |\n", field.key, cell(field.help), value_cell(field),
                               default_cell(field));
        }
        out += "\n";
    }
    return out;
}

std::string describe_schema() {
    std::string out =
        "# Reference of the scenario language\n\nGenerated by `simverbs explain-schema` from the tables that files are "
        "checked against. A lab is a scenario without traffic, programs, faults and expectations.\n\n";
    for (const ComponentSchema* schema : all_schemas()) out += describe_component(*schema);
    return out + describe_metrics() + describe_units();
}

}  // namespace simverbs::scenarios
