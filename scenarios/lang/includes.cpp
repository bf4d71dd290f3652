#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "scenarios/lang/section.hpp"
#include "scenarios/lang/tree_edit.hpp"

namespace simverbs::scenarios {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNestedIncludes = 16;
constexpr std::string_view kIncludeKey = "include";

/// Reads files and what they include; `open` has the files that are being read.
struct IncludeReader {
    DiagnosticSink& sink;
    std::vector<fs::path> open{};

    YamlPtr read_text(std::string_view text, const std::string& file_name) {
        const YamlPtr root = parse_yaml(text, file_name, sink);
        if (root == nullptr || root->kind != YamlKind::Map) return root;
        const YamlValue* include = root->find(kIncludeKey);
        if (include == nullptr) return root;
        open.push_back(fs::weakly_canonical(file_name));
        YamlPtr base;
        bool is_right = true;
        const auto add = [&](const YamlValue& item, const std::string& path) {
            const YamlPtr included = read_item(item, path);
            is_right = is_right && included != nullptr;
            if (included != nullptr) base = merged(base, included);
        };
        if (include->kind == YamlKind::Sequence) {
            for (std::size_t i = 0; i < include->items.size(); ++i) {
                add(*include->items[i], item_path(std::string(kIncludeKey), i));
            }
        } else {
            add(*include, std::string(kIncludeKey));
        }
        open.pop_back();
        if (!is_right) return nullptr;
        return merged(base, without_key(root, kIncludeKey));
    }

    YamlPtr read_item(const YamlValue& item, const std::string& path) {
        if (item.kind != YamlKind::Scalar) {
            report_wrong_shape(item, path, "a file or a list of files", sink);
            return nullptr;
        }
        const fs::path file = fs::path(item.position.file_name()).parent_path() / item.text;
        std::error_code error;
        const bool is_open = std::find(open.begin(), open.end(), fs::weakly_canonical(file, error)) != open.end();
        if (is_open || open.size() > kMostNestedIncludes) {
            sink.add(item.position, path,
                     is_open ? fmt::format("the file {} includes itself", in_quotes(item.text))
                             : std::string("includes are nested too deeply"),
                     is_open ? "" : fmt::format("at most {} levels", kMostNestedIncludes));
            return nullptr;
        }
        if (!fs::exists(file, error)) {
            sink.add(item.position, path,
                     fmt::format("there is no file {}", in_quotes(file.string(), kMaxQuotedFileBytes)), {},
                     "it is looked for beside the file that includes it");
            return nullptr;
        }
        if (!fs::is_regular_file(file, error)) {
            sink.add(item.position, path,
                     fmt::format("{} is not a regular file", in_quotes(file.string(), kMaxQuotedFileBytes)),
                     "the file of a scenario, or a part of one");
            return nullptr;
        }
        std::string text;
        if (!read_text_file(file.string(), text, sink)) return nullptr;
        const YamlPtr root = read_text(text, file.string());
        if (root == nullptr || root->kind == YamlKind::Map) return root;
        report_wrong_shape(*root, {}, "a map of keys and values", sink);
        return nullptr;
    }
};

}  // namespace

YamlPtr parse_with_includes(std::string_view text, std::string_view file_name, DiagnosticSink& sink) {
    return IncludeReader{sink}.read_text(text, std::string(file_name));
}

YamlPtr load_with_includes(const std::string& path, DiagnosticSink& sink) {
    std::string text;
    if (!read_text_file(path, text, sink)) return nullptr;
    return parse_with_includes(text, path, sink);
}

}  // namespace simverbs::scenarios
