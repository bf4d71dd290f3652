#include "scenarios/lang/lab_library.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "scenarios/lang/did_you_mean.hpp"

namespace simverbs::scenarios {

std::vector<std::string> list_labs(const std::string& library_dir) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(library_dir, error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() == ".yaml") names.push_back(at->path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<std::string> find_lab(std::string_view name_or_path, const std::string& library_dir,
                                    DiagnosticSink& sink) {
    const bool is_path = name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".yaml") ||
                         name_or_path.ends_with(".yml");
    if (is_path) return std::string(name_or_path);
    const std::vector<std::string> names = list_labs(library_dir);
    if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
        return (std::filesystem::path(library_dir) / (std::string(name_or_path) + ".yaml")).string();
    }
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "one of " : ", ") + name;
    if (names.empty()) all = "a lab in the library " + in_quotes(library_dir) + ", which has none";
    sink.add({}, {}, "there is no lab " + in_quotes(name_or_path), all + ", or the path of a lab file",
             did_you_mean(name_or_path, {names.begin(), names.end()}));
    return std::nullopt;
}

}  // namespace simverbs::scenarios
