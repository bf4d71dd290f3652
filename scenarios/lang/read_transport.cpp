#include <fmt/format.h>

#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/scenario_reading.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::string_view kNoAlgorithm = "none";

/// The parameters of one algorithm in one map.
struct CcReader {
    ScenarioReading& reading;
    const KnownAlgorithm* algorithm;  ///< nullptr: not known, values stay texts
    std::string name;
    Values values{};
    std::string preset{};

    void wrong(const SourcePosition& position, const std::string& path, std::string problem, std::string expected,
               std::string hint = {}) const {
        reading.sink.add(position, path, std::move(problem), std::move(expected), std::move(hint));
    }

    [[nodiscard]] std::optional<Field> field(std::string_view key) const {
        for (const KnownParameter& parameter : algorithm->parameters) {
            if (parameter.name == key) return parameter.field();
        }
        return std::nullopt;
    }

    void report_unknown_key(const YamlEntry& entry, const std::string& path) const {
        std::vector<std::string_view> names{"preset"};
        std::string all = "one of preset";
        for (const KnownParameter& parameter : algorithm->parameters) {
            names.push_back(parameter.name);
            all += ", " + parameter.name;
        }
        std::string hint = did_you_mean(entry.key, names);
        for (const KnownAlgorithm& other : reading.options.algorithms) {
            if (!hint.empty() || other.name == name) continue;
            for (const KnownParameter& parameter : other.parameters) {
                if (parameter.name != entry.key) continue;
                hint = fmt::format("what counts for {} alone is written as '{}: {{{}: …}}'", other.name, other.name,
                                   entry.key);
                break;
            }
        }
        wrong(entry.key_position, path, fmt::format("{} is not a parameter of {}", in_quotes(entry.key), name), all,
              std::move(hint));
    }

    void read_preset(const YamlValue& value, const std::string& path) {
        preset = value.text;
        if (algorithm == nullptr) return;
        std::string all;
        std::vector<std::string_view> names;
        for (const std::string& known : algorithm->presets) {
            if (known == preset) return;
            names.push_back(known);
            all += (all.empty() ? "one of " : ", ") + known;
        }
        wrong(value.position, path, fmt::format("{} is not a preset of {}", in_quotes(preset), name),
              names.empty() ? "no preset: it has none" : all, did_you_mean(preset, names));
    }

    void read_entry(const YamlEntry& entry, const std::string& map_path) {
        const std::string path = child_path(map_path, entry.key);
        const YamlValue& value = *entry.value;
        const std::optional<Field> parameter = algorithm != nullptr ? field(entry.key) : std::nullopt;
        if (algorithm != nullptr && !parameter && entry.key != "preset") {
            report_unknown_key(entry, map_path);
        } else if (value.kind != YamlKind::Scalar) {
            report_wrong_shape(value, path, parameter ? expected_value(*parameter) : "a single value", reading.sink);
        } else if (entry.key == "preset") {
            read_preset(value, path);
        } else if (!parameter) {
            values.set(entry.key, {FieldKind::Text, value.text, true, path, value.position});
        } else if (auto read = read_field_value(*parameter, value.text, value.position, path, reading.sink)) {
            values.set(entry.key, {parameter->kind, std::move(*read), true, path, value.position});
        }
    }

    /// What the file does not write, as the table has it.
    void add_defaults(const std::string& path) {
        if (algorithm == nullptr) return;
        for (const KnownParameter& parameter : algorithm->parameters) {
            if (values.has(parameter.name) || parameter.default_text.empty()) continue;
            DiagnosticSink table_errors;
            auto read = read_field_value(parameter.field(), parameter.default_text, {}, path, table_errors);
            if (read) values.set(parameter.name, {parameter.kind, std::move(*read), false, path, {}});
        }
    }
};

const KnownAlgorithm* find_algorithm(const ScenarioOptions& options, std::string_view name) {
    for (const KnownAlgorithm& algorithm : options.algorithms) {
        if (algorithm.name == name) return &algorithm;
    }
    return nullptr;
}

bool is_algorithm(const ScenarioOptions& options, std::string_view name) {
    return options.algorithms.empty() || name == kNoAlgorithm || find_algorithm(options, name) != nullptr;
}

/// Reports an algorithm that does not exist.
bool check_algorithm(const ScenarioReading& reading, const YamlValue& value, const std::string& path) {
    if (is_algorithm(reading.options, value.text)) return true;
    std::vector<std::string_view> names{kNoAlgorithm};
    std::string all = "one of none";
    for (const KnownAlgorithm& known : reading.options.algorithms) {
        names.push_back(known.name);
        all += ", " + known.name;
    }
    reading.sink.add(value.position, path, in_quotes(value.text) + " is not a congestion control algorithm", all,
                     did_you_mean(value.text, names));
    return false;
}

/// "none" has no parameters; of others nothing is known if there is no table.
CcReader reader_of(ScenarioReading& reading, std::string_view name) {
    static const KnownAlgorithm kNone{"none", {}, {}, {}};
    const KnownAlgorithm* algorithm = name == kNoAlgorithm ? &kNone : find_algorithm(reading.options, name);
    return CcReader{reading, algorithm, std::string(name)};
}

void read_cc_map(ScenarioReading& reading, const YamlValue& node, const std::string& path) {
    CcSpec& cc = reading.spec.cc;
    const YamlValue* algorithm = node.find("algorithm");
    if (algorithm != nullptr && algorithm->kind != YamlKind::Scalar) {
        report_wrong_shape(*algorithm, child_path(path, "algorithm"), "an algorithm's name", reading.sink);
        return;
    }
    if (algorithm != nullptr && !check_algorithm(reading, *algorithm, child_path(path, "algorithm"))) return;
    if (algorithm != nullptr) cc.algorithm = algorithm->text;
    CcReader chosen = reader_of(reading, cc.algorithm);
    for (const YamlEntry& entry : node.entries) {
        if (entry.key == "algorithm") continue;
        const bool is_own_map = entry.value->kind == YamlKind::Map && is_algorithm(reading.options, entry.key);
        if (!is_own_map) chosen.read_entry(entry, path);
    }
    for (const YamlEntry& entry : node.entries) {
        const bool is_own_map = entry.value->kind == YamlKind::Map && is_algorithm(reading.options, entry.key);
        if (!is_own_map) continue;
        // Those of other algorithms are checked as well.
        CcReader other = reader_of(reading, entry.key);
        CcReader& reader = entry.key == cc.algorithm ? chosen : other;
        for (const YamlEntry& inner : entry.value->entries) reader.read_entry(inner, child_path(path, entry.key));
    }
    chosen.add_defaults(path);
    cc.values = std::move(chosen.values);
    cc.preset = std::move(chosen.preset);
}

void read_cc_node(ScenarioReading& reading, const Section& scenario, const YamlValue* node) {
    if (node->kind == YamlKind::Map) return read_cc_map(reading, *node, scenario.path("cc"));
    if (node->kind != YamlKind::Scalar) {
        report_wrong_shape(*node, scenario.path("cc"), expected_value(*kScenarioSchema.find("cc")), reading.sink);
        return;
    }
    if (!check_algorithm(reading, *node, scenario.path("cc"))) return;
    reading.spec.cc.algorithm = node->text;
    CcReader chosen = reader_of(reading, node->text);
    chosen.add_defaults(scenario.path("cc"));
    reading.spec.cc.values = std::move(chosen.values);
}

}  // namespace

void read_cc(ScenarioReading& reading, const Section& scenario) {
    const std::size_t before = reading.sink.reports();
    reading.spec.cc.path = scenario.path("cc");
    reading.spec.cc.position = scenario.position("cc");
    if (const YamlValue* node = scenario.node("cc")) read_cc_node(reading, scenario, node);
    reading.spec.cc.is_complete = reading.sink.reports() == before;
}
void read_transport(ScenarioReading& reading, const Section& scenario) {
    const InheritedSection section(kTransportSchema, scenario, "transport", reading.sink);
    TransportSpec& out = reading.spec.transport;
    out.payload = section->size("payload");
    out.loss_recovery =
        section->text("loss_recovery") == "go_back_n" ? LossRecovery::GoBackN : LossRecovery::SelectiveRepeat;
    out.ack_every = static_cast<int>(section->integer("ack_every"));
    out.retransmission_timeout = section->time("retransmission_timeout");
    out.retry_cnt = static_cast<int>(section->integer("retry_cnt"));
    const std::string window = section->word("window");
    out.window = window == "none" ? WindowKind::None : window == "bdp" ? WindowKind::Bdp : WindowKind::Fixed;
    if (out.window == WindowKind::Fixed) out.window_bytes = section->size("window");
    if (out.window == WindowKind::Fixed && out.window_bytes < out.payload) {
        reading.sink.add(section->position("window"), section->path("window"), "is smaller than a packet",
                         fmt::format("at least 'payload', {} B", out.payload));
    }
}

}  // namespace simverbs::scenarios
