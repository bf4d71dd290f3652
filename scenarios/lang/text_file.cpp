#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "scenarios/lang/yaml_tree.hpp"

namespace simverbs::scenarios {

bool read_text_file(const std::string& path, std::string& text, DiagnosticSink& sink) {
    const SourcePosition place{std::make_shared<const std::string>(path), 0, 0};
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        const bool missing = !error || error == std::errc::no_such_file_or_directory;
        sink.add(place, {}, missing ? "there is no such file" : "cannot be read: " + error.message());
        return false;
    }
    // Only regular files: a FIFO without a writer or a terminal would block.
    if (!std::filesystem::is_regular_file(status)) {
        sink.add(place, {}, "is not a regular file");
        return false;
    }
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        sink.add(place, {}, fmt::format("cannot be read: {}", std::strerror(errno)));
        return false;
    }
    text.resize(kMaxFileBytes + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (in.bad() || (in.fail() && !in.eof())) {
        sink.add(place, {}, "cannot be read");
        return false;
    }
    if (text.size() > kMaxFileBytes) {
        sink.add(place, {}, "the file is too large", fmt::format("at most {} MiB", kMaxFileBytes >> 20));
        return false;
    }
    return true;
}

}  // namespace simverbs::scenarios
