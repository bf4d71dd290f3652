#include "scenarios/lang/field_value.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "scenarios/lang/did_you_mean.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios {

namespace {

constexpr std::size_t kMaxNameBytes = 63;

/// A value, or why there is none.
using Reading = std::variant<FieldValue, QuantityError>;

QuantityError not_a(std::string_view text, std::string_view what) {
    return {in_quotes(text) + " is not " + std::string(what), {}};
}

template <typename T>
Reading reading_of(std::variant<T, QuantityError> parsed) {
    if (auto* error = std::get_if<QuantityError>(&parsed)) return std::move(*error);
    return FieldValue(std::get<T>(parsed));
}

Reading read_choice(const Field& field, std::string_view text) {
    const auto found = std::find(field.choices.begin(), field.choices.end(), text);
    if (found != field.choices.end()) return FieldValue(std::string(text));
    QuantityError error = not_a(text, "a choice here");
    error.hint = did_you_mean(text, {field.choices.begin(), field.choices.end()});
    return error;
}

Reading read_flag(std::string_view text) {
    if (text == "true") return FieldValue(true);
    if (text == "false") return FieldValue(false);
    QuantityError error = not_a(text, "a truth value");
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOthers{
        {{"yes", "true"}, {"on", "true"}, {"1", "true"}, {"no", "false"}, {"off", "false"}, {"0", "false"}}};
    for (const auto& [theirs, ours] : kOthers) {
        if (text == theirs) error.hint = "did you mean '" + std::string(ours) + "'?";
    }
    if (error.hint.empty()) error.hint = did_you_mean(text, {"true", "false"});
    return error;
}

Reading read_ipv4(std::string_view text) {
    in_addr address{};
    if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return not_a(text, "an IPv4 address");
    return FieldValue(int64_t{ntohl(address.s_addr)});
}

Reading read_gid(std::string_view text) {
    GidBytes gid{};
    if (inet_pton(AF_INET6, std::string(text).c_str(), gid.data()) != 1) return not_a(text, "a GID");
    return FieldValue(gid);
}

/// `groups` groups of `digits` hexadecimal digits with ':' between them, as one number.
std::optional<uint64_t> grouped_hex(std::string_view text, std::size_t groups, std::size_t digits) {
    if (text.size() != groups * digits + groups - 1) return std::nullopt;
    uint64_t value = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (at % (digits + 1) == digits) {
            if (text[at] != ':') return std::nullopt;
            continue;
        }
        const auto c = static_cast<unsigned char>(text[at]);
        if (std::isxdigit(c) == 0) return std::nullopt;
        value = value << 4 | static_cast<uint64_t>(std::isdigit(c) != 0 ? c - '0' : std::tolower(c) - 'a' + 10);
    }
    return value;
}

Reading read_mac(std::string_view text) {
    const auto value = grouped_hex(text, 6, 2);
    if (!value) return not_a(text, "a MAC address");
    if ((*value >> 40 & 1) != 0) return QuantityError{in_quotes(text) + " is a multicast MAC address", {}};
    return FieldValue(static_cast<int64_t>(*value));
}

Reading read_guid(std::string_view text) {
    auto value = grouped_hex(text, 4, 4);
    const bool hex = text.size() == 18 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!value && hex) value = grouped_hex(text.substr(2), 1, 16);
    if (!value) return not_a(text, "a GUID");
    if (*value == 0) return QuantityError{"a GUID must not be 0", {}};
    return FieldValue(static_cast<int64_t>(*value));
}

Reading read_integers(std::string_view text) {
    auto one = parse_integer(text);
    if (auto* error = std::get_if<QuantityError>(&one)) return std::move(*error);
    return FieldValue(std::vector<int64_t>{std::get<int64_t>(one)});
}

Reading read_scalar(const Field& field, std::string_view text) {
    if (std::find(field.words.begin(), field.words.end(), text) != field.words.end()) {
        return FieldValue(std::string(text));
    }
    switch (field.kind) {
        case FieldKind::Text:
            return FieldValue(std::string(text));
        case FieldKind::Name:
            if (!is_name(text)) return not_a(text, "a name");
            return FieldValue(std::string(text));
        case FieldKind::Integer:
            return reading_of(parse_integer(text));
        case FieldKind::Flag:
            return read_flag(text);
        case FieldKind::Choice:
            return read_choice(field, text);
        case FieldKind::Choices: {
            Reading one = read_choice(field, text);
            if (std::holds_alternative<QuantityError>(one)) return one;
            return FieldValue(std::vector<std::string>{std::string(text)});
        }
        case FieldKind::Rate:
            return reading_of(parse_quantity(QuantityKind::Rate, text));
        case FieldKind::Size:
            return reading_of(parse_quantity(QuantityKind::Size, text));
        case FieldKind::Time:
            return reading_of(parse_quantity(QuantityKind::Time, text));
        case FieldKind::Length:
            return reading_of(parse_quantity(QuantityKind::Length, text));
        case FieldKind::Probability:
            return reading_of(parse_probability(text));
        case FieldKind::Number:
            return reading_of(parse_number(text));
        case FieldKind::Integers:
            return read_integers(text);
        case FieldKind::Ipv4:
            return read_ipv4(text);
        case FieldKind::Mac:
            return read_mac(text);
        case FieldKind::Guid:
            return read_guid(text);
        case FieldKind::Gid:
            return read_gid(text);
        case FieldKind::Section:
        case FieldKind::Structure:
            break;
    }
    return not_a(text, "a list or a map");
}

/// Compares with a limit, which is written in the table like a value.
bool is_below(const Field& field, const FieldValue& value, std::string_view limit_text) {
    const Reading limit = read_scalar(field, limit_text);
    const auto* bound = std::get_if<FieldValue>(&limit);
    return bound != nullptr && value.index() == bound->index() && value < *bound;
}

bool is_above(const Field& field, const FieldValue& value, std::string_view limit_text) {
    const Reading limit = read_scalar(field, limit_text);
    const auto* bound = std::get_if<FieldValue>(&limit);
    return bound != nullptr && value.index() == bound->index() && *bound < value;
}

}  // namespace

bool is_name(std::string_view text) noexcept {
    if (text.empty() || text.size() > kMaxNameBytes) return false;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return is_letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
           });
}

std::optional<FieldValue> read_field_value(const Field& field, std::string_view text, const SourcePosition& position,
                                           const std::string& path, DiagnosticSink& sink) {
    Reading reading = read_scalar(field, text);
    if (auto* error = std::get_if<QuantityError>(&reading)) {
        if (error->hint.empty() && !field.words.empty()) {
            error->hint = did_you_mean(text, {field.words.begin(), field.words.end()});
        }
        sink.add(position, path, std::move(error->problem), expected_value(field), std::move(error->hint));
        return std::nullopt;
    }
    FieldValue& value = std::get<FieldValue>(reading);
    const bool too_small = !field.least.empty() && is_below(field, value, field.least);
    const bool too_large = !field.most.empty() && is_above(field, value, field.most);
    if (too_small || too_large) {
        sink.add(position, path, in_quotes(text) + (too_small ? " is too small" : " is too large"),
                 expected_value(field));
        return std::nullopt;
    }
    return std::move(value);
}

}  // namespace simverbs::scenarios
