#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

constexpr int kPriorities = 8;
constexpr int kMostSl = 15;
constexpr int kMostVl = 14;  // VL 15 is management's

std::vector<int> read_priorities(const Section& section, std::string_view key, DiagnosticSink& sink) {
    std::vector<int> out;
    for (const int64_t number : section.integers(key)) {
        const int priority = static_cast<int>(number);
        if (std::find(out.begin(), out.end(), priority) != out.end()) {
            sink.add(section.position(key), section.path(key), fmt::format("{} is listed twice", priority));
        }
        out.push_back(priority);
    }
    return out;
}

std::optional<int> number_from(std::string_view text, int64_t least, int64_t most) {
    const auto parsed = parse_integer(text);
    const auto* number = std::get_if<int64_t>(&parsed);
    if (number == nullptr || *number < least || *number > most) return std::nullopt;
    return static_cast<int>(*number);
}

PfcSpec read_pfc(const Section& switch_section, DiagnosticSink& sink) {
    const InheritedSection section(kPfcSchema, switch_section, "pfc", sink);
    PfcSpec pfc;
    pfc.is_enabled = section->flag("enabled");
    pfc.priorities = read_priorities(*section, "priorities", sink);
    if (section->word("headroom") != "auto") pfc.headroom = section->size("headroom");
    pfc.headroom_place = place_of(*section, "headroom");
    pfc.reserve = section->size("reserve");
    pfc.xon_offset = section->size("xon_offset");
    pfc.quanta = static_cast<int>(section->integer("quanta"));
    if (section->word("watchdog") != "off") pfc.watchdog = section->time("watchdog");
    return pfc;
}

EcnSpec read_ecn(const Section& switch_section, DiagnosticSink& sink) {
    const InheritedSection section(kEcnSchema, switch_section, "ecn", sink);
    EcnSpec ecn;
    ecn.is_enabled = section->flag("enabled");
    ecn.priorities = read_priorities(*section, "priorities", sink);
    ecn.kmin = section->size("kmin");
    ecn.kmax = section->size("kmax");
    ecn.pmax = section->probability("pmax");
    ecn.at = section->text("at") == "enqueue" ? EcnPoint::Enqueue : EcnPoint::Dequeue;
    ecn.has_own_thresholds = section->has("kmin") || section->has("kmax") || section->has("pmax");
    if (ecn.kmax < ecn.kmin) {
        const std::string_view key = section->has("kmax") ? "kmax" : "kmin";
        sink.add(section->position(key), section->path(key),
                 fmt::format("'kmax' ({}) is below 'kmin' ({})", format_quantity(QuantityKind::Size, ecn.kmax),
                             format_quantity(QuantityKind::Size, ecn.kmin)),
                 "'kmin' at most 'kmax'");
    }
    return ecn;
}

SchedulerSpec read_scheduler(const Section& switch_section, DiagnosticSink& sink) {
    const InheritedSection section(kSchedulerSchema, switch_section, "scheduler", sink);
    SchedulerSpec scheduler;
    scheduler.strict = read_priorities(*section, "strict", sink);
    const YamlValue* dwrr = section->node("dwrr");
    if (dwrr == nullptr) return scheduler;
    const NumberMapRule rule{expected_shape(kSchedulerSchema, "dwrr"), kPriorities - 1, 1, 1000};
    scheduler.dwrr = read_number_map(rule, *dwrr, section->path("dwrr"), sink);
    for (const auto& [priority, weight] : scheduler.dwrr) {
        if (!section->has("strict")) {
            std::erase(scheduler.strict, priority);  // the default gives way
        } else if (std::find(scheduler.strict.begin(), scheduler.strict.end(), priority) != scheduler.strict.end()) {
            sink.add(section->position("dwrr"), section->path("dwrr"),
                     fmt::format("priority {} is strict and has a weight", priority), "one of the two");
        }
    }
    return scheduler;
}

VlArbitrationSpec read_vl_arbitration(const Section& switch_section, DiagnosticSink& sink) {
    const InheritedSection section(kVlArbitrationSchema, switch_section, "vl_arbitration", sink);
    VlArbitrationSpec out;
    out.high_limit = static_cast<int>(section->integer("limit"));
    for (const auto& [key, table] : {std::pair{"high", &out.high}, std::pair{"low", &out.low}}) {
        const NumberMapRule rule{expected_shape(kVlArbitrationSchema, key), kMostVl, 0, 255};
        if (const YamlValue* node = section->node(key)) *table = read_number_map(rule, *node, section->path(key), sink);
    }
    out.high_place = place_of(*section, "high");
    out.low_place = place_of(*section, "low");
    return out;
}

FecnSpec read_fecn(const Section& switch_section, DiagnosticSink& sink) {
    const InheritedSection section(kFecnSchema, switch_section, "fecn", sink);
    FecnSpec fecn;
    fecn.is_enabled = switch_section.node("fecn") != nullptr && section->flag("enabled");
    fecn.threshold = static_cast<int>(section->integer("threshold"));
    fecn.marking_rate = static_cast<int>(section->integer("marking_rate"));
    fecn.packet_size = section->size("packet_size");
    return fecn;
}

LoadBalancing load_balancing_of(std::string_view text) {
    if (text == "packet_spray") return LoadBalancing::PacketSpray;
    if (text == "flowlet") return LoadBalancing::Flowlet;
    if (text == "adaptive") return LoadBalancing::Adaptive;
    return LoadBalancing::Ecmp;
}

}  // namespace

KeyPlace place_of(const Section& section, std::string_view key) {
    return section.has(key) ? KeyPlace{section.path(key), section.position(key)} : KeyPlace{};
}

NumberPairs read_number_map(const NumberMapRule& rule, const YamlValue& node, const std::string& path,
                            DiagnosticSink& sink) {
    NumberPairs out;
    if (node.kind != YamlKind::Map) {
        report_wrong_shape(node, path, std::string(rule.shape), sink);
        return out;
    }
    for (const YamlEntry& entry : node.entries) {
        const auto key = number_from(entry.key, 0, rule.most_key);
        if (!key) {
            sink.add(entry.key_position, path, in_quotes(entry.key) + " is not one of its numbers",
                     std::string(rule.shape));
        }
        if (entry.value->kind != YamlKind::Scalar) {
            report_wrong_shape(*entry.value, child_path(path, entry.key), std::string(rule.shape), sink);
            continue;
        }
        const auto value = number_from(entry.value->text, rule.least_value, rule.most_value);
        if (!value) {
            sink.add(entry.value->position, child_path(path, entry.key),
                     in_quotes(entry.value->text) + " is not one of its values", std::string(rule.shape));
        }
        if (key && value) out.emplace_back(*key, *value);
    }
    return out;
}

SwitchQueueing read_queueing(const Section& section, DiagnosticSink& sink) {
    SwitchQueueing out;
    out.cell = section.size("cell");
    out.alpha = section.number("alpha");
    section.refuse_both("alpha", "a_shift", sink);
    if (section.has("a_shift") && section.prefers("a_shift", "alpha")) {
        out.a_shift = static_cast<int>(section.integer("a_shift"));
    }
    out.pfc = read_pfc(section, sink);
    out.ecn = read_ecn(section, sink);
    out.scheduler = read_scheduler(section, sink);
    const auto read_map = [&](std::string_view key, int most_key, int most_value) {
        const YamlValue* node = section.node(key);
        if (node == nullptr) return NumberPairs{};
        return read_number_map({expected_shape(kSwitchSchema, key), most_key, 0, most_value}, *node, section.path(key),
                               sink);
    };
    out.dscp_map = read_map("dscp_map", kMostDscp, kPriorities - 1);
    out.pcp_map = read_map("pcp_map", kPriorities - 1, kPriorities - 1);
    out.load_balancing = load_balancing_of(section.text("load_balancing"));
    out.flowlet_gap = section.time("flowlet_gap");
    out.trims = section.flag("trimming");
    if (section.has("int")) out.adds_int = section.flag("int");
    out.vl_buffer = section.size("vl_buffer");
    out.vl_buffer_place = place_of(section, "vl_buffer");
    out.vl_arbitration = read_vl_arbitration(section, sink);
    out.sl2vl = read_map("sl2vl", kMostSl, kMostVl);
    out.fecn = read_fecn(section, sink);
    out.path_policy = section.text("path_policy") == "up_down" ? PathPolicy::UpDown : PathPolicy::MinHop;
    return out;
}

}  // namespace simverbs::scenarios
