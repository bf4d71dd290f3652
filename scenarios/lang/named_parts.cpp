#include <fmt/format.h>

#include <utility>

#include "scenarios/lang/lab_reading.hpp"
#include "scenarios/lang/quantity.hpp"
#include "sim/check.hpp"

namespace simverbs::scenarios {

namespace {

void read_number_of_parts(const PartsRule& rule, const YamlValue& value, const std::string& path, DiagnosticSink& sink,
                          std::vector<NamedPart>& parts) {
    const auto parsed = parse_integer(value.text);
    if (const auto* error = std::get_if<QuantityError>(&parsed)) {
        sink.add(value.position, path, error->problem, std::string(rule.shape));
        return;
    }
    const int64_t count = std::get<int64_t>(parsed);
    if (count < 1 || count > rule.most) {
        sink.add(value.position, path, in_quotes(value.text) + (count < 1 ? " is too small" : " is too large"),
                 fmt::format("1 to {}", rule.most));
        return;
    }
    for (int64_t i = 0; i < count; ++i) parts.push_back({"", value.position, &null_value(), path});
}

void read_listed_part(const PartsRule& rule, const YamlValue& item, const std::string& path, DiagnosticSink& sink,
                      std::vector<NamedPart>& parts) {
    switch (item.kind) {
        case YamlKind::Null:
        case YamlKind::Sequence:
            report_wrong_shape(item, path, "a name or a map", sink);
            return;
        case YamlKind::Scalar:
            if (is_name(item.text)) {
                parts.push_back({item.text, item.position, &null_value(), path});
            } else {
                sink.add(item.position, path, in_quotes(item.text) + " is not a name", std::string(kExpectedName));
            }
            return;
        case YamlKind::Map:
            break;
    }
    const YamlValue* name = item.find(rule.name_key);
    // A wrong name is reported by the schema check of the part.
    const bool named = name != nullptr && name->kind == YamlKind::Scalar;
    parts.push_back({named ? name->text : "", named ? name->position : item.position, &item, path});
}

void read_mapped_part(const PartsRule& rule, const YamlEntry& entry, const std::string& path, DiagnosticSink& sink,
                      std::vector<NamedPart>& parts) {
    if (!is_name(entry.key)) {
        sink.add(entry.key_position, path, in_quotes(entry.key) + " is not a name", std::string(kExpectedName));
        return;
    }
    const YamlValue& value = *entry.value;
    const std::string part_path = child_path(path, entry.key);
    if (value.kind == YamlKind::Scalar || value.kind == YamlKind::Sequence) {
        report_wrong_shape(value, part_path, "a map", sink);
        return;
    }
    if (const YamlValue* name = value.find(rule.name_key)) {
        sink.add(name->position, child_path(part_path, rule.name_key),
                 fmt::format("the name is already given by the key '{}'", entry.key));
    }
    parts.push_back({entry.key, entry.key_position, &value, part_path});
}

}  // namespace

std::string_view expected_shape(const ComponentSchema& schema, std::string_view key) {
    const Field* field = schema.find(key);
    SIM_CHECK(field != nullptr);
    return field->shape;
}

std::vector<NamedPart> read_named_parts(const PartsRule& rule, const YamlValue& value, const std::string& path,
                                        DiagnosticSink& sink) {
    std::vector<NamedPart> parts;
    const std::size_t size = value.items.size() + value.entries.size();
    switch (value.kind) {
        case YamlKind::Null:
            report_wrong_shape(value, path, std::string(rule.shape), sink);
            break;
        case YamlKind::Scalar:
            if (rule.number_allowed) {
                read_number_of_parts(rule, value, path, sink, parts);
            } else {
                report_wrong_shape(value, path, std::string(rule.shape), sink);
            }
            break;
        case YamlKind::Sequence:
        case YamlKind::Map:
            if (size == 0) sink.add(value.position, path, "is empty", std::string(rule.shape));
            if (size > static_cast<std::size_t>(rule.most)) {
                sink.add(value.position, path, fmt::format("has {} entries", size),
                         fmt::format("at most {}", rule.most));
                break;
            }
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                read_listed_part(rule, *value.items[i], item_path(path, i), sink, parts);
            }
            for (const YamlEntry& entry : value.entries) read_mapped_part(rule, entry, path, sink, parts);
            break;
    }
    return parts;
}

}  // namespace simverbs::scenarios
