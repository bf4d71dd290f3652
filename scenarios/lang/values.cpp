#include "scenarios/lang/values.hpp"

#include <utility>

#include "sim/check.hpp"

namespace simverbs::scenarios {

Values::Values(const Section& section) {
    for (const Field& field : section.schema().fields) {
        if (field.kind == FieldKind::Section || field.kind == FieldKind::Structure) continue;
        if (auto value = section.value(field.key)) {
            set(field.key, {field.kind, std::move(*value), section.has(field.key), section.path(field.key),
                            section.position(field.key)});
        }
    }
}

void Values::set(std::string_view key, CheckedValue value) {
    values_.insert_or_assign(std::string(key), std::move(value));
}

const CheckedValue* Values::find(std::string_view key) const noexcept {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
}

bool Values::is_word(std::string_view key, std::string_view word) const {
    const CheckedValue* found = find(key);
    const auto* text = found != nullptr ? std::get_if<std::string>(&found->value) : nullptr;
    return text != nullptr && *text == word;
}

template <typename T>
T Values::value_of(std::string_view key) const {
    const CheckedValue* found = find(key);
    if (found == nullptr) return T{};
    SIM_CHECK(std::holds_alternative<T>(found->value));
    return std::get<T>(found->value);
}

template std::string Values::value_of<std::string>(std::string_view) const;
template int64_t Values::value_of<int64_t>(std::string_view) const;
template bool Values::value_of<bool>(std::string_view) const;
template double Values::value_of<double>(std::string_view) const;
template std::vector<int64_t> Values::value_of<std::vector<int64_t>>(std::string_view) const;

}  // namespace simverbs::scenarios
