#include "models/cc/parameters.hpp"

#include <cmath>

#include "sim/check.hpp"

namespace simverbs::cc {

namespace {

std::string_view unit_of_parameter(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::Rate:
            return " bit/s";
        case ParameterKind::Time:
            return " ps";
        case ParameterKind::Size:
            return " bytes";
        case ParameterKind::Fraction:
        case ParameterKind::Integer:
        case ParameterKind::Flag:
            return "";
    }
    return "";
}

std::string parameter_number(double value) {
    std::string text(32, '\0');
    const int length = std::snprintf(text.data(), text.size(), "%.15g", value);
    text.resize(static_cast<std::size_t>(length));
    return text;
}

std::string parameter_names(const AlgorithmInfo& info) {
    std::string names;
    for (const ParameterInfo& p : info.parameters) {
        if (!names.empty()) names += ", ";
        names += p.name;
    }
    return names;
}

std::string expected_parameter(const ParameterInfo& p) {
    if (p.kind == ParameterKind::Flag) return "0 or 1";
    const std::string noun = p.kind == ParameterKind::Fraction ? "a number" : "a whole number";
    return noun + " from " + parameter_number(p.least) + " to " + parameter_number(p.most) +
           std::string(unit_of_parameter(p.kind));
}

}  // namespace

Values::Values(const AlgorithmInfo& info, const Parameters& given) : info_(info), given_(given) {}

double Values::number(std::string_view name) const {
    const ParameterInfo* parameter = find_parameter(info_, name);
    SIM_CHECK(parameter != nullptr, info_.name, name);
    const auto given = given_.find(name);
    return given != given_.end() ? given->second : parameter->default_value;
}

WindowRule Values::window_rule() const {
    if (!is_set("window")) return WindowRule::None;
    return is_set("variable_window") ? WindowRule::Variable : WindowRule::Fixed;
}

std::vector<ParameterProblem> check_parameters(const AlgorithmInfo& info, const Parameters& given) {
    std::vector<ParameterProblem> problems;
    for (const auto& [name, value] : given) {
        const ParameterInfo* p = find_parameter(info, name);
        if (p == nullptr) {
            const std::string names = parameter_names(info);
            problems.push_back({name, std::string(info.name) + " has no such parameter",
                                names.empty() ? "no parameters" : "one of " + names, "correct the name or remove it"});
            continue;
        }
        const bool whole = p->kind == ParameterKind::Fraction || value == std::floor(value);
        if (whole && value >= p->least && value <= p->most) continue;
        const std::string hint = p->default_text.empty()
                                     ? "change the value"
                                     : "leave it out for the default, " + std::string(p->default_text);
        problems.push_back(
            {name, parameter_number(value) + " is out of range or not whole", expected_parameter(*p), hint});
    }
    if (problems.empty() && info.check != nullptr) return info.check(Values(info, given));
    return problems;
}

std::vector<ParameterProblem> check_order(const Values& values, std::string_view low, std::string_view high,
                                          bool strictly) {
    const double least = values.number(low);
    const double most = values.number(high);
    if (strictly ? least < most : least <= most) return {};
    const std::string relation = strictly ? "below " : "at most ";
    return {{std::string(low), parameter_number(least) + " does not go with " + std::string(high),
             relation + std::string(high) + ", which is " + parameter_number(most),
             "lower " + std::string(low) + " or raise " + std::string(high)}};
}

const ParameterInfo* find_parameter(const AlgorithmInfo& info, std::string_view name) noexcept {
    for (const ParameterInfo& p : info.parameters)
        if (p.name == name) return &p;
    return nullptr;
}

const Preset* find_preset(const AlgorithmInfo& info, std::string_view name) noexcept {
    for (const Preset& p : info.presets)
        if (p.name == name) return &p;
    return nullptr;
}

Parameters with_preset(const Preset& preset, const Parameters& given) {
    Parameters all = given;
    for (const PresetValue& v : preset.values) all.emplace(v.name, v.value);
    return all;
}

}  // namespace simverbs::cc
