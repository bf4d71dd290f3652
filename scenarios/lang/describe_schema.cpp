#include <fmt/format.h>

#include "scenarios/lang/lab_schemas.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/schema.hpp"
#include "scenarios/lang/topology.hpp"

namespace simverbs::scenarios {

namespace {

std::vector<const ComponentSchema*> made_schema_list() {
    std::vector<const ComponentSchema*> list{&kLabSchema,    &kHostSchema,    &kNicSchema,
                                             &kSwitchSchema, &kLinkSchema,    &kFaultSchema,
                                             &kDelaySchema,  &kReorderSchema, &kDownSchema};
    for (const TopologyGenerator& generator : topology_generators()) list.push_back(generator.schema);
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
    return out;
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
    return out + "| a probability | `0.1 %`, `1e-5` | none or `%` | – |\n";
}

}  // namespace

std::span<const ComponentSchema* const> all_schemas() noexcept {
    static const std::vector<const ComponentSchema*> kList = made_schema_list();
    return kList;
}

std::string describe_schema() {
    std::string out =
        "# Reference of the scenario language\n\nGenerated from the tables that files are checked against.\n\n";
    for (const ComponentSchema* schema : all_schemas()) out += describe_component(*schema);
    return out + describe_units();
}

}  // namespace simverbs::scenarios
