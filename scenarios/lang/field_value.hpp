// One scalar of the file, read as the kind that its field asks for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/schema.hpp"

namespace simverbs::scenarios {

using GidBytes = std::array<uint8_t, 16>;

/// Text, Name, Choice: string. Integer, quantities (in base units), Ipv4, Mac, Guid: int64 (a Guid bit for bit).
/// Flag: bool. Probability, Number: double. Choices: list. Gid: 16 bytes. Integers: list. A word that stands instead of
/// a quantity (Field::words): string.
using FieldValue =
    std::variant<std::string, int64_t, bool, double, std::vector<std::string>, GidBytes, std::vector<int64_t>>;

/// Reads `text` as `field` asks; nullopt after adding a diagnostic at `position` and `path`.
[[nodiscard]] std::optional<FieldValue> read_field_value(const Field& field, std::string_view text,
                                                         const SourcePosition& position, const std::string& path,
                                                         DiagnosticSink& sink);

/// Is `text` a name in the sense of FieldKind::Name?
[[nodiscard]] bool is_name(std::string_view text) noexcept;
inline constexpr std::string_view kExpectedName =
    "a name of letters, digits, '_' and '-' that begins with a letter, at most 63 characters";

}  // namespace simverbs::scenarios
