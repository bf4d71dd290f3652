#include "scenarios/lang/scenario_expansion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string_view>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/field_value.hpp"
#include "scenarios/lang/scenario_loader.hpp"
#include "scenarios/lang/scenario_schemas.hpp"
#include "scenarios/lang/section.hpp"
#include "scenarios/lang/tree_edit.hpp"

namespace simverbs::scenarios {

namespace {

/// Something that is set from outside: by --set or by a sweep.
struct Setting {
    std::string key;
    YamlPtr value;
    SourcePosition position;
};

struct SweepDimension {
    std::string key;
    SourcePosition position;
    std::vector<YamlPtr> values;
};

/// Keys that say what a run is made from.
constexpr std::array<std::string_view, 3> kReadBefore{"include", "parameters", "sweep"};

/// How a swept value is called.
std::string name_of(const YamlValue& value, std::size_t index) {
    return value.kind == YamlKind::Scalar ? value.text : fmt::format("[{}]", index);
}

class Expansion {
  public:
    Expansion(YamlPtr root, DiagnosticSink& sink) : root_(std::move(root)), sink_(sink) {
        read_parameters();
        read_sweep();
        root_ = without_key(without_key(root_, "parameters"), "sweep");
    }

    void apply_settings(const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            const SourcePosition position{std::make_shared<const std::string>("--set " + text), 0, 0};
            const std::size_t equals = text.find('=');
            if (equals == std::string::npos || equals == 0) {
                sink_.add(position, {}, "sets nothing", "KEY=VALUE, such as 'cc.algorithm=hpcc'");
                continue;
            }
            Setting setting{text.substr(0, equals), nullptr, position};
            setting.value = parse_setting(std::string_view(text).substr(equals + 1), position, sink_);
            if (setting.value == nullptr || !check_key(setting.key, position, {})) continue;
            std::erase_if(sweep_, [&](const SweepDimension& dimension) { return dimension.key == setting.key; });
            apply(setting, root_, parameters_);
        }
    }

    [[nodiscard]] std::vector<ExpandedRun> runs() {
        std::vector<ExpandedRun> out;
        if (!check_size()) return out;
        std::vector<std::size_t> chosen(sweep_.size(), 0);
        while (true) {
            out.push_back(run_of(chosen));
            // The last dimension varies fastest.
            std::size_t at = sweep_.size();
            while (at > 0 && ++chosen[at - 1] == sweep_[at - 1].values.size()) chosen[--at] = 0;
            if (at == 0) return out;
        }
    }

  private:
    using NamedValues = std::vector<std::pair<std::string, YamlPtr>>;

    void read_parameters() {
        const YamlValue* node = root_->find("parameters");
        if (node == nullptr) return;
        if (node->kind != YamlKind::Map) {
            report_wrong_shape(*node, "parameters", expected_value(*kScenarioSchema.find("parameters")), sink_);
            return;
        }
        for (const YamlEntry& entry : node->entries) {
            if (!is_name(entry.key)) {
                sink_.add(entry.key_position, "parameters", in_quotes(entry.key) + " is not a name",
                          std::string(kExpectedName));
            } else if (entry.value->kind == YamlKind::Null) {
                report_wrong_shape(*entry.value, child_path("parameters", entry.key), "a value", sink_);
            } else {
                parameters_.emplace_back(entry.key, entry.value);
            }
        }
    }

    void read_sweep() {
        const YamlValue* node = root_->find("sweep");
        if (node == nullptr) return;
        const std::string shape = expected_value(*kScenarioSchema.find("sweep"));
        if (node->kind != YamlKind::Map) return report_wrong_shape(*node, "sweep", shape, sink_);
        for (const YamlEntry& entry : node->entries) {
            const std::string path = child_path("sweep", entry.key);
            if (entry.value->kind != YamlKind::Sequence || entry.value->items.empty()) {
                const bool is_empty = entry.value->kind == YamlKind::Sequence;
                if (is_empty) sink_.add(entry.value->position, path, "is an empty list", "a list of values");
                if (!is_empty) report_wrong_shape(*entry.value, path, "a list of values", sink_);
            } else if (check_key(entry.key, entry.key_position, "sweep")) {
                check_values(entry.value->items, path);
                sweep_.push_back({entry.key, entry.key_position, entry.value->items});
            }
        }
    }

    /// Runs are told apart by the values.
    void check_values(const std::vector<YamlPtr>& values, const std::string& path) {
        std::set<std::string_view> seen;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const YamlValue& value = *values[i];
            if (value.kind != YamlKind::Scalar || seen.insert(value.text).second) continue;
            sink_.add(value.position, item_path(path, i), in_quotes(value.text) + " is listed twice");
        }
    }

    [[nodiscard]] bool is_parameter(std::string_view name) const {
        return std::any_of(parameters_.begin(), parameters_.end(),
                           [&](const auto& parameter) { return parameter.first == name; });
    }

    /// The first step of a path must be something; what follows, the schemas check.
    bool check_key(const std::string& key, const SourcePosition& position, const std::string& path) const {
        const std::string first = key.substr(0, key.find_first_of(".["));
        if (is_parameter(key)) return true;
        if (std::find(kReadBefore.begin(), kReadBefore.end(), first) != kReadBefore.end()) {
            sink_.add(position, path, in_quotes(key) + " cannot be set: it has been read by then",
                      "a name from `parameters`, or a path such as 'cc.algorithm'");
            return false;
        }
        if (kScenarioSchema.find(first) != nullptr) return true;
        std::vector<std::string_view> names;
        for (const auto& [name, value] : parameters_) names.push_back(name);
        const std::vector<std::string_view> keys = kScenarioSchema.keys();
        names.insert(names.end(), keys.begin(), keys.end());
        sink_.add(position, path, in_quotes(key) + " is neither a parameter nor a key of a scenario",
                  "a name from `parameters`, or a path such as 'cc.algorithm'", did_you_mean(first, names));
        return false;
    }

    bool check_size() const {
        std::size_t count = 1;
        for (const SweepDimension& dimension : sweep_) {
            count *= dimension.values.size();
            if (count <= kMaxRuns) continue;
            sink_.add(dimension.position, "sweep", "makes too many runs", fmt::format("at most {}", kMaxRuns));
            return false;
        }
        return true;
    }

    void apply(const Setting& setting, YamlPtr& root, NamedValues& parameters) const {
        for (auto& [name, value] : parameters) {
            if (name != setting.key) continue;
            value = setting.value;
            return;
        }
        const YamlPtr changed = with_value(root, setting.key, setting.value, setting.position, sink_);
        if (changed != nullptr) root = changed;
    }

    [[nodiscard]] ExpandedRun run_of(const std::vector<std::size_t>& chosen) const {
        ExpandedRun run;
        YamlPtr root = root_;
        NamedValues parameters = parameters_;
        for (std::size_t i = 0; i < sweep_.size(); ++i) {
            const SweepDimension& dimension = sweep_[i];
            const YamlPtr& value = dimension.values[chosen[i]];
            apply({dimension.key, value, value->position}, root, parameters);
            run.settings.emplace_back(dimension.key, name_of(*value, chosen[i]));
        }
        // A parameter may use those before it.
        ParameterValues resolved;
        for (const auto& [name, value] : parameters) {
            resolved[name] = with_parameters(value, resolved, child_path("parameters", name), sink_);
        }
        run.root = with_parameters(root, resolved, {}, sink_);
        return run;
    }

    YamlPtr root_;
    DiagnosticSink& sink_;
    NamedValues parameters_;
    std::vector<SweepDimension> sweep_;
};

}  // namespace

std::vector<ExpandedRun> expand_scenario(const YamlPtr& root, const std::vector<std::string>& settings,
                                         DiagnosticSink& sink) {
    Expansion expansion(root, sink);
    expansion.apply_settings(settings);
    return expansion.runs();
}

}  // namespace simverbs::scenarios
