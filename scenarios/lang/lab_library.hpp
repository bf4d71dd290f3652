// Labs by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"

namespace simverbs::scenarios {

/// The lab used when a user names none.
inline constexpr std::string_view kDefaultLabName = "two_hosts_roce";

/// Names of the labs in a library folder (its *.yaml files), sorted; empty if there is no such folder.
[[nodiscard]] std::vector<std::string> list_labs(const std::string& library_dir);

/// The file that a user means: a text with '/' in it or that ends in .yaml or .yml is a path and is returned as it is;
/// all else names a lab of the library. nullopt after a diagnostic that suggests the nearest name.
[[nodiscard]] std::optional<std::string> find_lab(std::string_view name_or_path, const std::string& library_dir,
                                                  DiagnosticSink& sink);

}  // namespace simverbs::scenarios
