#include "scenarios/lang/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace simverbs::scenarios {

namespace {

std::string place_to_string(std::string_view file, int line, int column) {
    std::string out(file);
    for (const int part : {line, column}) {
        if (part <= 0) break;
        if (!out.empty()) out += ':';
        out += std::to_string(part);
    }
    return out;
}

}  // namespace

std::string to_string(const SourcePosition& position) {
    return place_to_string(position.file_name(), position.line, position.column);
}

std::string to_string(const Diagnostic& diagnostic) {
    std::string out = place_to_string(diagnostic.file, diagnostic.line, diagnostic.column);
    if (!out.empty()) out += ": ";
    if (!diagnostic.path.empty()) out += diagnostic.path + ": ";
    out += diagnostic.problem;
    if (!diagnostic.expected.empty()) out += "; expected " + diagnostic.expected;
    if (!diagnostic.hint.empty()) out += "; " + diagnostic.hint;
    return out;
}

void DiagnosticSink::add(Diagnostic diagnostic) {
    ++reports_;
    const bool has_place = diagnostic.line > 0 || !diagnostic.file.empty();
    const bool is_known = has_place && std::any_of(kept_.begin(), kept_.end(), [&](const Diagnostic& other) {
                              return other.line == diagnostic.line && other.column == diagnostic.column &&
                                     other.problem == diagnostic.problem && other.file == diagnostic.file &&
                                     (diagnostic.line > 0 || other.path == diagnostic.path);
                          });
    const bool is_muted = std::any_of(muted_.begin(), muted_.end(), [&](const SourcePosition& place) {
        return place.line == diagnostic.line && place.column == diagnostic.column &&
               place.file_name() == diagnostic.file;
    });
    if (is_known || is_muted) return;
    ++count_;
    if (kept_.size() < kMaxKept) kept_.push_back(std::move(diagnostic));
}

void DiagnosticSink::add(const SourcePosition& position, std::string path, std::string problem, std::string expected,
                         std::string hint) {
    add(Diagnostic{std::string(position.file_name()), position.line, position.column, std::move(path),
                   std::move(problem), std::move(expected), std::move(hint)});
}

void DiagnosticSink::merge(const DiagnosticSink& other) {
    for (const Diagnostic& diagnostic : other.kept_) add(diagnostic);
    count_ += other.count_ - other.kept_.size();
}

void DiagnosticSink::mute(const SourcePosition& position) {
    if (position.line > 0 && muted_.size() < kMaxKept) muted_.push_back(position);
}

std::vector<Diagnostic> DiagnosticSink::sorted() const {
    std::vector<Diagnostic> out = kept_;
    std::stable_sort(out.begin(), out.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    });
    return out;
}

std::string DiagnosticSink::to_string() const {
    std::string out;
    for (const Diagnostic& diagnostic : sorted()) out += scenarios::to_string(diagnostic) + '\n';
    if (count_ > kept_.size()) out += fmt::format("and {} more\n", count_ - kept_.size());
    return out;
}

std::string in_quotes(std::string_view text, std::size_t most) {
    std::string out = "'";
    std::size_t used = 0;
    for (; used < text.size() && used < most; ++used) {
        const auto byte = static_cast<unsigned char>(text[used]);
        if (byte == '\n') {
            out += "\\n";
        } else if (byte == '\t') {
            out += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += text[used];
        }
    }
    if (used < text.size()) {
        // A cut must not split a UTF-8 character.
        while (used > 0 && (static_cast<unsigned char>(text[used]) & 0xC0) == 0x80) {
            out.pop_back();
            --used;
        }
        out += "…";
    }
    return out + "'";
}

}  // namespace simverbs::scenarios
