#include "scenarios/lang/tree_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/quantity.hpp"
#include "scenarios/lang/section.hpp"

namespace simverbs::scenarios {

namespace {

std::shared_ptr<YamlValue> copy_of(const YamlValue& value) {
    return std::make_shared<YamlValue>(value);
}

/// Parameters in parameters must not multiply without end.
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 10U;

/// Do both maps say which kind they are, and not the same?
bool are_of_different_kind(const YamlValue& a, const YamlValue& b) {
    for (const std::string_view key : {"kind", "algorithm"}) {
        const YamlValue* of_a = a.find(key);
        const YamlValue* of_b = b.find(key);
        if (of_a != nullptr && of_b != nullptr && of_a->text != of_b->text) return true;
    }
    return false;
}

void set_entry(YamlValue& map, YamlEntry entry) {
    for (YamlEntry& known : map.entries) {
        if (known.key != entry.key) continue;
        known = std::move(entry);
        return;
    }
    map.entries.push_back(std::move(entry));
}

/// One step of a path: a key, or a number in brackets.
struct PathStep {
    std::string_view text;
    bool is_index = false;
};

/// "a.b[2]" as its steps; empty if it is none.
std::vector<PathStep> steps_of(std::string_view path) {
    std::vector<PathStep> steps;
    while (!path.empty()) {
        if (path.front() == '[') {
            const std::size_t end = path.find(']');
            if (end == std::string_view::npos) return {};
            steps.push_back({path.substr(1, end - 1), true});
            path.remove_prefix(end + 1);
        } else {
            const std::size_t end = std::min(path.find_first_of(".["), path.size());
            if (end == 0) return {};
            steps.push_back({path.substr(0, end), false});
            path.remove_prefix(end);
        }
        if (path.empty() || path.front() == '[') continue;
        if (path.front() != '.' || path.size() == 1) return {};
        path.remove_prefix(1);
    }
    return steps;
}

/// Sets a value deep in a tree; each level is copied.
struct ValueSetter {
    const std::vector<PathStep>& steps;
    const YamlPtr& value;
    const SourcePosition& position;
    DiagnosticSink& sink;

    [[nodiscard]] std::string path_to(std::size_t depth) const {
        std::string path;
        for (std::size_t i = 0; i < depth; ++i) {
            path = steps[i].is_index ? fmt::format("{}[{}]", path, steps[i].text) : child_path(path, steps[i].text);
        }
        return path;
    }

    YamlPtr wrong(std::size_t depth, std::string problem, std::string expected) const {
        sink.add(position, path_to(depth), std::move(problem), std::move(expected));
        return nullptr;
    }

    [[nodiscard]] YamlPtr set(const YamlPtr& node, std::size_t depth) const {
        if (depth == steps.size()) return value;
        return steps[depth].is_index ? set_item(node, depth) : set_key(node, depth);
    }

    [[nodiscard]] YamlPtr set_item(const YamlPtr& node, std::size_t depth) const {
        const auto parsed = parse_integer(steps[depth].text);
        const auto* index = std::get_if<int64_t>(&parsed);
        const std::size_t size = node != nullptr && node->kind == YamlKind::Sequence ? node->items.size() : 0;
        if (index == nullptr || *index < 0 || static_cast<std::size_t>(*index) >= size) {
            return wrong(depth, fmt::format("has no entry {}", in_quotes(steps[depth].text)),
                         size == 0 ? std::string("a list that has it") : fmt::format("0 to {}", size - 1));
        }
        auto out = copy_of(*node);
        const auto at = static_cast<std::size_t>(*index);
        out->items[at] = set(node->items[at], depth + 1);
        return out->items[at] != nullptr ? out : nullptr;
    }

    [[nodiscard]] YamlPtr set_key(const YamlPtr& node, std::size_t depth) const {
        const std::string key(steps[depth].text);
        const bool is_new = node == nullptr || node->kind == YamlKind::Null;
        // `cc: dcqcn` and `topology: fat_tree` stand for maps.
        const bool is_short = !is_new && node->kind == YamlKind::Scalar;
        if (!is_new && node->kind != YamlKind::Map && !is_short) {
            return wrong(depth, fmt::format("is {} and has no key {}", kind_name(node->kind), in_quotes(key)),
                         "an entry such as '[0]'");
        }
        auto out = is_new || is_short ? std::make_shared<YamlValue>() : copy_of(*node);
        out->kind = YamlKind::Map;
        if (is_new) out->position = position;
        if (is_short) expand(*node, depth, *out);
        YamlPtr child;
        for (const YamlEntry& entry : out->entries) {
            if (entry.key == key) child = entry.value;
        }
        YamlPtr made = set(child, depth + 1);
        if (made == nullptr) return nullptr;
        set_entry(*out, {key, position, std::move(made)});
        return out;
    }

    void expand(const YamlValue& node, std::size_t depth, YamlValue& out) const {
        const std::string parent = path_to(depth);
        const char* key = parent == "cc" ? "algorithm" : parent == "nic" ? "profile" : "kind";
        out.position = node.position;
        out.entries.push_back({key, node.position, copy_of(node)});
    }
};

/// Replaces the "${name}" of one text.
struct TextFiller {
    const YamlValue& value;
    const ParameterValues& parameters;
    const std::string& path;
    DiagnosticSink& sink;

    [[nodiscard]] YamlPtr find(const std::string& name) const {
        const auto found = parameters.find(name);
        if (found != parameters.end()) return found->second;
        std::vector<std::string_view> names;
        std::string all;
        for (const auto& [known, unused] : parameters) {
            names.push_back(known);
            all += (all.empty() ? "one of " : ", ") + known;
        }
        std::string hint = did_you_mean(name, names);
        if (hint.empty()) hint = "a '${' that is meant as it is, is written '$${'";
        sink.add(value.position, path, fmt::format("there is no parameter {}", in_quotes(name)),
                 all.empty() ? "a name from `parameters`, which the file does not have" : all, std::move(hint));
        return nullptr;
    }

    [[nodiscard]] YamlPtr filled() const {
        const std::string& text = value.text;
        std::string out;
        for (std::size_t at = 0; at < text.size();) {
            if (text.compare(at, 3, "$${") == 0) {
                out += "${";
                at += 3;
                continue;
            }
            if (text.compare(at, 2, "${") != 0) {
                out += text[at++];
                continue;
            }
            const std::size_t end = text.find('}', at);
            if (end == std::string::npos) {
                sink.add(value.position, path, "a '${' is not closed", "'${name}'");
                return nullptr;
            }
            const YamlPtr found = find(text.substr(at + 2, end - at - 2));
            if (found == nullptr) return nullptr;
            if (at == 0 && end + 1 == text.size()) return moved_to(found, value.position);
            if (found->kind != YamlKind::Scalar) {
                sink.add(value.position, path,
                         fmt::format("the parameter {} is {}", in_quotes(text.substr(at + 2, end - at - 2)),
                                     kind_name(found->kind)),
                         "a single value inside a text");
                return nullptr;
            }
            out += found->text;
            at = end + 1;
        }
        if (out.size() > kMaxTextBytes) {
            sink.add(value.position, path, "becomes too long", fmt::format("at most {} KiB", kMaxTextBytes >> 10U));
            return nullptr;
        }
        auto made = copy_of(value);
        made->text = std::move(out);
        return made;
    }
};

}  // namespace

YamlPtr merged(const YamlPtr& base, const YamlPtr& over) {
    if (base == nullptr) return over;
    if (base->kind != YamlKind::Map || over->kind != YamlKind::Map || are_of_different_kind(*base, *over)) return over;
    auto out = copy_of(*base);
    out->position = over->position;
    // Both may have tens of thousands of entries.
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < base->entries.size(); ++i) places.emplace(base->entries[i].key, i);
    for (const YamlEntry& entry : over->entries) {
        const auto known = places.find(entry.key);
        if (known == places.end()) {
            out->entries.push_back(entry);
        } else {
            const YamlPtr& below = base->entries[known->second].value;
            out->entries[known->second] = {entry.key, entry.key_position, merged(below, entry.value)};
        }
    }
    return out;
}

YamlPtr with_value(const YamlPtr& root, std::string_view path, const YamlPtr& value, const SourcePosition& position,
                   DiagnosticSink& sink) {
    const std::vector<PathStep> steps = steps_of(path);
    if (steps.empty() || steps.size() > static_cast<std::size_t>(kMaxDepth) || steps.front().is_index) {
        sink.add(position, {}, in_quotes(path) + " is not a key", "one such as 'cc.algorithm' or 'workloads[0].load'");
        return nullptr;
    }
    return ValueSetter{steps, value, position, sink}.set(root, 0);
}

YamlPtr moved_to(const YamlPtr& value, const SourcePosition& position) {
    auto out = copy_of(*value);
    out->position = position;
    for (YamlPtr& item : out->items) item = moved_to(item, position);
    for (YamlEntry& entry : out->entries) {
        entry.key_position = position;
        entry.value = moved_to(entry.value, position);
    }
    return out;
}

YamlPtr without_key(const YamlPtr& map, std::string_view key) {
    auto out = copy_of(*map);
    std::erase_if(out->entries, [&](const YamlEntry& entry) { return entry.key == key; });
    return out;
}

YamlPtr with_parameters(const YamlPtr& value, const ParameterValues& parameters, const std::string& path,
                        DiagnosticSink& sink) {
    switch (value->kind) {
        case YamlKind::Null:
            return value;
        case YamlKind::Scalar: {
            if (value->text.find("${") == std::string::npos) return value;
            const YamlPtr filled = TextFiller{*value, parameters, path, sink}.filled();
            if (filled == nullptr) sink.mute(value->position);
            return filled != nullptr ? filled : value;
        }
        case YamlKind::Sequence:
        case YamlKind::Map:
            break;
    }
    auto out = copy_of(*value);
    out->weight = 1;
    for (std::size_t i = 0; i < out->items.size(); ++i) {
        out->items[i] = with_parameters(out->items[i], parameters, item_path(path, i), sink);
        out->weight += out->items[i]->weight;
    }
    for (YamlEntry& entry : out->entries) {
        entry.value = with_parameters(entry.value, parameters, child_path(path, entry.key), sink);
        out->weight += entry.value->weight;
    }
    if (out->weight <= kMaxValues) return out;
    sink.add(value->position, path, "too many values (parameters count each time)",
             fmt::format("at most {}", kMaxValues));
    return std::make_shared<YamlValue>();
}

YamlPtr parse_setting(std::string_view text, const SourcePosition& position, DiagnosticSink& sink) {
    if (text.find_first_not_of(" \t") == std::string_view::npos) {
        sink.add(position, {}, "has no value", "KEY=VALUE");
        return nullptr;
    }
    DiagnosticSink own;
    const YamlPtr value = parse_yaml(text, position.file_name(), own);
    for (const Diagnostic& diagnostic : own.sorted()) {
        sink.add(position, {}, diagnostic.problem, diagnostic.expected, diagnostic.hint);
    }
    return value != nullptr ? moved_to(value, position) : nullptr;
}

}  // namespace simverbs::scenarios
