#include "scenarios/lang/schema.hpp"

#include <fmt/format.h>

#include "scenarios/lang/field_value.hpp"
#include "scenarios/lang/quantity.hpp"

namespace simverbs::scenarios {

namespace {

std::string one_of(std::span<const std::string_view> choices) {
    std::string out;
    for (const std::string_view choice : choices) out += (out.empty() ? "" : ", ") + std::string(choice);
    return out;
}

/// The kind without the field's limits.
std::string expected_kind(const Field& field) {
    switch (field.kind) {
        case FieldKind::Text:
            return "a text";
        case FieldKind::Name:
            return std::string(kExpectedName);
        case FieldKind::Integer:
            return "a whole number";
        case FieldKind::Flag:
            return "true or false";
        case FieldKind::Choice:
            return "one of " + one_of(field.choices);
        case FieldKind::Choices:
            return "a list of " + one_of(field.choices);
        case FieldKind::Rate:
            return expected_quantity(QuantityKind::Rate);
        case FieldKind::Size:
            return expected_quantity(QuantityKind::Size);
        case FieldKind::Time:
            return expected_quantity(QuantityKind::Time);
        case FieldKind::Length:
            return expected_quantity(QuantityKind::Length);
        case FieldKind::Probability:
            return "a probability such as '1e-5' or '0.1 %'";
        case FieldKind::Number:
            return "a number such as '0.8' or '1/256'";
        case FieldKind::Integers:
            return "a whole number or a list of them";
        case FieldKind::Ipv4:
            return "an IPv4 address such as '10.0.0.1'";
        case FieldKind::Mac:
            return "a unicast MAC address such as '02:00:00:00:00:01'";
        case FieldKind::Guid:
            return "a GUID such as '0x0002c90300a0b1c2' or '0002:c903:00a0:b1c2'";
        case FieldKind::Gid:
            return "a GID such as 'fe80::2:c903:a0:b1c2'";
        case FieldKind::Section:
            return "a map";
        case FieldKind::Structure:
            return std::string(field.shape);
    }
    return "";
}

}  // namespace

const Field* ComponentSchema::find(std::string_view key) const noexcept {
    for (const Field& field : fields) {
        if (field.key == key) return &field;
    }
    return nullptr;
}

std::vector<std::string_view> ComponentSchema::keys() const {
    std::vector<std::string_view> out;
    for (const Field& field : fields) out.push_back(field.key);
    return out;
}

std::string expected_value(const Field& field) {
    const std::string kind = expected_kind(field);
    const std::string words = field.words.empty() ? "" : ", or " + one_of(field.words);
    if (!field.least.empty() && !field.most.empty())
        return fmt::format("{} from {} to {}{}", kind, field.least, field.most, words);
    if (!field.least.empty()) return fmt::format("{}, at least {}{}", kind, field.least, words);
    if (!field.most.empty()) return fmt::format("{}, at most {}{}", kind, field.most, words);
    return kind + words;
}

}  // namespace simverbs::scenarios
