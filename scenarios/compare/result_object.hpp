// An object of result.json, read key by key; what is not as it should be becomes a diagnostic with its place.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios::compare {

class ResultObject {
  public:
    /// `path` names it: "groups[0]"; "" for the whole file.
    ResultObject(const nlohmann::ordered_json& value, std::string file, std::string path, DiagnosticSink& sink)
        : value_(value), file_(std::move(file)), path_(std::move(path)), sink_(sink) {}

    // What is missing or of another type is 0, "" or empty, and reported.
    [[nodiscard]] std::string text(std::string_view key) const;
    [[nodiscard]] double number(std::string_view key) const;
    [[nodiscard]] std::optional<double> number_or_null(std::string_view key) const;
    [[nodiscard]] int64_t integer(std::string_view key) const;
    [[nodiscard]] uint64_t unsigned_integer(std::string_view key) const;
    [[nodiscard]] ResultObject object(std::string_view key) const;
    /// nullopt for null.
    [[nodiscard]] std::optional<ResultObject> object_or_null(std::string_view key) const;
    [[nodiscard]] std::vector<ResultObject> objects(std::string_view key) const;

    [[nodiscard]] bool has(std::string_view key) const { return value_.is_object() && value_.contains(key); }
    [[nodiscard]] const nlohmann::ordered_json& value() const noexcept { return value_; }
    void report(std::string_view key, std::string problem, std::string expected) const;

  private:
    /// nullptr: reported.
    template <typename Is>
    const nlohmann::ordered_json* find(std::string_view key, std::string_view expected, Is is) const;
    [[nodiscard]] std::string path_of(std::string_view key) const;

    const nlohmann::ordered_json& value_;
    std::string file_;
    std::string path_;
    DiagnosticSink& sink_;
};

}  // namespace simverbs::scenarios::compare
