// What the tests of the lab language share.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "scenarios/lang/lab_loader.hpp"

namespace simverbs::scenarios::testing {

inline std::filesystem::path source_root() {
    return SIMVERBS_SOURCE_ROOT;
}

inline std::string file_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The platforms of the library.
inline std::vector<KnownPlatform> known_platforms() {
    static const std::map<std::string, std::string> kTexts = [] {
        std::map<std::string, std::string> texts;
        for (const auto& entry : std::filesystem::directory_iterator(source_root() / "scenarios/library/platforms"))
            texts[entry.path().stem().string()] = file_text(entry.path());
        return texts;
    }();
    std::vector<KnownPlatform> platforms;
    for (const auto& [name, text] : kTexts) platforms.push_back({name, "platforms/" + name + ".yaml", text});
    return platforms;
}

inline LabOptions known_profiles() {
    LabOptions options;
    options.profiles = {{"cx5-100g"},
                        {"cx6-hdr100", LinkLayer::InfiniBand},
                        {"cx6-200g"},
                        {"cx7-400g"},
                        {"ndr-400g", LinkLayer::InfiniBand},
                        {"generic-25g", LinkLayer::Ethernet, "simverbs"},
                        {"ideal", LinkLayer::Ethernet, "simverbs"},
                        {"rxe", LinkLayer::Ethernet, "rxe", {0, 0}}};
    options.platforms = known_platforms();
    return options;
}

/// The lab that `text` describes, or all its errors.
struct Loaded {
    std::optional<LabSpec> lab;
    std::string errors;
};

inline Loaded load(std::string_view text, const LabOptions& options = known_profiles()) {
    DiagnosticSink sink;
    Loaded out;
    out.lab = parse_lab(text, "lab.yaml", options, sink);
    out.errors = sink.to_string();
    return out;
}

inline std::string library_dir() {
    return (source_root() / "scenarios/library/labs").string();
}

}  // namespace simverbs::scenarios::testing
