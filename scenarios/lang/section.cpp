#include "scenarios/lang/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "sim/check.hpp"

namespace simverbs::scenarios {

namespace {

bool is_tree_kind(FieldKind kind) noexcept {
    return kind == FieldKind::Section || kind == FieldKind::Structure;
}

}  // namespace

std::string child_path(const std::string& parent, std::string_view key) {
    return parent.empty() ? std::string(key) : fmt::format("{}.{}", parent, key);
}

std::string item_path(const std::string& parent, std::size_t index) {
    return fmt::format("{}[{}]", parent, index);
}

void report_wrong_shape(const YamlValue& value, const std::string& path, std::string expected, DiagnosticSink& sink) {
    std::string problem = value.kind == YamlKind::Scalar ? in_quotes(value.text) + " is a single value"
                          : value.kind == YamlKind::Null ? std::string("has no value")
                                                         : fmt::format("is {}", kind_name(value.kind));
    sink.add(value.position, path, std::move(problem), std::move(expected));
}

Section::Section(const ComponentSchema& schema, const YamlValue& node, std::string path, DiagnosticSink& sink,
                 const Section* base)
    : schema_(&schema), node_(&node), base_(base), path_(std::move(path)), position_(node.position) {
    SIM_CHECK(base == nullptr || base->schema_ == &schema);
    switch (node.kind) {
        case YamlKind::Null:
            break;
        case YamlKind::Map:
            for (const YamlEntry& entry : node.entries) check_entry(entry, sink);
            break;
        case YamlKind::Scalar:
        case YamlKind::Sequence:
            report_wrong_shape(node, path_, fmt::format("a map (see '{}' in the reference)", schema.name), sink);
            return;
    }
    check_required(sink);
}

void Section::check_entry(const YamlEntry& entry, DiagnosticSink& sink) {
    const Field* field = schema_->find(entry.key);
    if (field == nullptr) {
        if (sink.is_full()) return sink.add({}, path_, "unknown key");
        std::string all;
        for (const std::string_view key : schema_->keys()) all += (all.empty() ? "" : ", ") + std::string(key);
        std::string hint = did_you_mean(entry.key, schema_->keys());
        if (schema_->find(entry.key.substr(0, entry.key.find(':'))) != nullptr) {
            hint = "a space is missing after the ':'";
        }
        sink.add(entry.key_position, path_, fmt::format("unknown key {}", in_quotes(entry.key)), "one of " + all,
                 std::move(hint));
        return;
    }
    const YamlValue& value = *entry.value;
    const std::string entry_path = path(entry.key);
    if (is_tree_kind(field->kind)) {
        if (field->kind == FieldKind::Section && value.kind != YamlKind::Map) {
            const bool is_switched = value.kind == YamlKind::Scalar && field->component->find("enabled") != nullptr;
            if (is_switched) {
                sink.add(value.position, entry_path, in_quotes(value.text) + " is a single value",
                         expected_value(*field) + " such as '{enabled: false}'");
            } else {
                report_wrong_shape(value, entry_path, expected_value(*field), sink);
            }
        } else {
            nodes_[entry.key] = &value;
        }
    } else if (field->kind == FieldKind::Choices && value.kind == YamlKind::Sequence) {
        check_choices(*field, value, sink);
    } else if (field->kind == FieldKind::Integers && value.kind == YamlKind::Sequence) {
        check_integers(*field, value, sink);
    } else if (value.kind != YamlKind::Scalar) {
        report_wrong_shape(value, entry_path, expected_value(*field), sink);
    } else if (auto read = read_field_value(*field, value.text, value.position, entry_path, sink)) {
        values_[entry.key] = std::move(*read);
    }
}

void Section::check_choices(const Field& field, const YamlValue& value, DiagnosticSink& sink) {
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        const YamlValue& item = *value.items[i];
        const std::string where = item_path(path(field.key), i);
        if (item.kind != YamlKind::Scalar) {
            report_wrong_shape(item, where, expected_value(field), sink);
        } else if (auto read = read_field_value(field, item.text, item.position, where, sink)) {
            const std::string& name = std::get<std::vector<std::string>>(*read).front();
            if (std::find(chosen.begin(), chosen.end(), name) != chosen.end()) {
                sink.add(item.position, where, fmt::format("{} is listed twice", in_quotes(name)));
            } else {
                chosen.push_back(name);
            }
        }
    }
    if (value.items.empty()) sink.add(value.position, path(field.key), "is an empty list", expected_value(field));
    values_[std::string(field.key)] = std::move(chosen);
}

void Section::check_integers(const Field& field, const YamlValue& value, DiagnosticSink& sink) {
    std::vector<int64_t> numbers;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        const YamlValue& item = *value.items[i];
        const std::string where = item_path(path(field.key), i);
        if (item.kind != YamlKind::Scalar) {
            report_wrong_shape(item, where, expected_value(field), sink);
        } else if (auto read = read_field_value(field, item.text, item.position, where, sink)) {
            numbers.push_back(std::get<std::vector<int64_t>>(*read).front());
        }
    }
    values_[std::string(field.key)] = std::move(numbers);
}

void Section::check_required(DiagnosticSink& sink) const {
    for (const Field& field : schema_->fields) {
        if (!field.required) continue;
        bool written = false;
        for (const Section* section = this; section != nullptr; section = section->base_) {
            written = written || section->writes(field.key);
        }
        if (!written) {
            sink.add(position_, path_, fmt::format("the key '{}' is missing", field.key), expected_value(field));
        }
    }
}

const FieldValue* Section::find(std::string_view key) const {
    SIM_CHECK(schema_->find(key) != nullptr);
    const auto found = values_.find(key);
    if (found != values_.end()) return &found->second;
    return base_ != nullptr ? base_->find(key) : nullptr;
}

std::optional<FieldValue> Section::value(std::string_view key) const {
    if (const FieldValue* written = find(key)) return *written;
    const Field& field = *schema_->find(key);
    if (field.default_text.empty()) return std::nullopt;
    DiagnosticSink table_errors;
    auto from_table = read_field_value(field, field.default_text, {}, path_, table_errors);
    SIM_CHECK(from_table.has_value());
    return from_table;
}

template <typename T>
T Section::value_of(std::string_view key) const {
    const std::optional<FieldValue> found = value(key);
    if (!found) return T{};
    // A word stands instead of a quantity.
    if (!schema_->find(key)->words.empty() && !std::holds_alternative<T>(*found)) return T{};
    SIM_CHECK(std::holds_alternative<T>(*found));
    return std::get<T>(*found);
}

bool Section::has(std::string_view key) const {
    return find(key) != nullptr || node(key) != nullptr;
}

bool Section::writes(std::string_view key) const {
    return node_->kind == YamlKind::Map && node_->find(key) != nullptr;
}

std::string Section::text(std::string_view key) const {
    return value_of<std::string>(key);
}
int64_t Section::integer(std::string_view key) const {
    return value_of<int64_t>(key);
}
bool Section::flag(std::string_view key) const {
    return value_of<bool>(key);
}
double Section::probability(std::string_view key) const {
    return value_of<double>(key);
}
double Section::number(std::string_view key) const {
    return value_of<double>(key);
}
std::vector<int64_t> Section::integers(std::string_view key) const {
    return value_of<std::vector<int64_t>>(key);
}
std::string Section::word(std::string_view key) const {
    return value_of<std::string>(key);
}
std::vector<std::string> Section::choices(std::string_view key) const {
    return value_of<std::vector<std::string>>(key);
}
GidBytes Section::gid(std::string_view key) const {
    return value_of<GidBytes>(key);
}
sim::BitRate Section::rate(std::string_view key) const {
    return sim::BitRate::bps(value_of<int64_t>(key));
}
sim::ByteCount Section::size(std::string_view key) const {
    return value_of<int64_t>(key);
}
sim::SimTime Section::time(std::string_view key) const {
    return sim::SimTime::ps(value_of<int64_t>(key));
}
Length Section::length(std::string_view key) const {
    return Length::mm(value_of<int64_t>(key));
}

const YamlValue* Section::node(std::string_view key) const {
    SIM_CHECK(schema_->find(key) != nullptr);
    const auto found = nodes_.find(key);
    if (found != nodes_.end()) return found->second;
    return base_ != nullptr ? base_->node(key) : nullptr;
}

bool Section::prefers(std::string_view key, std::string_view other) const {
    for (const Section* section = this; section != nullptr; section = section->base_) {
        if (section->writes(key)) return true;
        if (section->writes(other)) return false;
    }
    return false;
}

void Section::refuse_both(std::string_view key, std::string_view other, DiagnosticSink& sink) const {
    for (const Section* section = this; section != nullptr; section = section->base_) {
        if (!section->writes(key) || !section->writes(other)) continue;
        sink.add(section->position(other), section->path(other),
                 fmt::format("both '{}' and '{}' are given", key, other),
                 fmt::format("either '{}' or '{}'", key, other));
    }
}

const YamlValue& Section::own_node(std::string_view key) const {
    const auto found = nodes_.find(key);
    return found != nodes_.end() ? *found->second : null_value();
}

InheritedSection::InheritedSection(const ComponentSchema& schema, const Section& parent, std::string_view key,
                                   DiagnosticSink& sink)
    : base_(parent.base() != nullptr ? std::make_unique<InheritedSection>(schema, *parent.base(), key, sink) : nullptr),
      section_(schema, parent.own_node(key), child_path(parent.path(), key), sink, base_ ? &base_->section_ : nullptr) {
}

const YamlValue& null_value() noexcept {
    static const YamlValue kNull;
    return kNull;
}

SourcePosition Section::position(std::string_view key) const {
    for (const Section* section = this; section != nullptr; section = section->base_) {
        if (section->node_->kind != YamlKind::Map) continue;
        if (const YamlValue* value = section->node_->find(key)) return value->position;
    }
    return position_;
}

std::string Section::path(std::string_view key) const {
    for (const Section* section = this; section != nullptr; section = section->base_) {
        if (section->writes(key)) return child_path(section->path_, key);
    }
    return child_path(path_, key);
}

}  // namespace simverbs::scenarios
