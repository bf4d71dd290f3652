#include "scenarios/lang/json_schema.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "scenarios/lang/field_value.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/scenario_schemas.hpp"

namespace simverbs::scenarios {

namespace {

using Json = nlohmann::ordered_json;

/// A text with a parameter in it may stand for any single value.
constexpr const char* kParameterPattern = "\\$\\{";
constexpr const char* kNamePattern = "^[A-Za-z][A-Za-z0-9_-]{0,62}$";

Json pattern(std::string text) {
    return {{"type", "string"}, {"pattern", std::move(text)}};
}

Json any_of(std::vector<Json> options) {
    if (options.size() == 1) return options.front();
    return {{"anyOf", std::move(options)}};
}

Json reference_to(std::string_view component) {
    std::string name(component);
    std::replace(name.begin(), name.end(), ' ', '-');
    return {{"$ref", "#/$defs/" + name}};
}

Json quantity_of(QuantityKind kind) {
    std::string units;
    for (const Unit& unit : quantity_info(kind).units) units += (units.empty() ? "" : "|") + std::string(unit.name);
    return pattern("^\\s*[0-9.]+([eE][-+]?[0-9]+)?\\s*(" + units + ")\\s*$");
}

Json single_value() {
    return {{"type", {"string", "number", "boolean"}}};
}

/// A value of this field, without its limits: these are written with units.
std::vector<Json> scalar_forms(const Field& field) {
    switch (field.kind) {
        case FieldKind::Text:
            return {{{"type", {"string", "number"}}}};
        case FieldKind::Name:
            return {pattern(kNamePattern)};
        case FieldKind::Integer:
            return {{{"type", "integer"}}, pattern("^-?(0x[0-9a-fA-F]+|[0-9]+)$")};
        case FieldKind::Integers: {
            const Json item = {{"type", "integer"}};
            return {item, {{"type", "array"}, {"items", item}}};
        }
        case FieldKind::Flag:
            return {{{"type", "boolean"}}};
        case FieldKind::Choice:
            return {{{"enum", field.choices}}};
        case FieldKind::Choices: {
            const Json item = {{"enum", field.choices}};
            return {item, {{"type", "array"}, {"items", item}, {"minItems", 1}, {"uniqueItems", true}}};
        }
        case FieldKind::Rate:
            return {quantity_of(QuantityKind::Rate)};
        case FieldKind::Size:
            return {quantity_of(QuantityKind::Size)};
        case FieldKind::Time:
            return {quantity_of(QuantityKind::Time)};
        case FieldKind::Length:
            return {quantity_of(QuantityKind::Length)};
        case FieldKind::Probability:
            return {{{"type", "number"}, {"minimum", 0}, {"maximum", 1}},
                    pattern("^\\s*[0-9.]+([eE][-+]?[0-9]+)?\\s*%?\\s*$")};
        case FieldKind::Number:
            return {{{"type", "number"}, {"minimum", 0}}, pattern("^[0-9.]+([eE][-+]?[0-9]+)?(/[0-9.]+)?$")};
        case FieldKind::Ipv4:
        case FieldKind::Mac:
        case FieldKind::Guid:
        case FieldKind::Gid:
            return {single_value()};
        case FieldKind::Section:
        case FieldKind::Structure:
            break;
    }
    return {};
}

/// What the parts of a Structure look like: its component, or one of those that `kind` chooses from.
Json part_of(const Field& field) {
    if (field.variants == nullptr)
        return field.component != nullptr ? reference_to(field.component->name) : Json::object();
    std::vector<Json> options;
    for (const ComponentSchema* variant : field.variants()) options.push_back(reference_to(variant->name));
    return any_of(std::move(options));
}

std::vector<Json> structure_forms(const Field& field) {
    std::vector<Json> out;
    const Json text = {{"type", {"string", "number"}}};
    if ((field.forms & kFormNumber) != 0) out.push_back({{"type", "integer"}, {"minimum", 1}});
    if ((field.forms & kFormText) != 0) out.push_back(text);
    std::vector<Json> items;
    if ((field.forms & kFormTexts) != 0) items.push_back(text);
    if ((field.forms & kFormList) != 0) items.push_back(part_of(field));
    if (!items.empty()) out.push_back({{"type", "array"}, {"items", any_of(std::move(items))}});
    if ((field.forms & kFormMap) != 0) out.push_back(part_of(field));
    if ((field.forms & kFormNamedMap) != 0) {
        out.push_back({{"type", "object"},
                       {"propertyNames", {{"pattern", kNamePattern}}},
                       {"additionalProperties", any_of({part_of(field), {{"type", "null"}}})}});
    }
    if ((field.forms & kFormValuesMap) != 0) {
        out.push_back(
            {{"type", "object"}, {"additionalProperties", {{"type", {"string", "number", "boolean", "array"}}}}});
    }
    return out;
}

Json value_schema(const Field& field) {
    std::vector<Json> options = field.kind == FieldKind::Section     ? std::vector<Json>{part_of(field)}
                                : field.kind == FieldKind::Structure ? structure_forms(field)
                                                                     : scalar_forms(field);
    if (!field.words.empty()) options.push_back({{"enum", field.words}});
    options.push_back(pattern(kParameterPattern));
    Json out = {{"description", field.help}};
    if (!field.default_text.empty())
        out["description"] = std::string(field.help) + " Default: " + std::string(field.default_text) + ".";
    out.update(any_of(std::move(options)));
    return out;
}

/// "topology fat_tree" and "workload incast" are chosen by their `kind`.
std::string_view kind_in_name(std::string_view name) {
    for (const std::string_view prefix : {"topology ", "workload "}) {
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    }
    return {};
}

Json component_schema(const ComponentSchema& schema) {
    Json properties = Json::object();
    Json required = Json::array();
    const std::string_view kind = kind_in_name(schema.name);
    for (const Field& field : schema.fields) {
        const bool is_kind = !kind.empty() && field.key == "kind";
        properties[std::string(field.key)] = is_kind ? Json{{"const", kind}} : value_schema(field);
        if (field.required) required.push_back(field.key);
    }
    Json out = {{"description", schema.help},
                {"type", "object"},
                {"properties", std::move(properties)},
                {"additionalProperties", false}};
    if (!required.empty()) out["required"] = std::move(required);
    return out;
}

/// The parameters of every algorithm side by side, and a map for each algorithm.
void add_algorithms(Json& cc, std::span<const KnownAlgorithm> algorithms) {
    if (algorithms.empty()) {
        cc["additionalProperties"] = true;
        return;
    }
    Json names = {"none"};
    for (const KnownAlgorithm& algorithm : algorithms) {
        names.push_back(algorithm.name);
        Json own = {{"description", algorithm.help}, {"type", "object"}, {"additionalProperties", false}};
        for (const KnownParameter& parameter : algorithm.parameters) {
            own["properties"][parameter.name] = value_schema(parameter.field());
            cc["properties"][parameter.name] = value_schema(parameter.field());
        }
        if (!algorithm.presets.empty()) own["properties"]["preset"] = {{"enum", algorithm.presets}};
        cc["properties"][algorithm.name] = std::move(own);
    }
    cc["properties"]["algorithm"] = any_of({{{"enum", std::move(names)}}, pattern(kParameterPattern)});
}

}  // namespace

std::string json_schema(std::span<const KnownAlgorithm> algorithms) {
    Json definitions = Json::object();
    for (const ComponentSchema* schema : all_schemas()) {
        if (schema == &kScenarioSchema) continue;
        definitions[reference_to(schema->name)["$ref"].get<std::string>().substr(8)] = component_schema(*schema);
    }
    add_algorithms(definitions["cc"], algorithms);
    Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "simverbs scenario"}};
    root.update(component_schema(kScenarioSchema));
    root["$defs"] = std::move(definitions);
    return root.dump(2) + "\n";
}

}  // namespace simverbs::scenarios
