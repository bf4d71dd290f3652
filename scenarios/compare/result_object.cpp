#include "scenarios/compare/result_object.hpp"

#include <fmt/format.h>

namespace simverbs::scenarios::compare {

using Json = nlohmann::ordered_json;

namespace {

const Json kNothing = Json::object();

std::string found(const Json& value) {
    return fmt::format("is {} {}", value.is_array() || value.is_object() ? "an" : "a", value.type_name());
}

}  // namespace

std::string ResultObject::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void ResultObject::report(std::string_view key, std::string problem, std::string expected) const {
    sink_.add({.file = file_, .path = path_of(key), .problem = std::move(problem), .expected = std::move(expected)});
}

template <typename Is>
const Json* ResultObject::find(std::string_view key, std::string_view expected, Is is) const {
    const auto at = value_.is_object() ? value_.find(key) : value_.end();
    if (at == value_.end()) {
        report(key, "is missing", std::string(expected));
        return nullptr;
    }
    if (is(*at)) return &*at;
    report(key, at->is_null() ? "is null" : found(*at), std::string(expected));
    return nullptr;
}

std::string ResultObject::text(std::string_view key) const {
    const Json* at = find(key, "a text", [](const Json& v) { return v.is_string(); });
    return at ? at->get<std::string>() : std::string();
}

double ResultObject::number(std::string_view key) const {
    const Json* at = find(key, "a number", [](const Json& v) { return v.is_number(); });
    return at ? at->get<double>() : 0;
}

std::optional<double> ResultObject::number_or_null(std::string_view key) const {
    const Json* at = find(key, "a number or null", [](const Json& v) { return v.is_number() || v.is_null(); });
    return at && !at->is_null() ? std::optional(at->get<double>()) : std::nullopt;
}

int64_t ResultObject::integer(std::string_view key) const {
    const Json* at = find(key, "a whole number", [](const Json& v) { return v.is_number_integer(); });
    return at ? at->get<int64_t>() : 0;
}

uint64_t ResultObject::unsigned_integer(std::string_view key) const {
    const Json* at =
        find(key, "a whole number that is not negative", [](const Json& v) { return v.is_number_unsigned(); });
    return at ? at->get<uint64_t>() : 0;
}

ResultObject ResultObject::object(std::string_view key) const {
    const Json* at = find(key, "an object", [](const Json& v) { return v.is_object(); });
    return {at ? *at : kNothing, file_, path_of(key), sink_};
}

std::optional<ResultObject> ResultObject::object_or_null(std::string_view key) const {
    const Json* at = find(key, "an object or null", [](const Json& v) { return v.is_object() || v.is_null(); });
    if (at == nullptr || at->is_null()) return std::nullopt;
    return ResultObject(*at, file_, path_of(key), sink_);
}

std::vector<ResultObject> ResultObject::objects(std::string_view key) const {
    const auto is_list = [](const Json& value) {
        if (!value.is_array()) return false;
        for (const Json& entry : value)
            if (!entry.is_object()) return false;
        return true;
    };
    std::vector<ResultObject> out;
    const Json* at = find(key, "a list of objects", is_list);
    for (std::size_t i = 0; at != nullptr && i < at->size(); ++i)
        out.emplace_back((*at)[i], file_, fmt::format("{}[{}]", path_of(key), i), sink_);
    return out;
}

}  // namespace simverbs::scenarios::compare
