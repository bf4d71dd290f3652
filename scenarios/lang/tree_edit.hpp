// Trees made of other trees: a file over the files that it includes, values that are set from outside, parameters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/yaml_tree.hpp"

namespace simverbs::scenarios {

/// `over` on top of `base`: maps are merged key by key, all else is replaced; so is a map whose `kind` or `algorithm`
/// is another one. Everything keeps its place.
[[nodiscard]] YamlPtr merged(const YamlPtr& base, const YamlPtr& over);

/// `root` with `value` at `path` ("cc.algorithm", "workloads[0].load"); maps that are missing are made. nullptr after
/// a report at `position` if the path leads through something that is no map, or to a list entry that is not there.
[[nodiscard]] YamlPtr with_value(const YamlPtr& root, std::string_view path, const YamlPtr& value,
                                 const SourcePosition& position, DiagnosticSink& sink);

/// `value` and all in it, standing at one place.
[[nodiscard]] YamlPtr moved_to(const YamlPtr& value, const SourcePosition& position);

/// The map without that key.
[[nodiscard]] YamlPtr without_key(const YamlPtr& map, std::string_view key);

using ParameterValues = std::map<std::string, YamlPtr, std::less<>>;

/// `value` with every "${name}" in a single value replaced ("$${" becomes "${"). A text that is nothing but "${name}"
/// becomes the parameter's value, a list or map included. Unknown names are reported; values keep the place where
/// they are used.
[[nodiscard]] YamlPtr with_parameters(const YamlPtr& value, const ParameterValues& parameters, const std::string& path,
                                      DiagnosticSink& sink);

/// Reads `text` ("key=value" behind the '=') as YAML; nullptr after a report at `position`.
[[nodiscard]] YamlPtr parse_setting(std::string_view text, const SourcePosition& position, DiagnosticSink& sink);

/// The file at `path` with all that it includes, merged; nullptr after a report.
[[nodiscard]] YamlPtr load_with_includes(const std::string& path, DiagnosticSink& sink);
/// The same of a text.
[[nodiscard]] YamlPtr parse_with_includes(std::string_view text, std::string_view file_name, DiagnosticSink& sink);

}  // namespace simverbs::scenarios
