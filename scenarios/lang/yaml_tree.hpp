// A YAML document as an immutable tree in which every key and value knows its place in the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios {

/// Limits on what is read; each is a Diagnostic when exceeded, never a crash.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
inline constexpr int kMaxDepth = 64;
/// Values in the document after every alias is followed (so nested aliases cannot multiply without end).
inline constexpr std::size_t kMaxValues = 1'000'000;

enum class YamlKind { Null, Scalar, Sequence, Map };

struct YamlValue;
/// Aliases share the value of their anchor.
using YamlPtr = std::shared_ptr<const YamlValue>;

struct YamlEntry {
    std::string key;
    SourcePosition key_position;
    YamlPtr value;
};

struct YamlValue {
    YamlKind kind = YamlKind::Null;
    SourcePosition position;
    std::string text;                ///< of a Scalar
    bool is_quoted = false;          ///< of a Scalar: not plain, so that its text does not begin at its position
    std::vector<YamlPtr> items;      ///< of a Sequence
    std::vector<YamlEntry> entries;  ///< of a Map, in the file's order, keys distinct
    std::size_t weight = 1;          ///< values in this subtree, aliases followed

    /// The value of `key` in a Map, or nullptr.
    [[nodiscard]] const YamlValue* find(std::string_view key) const noexcept;
};

/// How a message calls a value of this kind: "nothing", "a single value", "a list", "a map".
[[nodiscard]] std::string_view kind_name(YamlKind kind) noexcept;

/// Parses exactly one document. Returns nullptr after adding at least one diagnostic: not UTF-8 text, bad syntax, more
/// than one document, an empty one, duplicate keys, an alias inside its own anchor, a limit exceeded.
[[nodiscard]] YamlPtr parse_yaml(std::string_view text, std::string_view file_name, DiagnosticSink& sink);

/// Reads a regular file of at most kMaxFileBytes; false after adding a diagnostic.
[[nodiscard]] bool read_text_file(const std::string& path, std::string& text, DiagnosticSink& sink);

}  // namespace simverbs::scenarios
