#include "verbs_shim/server/process_maps.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::server {

namespace {

/// "7f0000-7f1000 r--p …" → begin, end, whether it may be read but not written.
bool parse_range(std::string_view line, uint64_t& begin, uint64_t& end, bool& read_only) {
    const char* const last = line.data() + line.size();
    const auto first = std::from_chars(line.data(), last, begin, 16);
    if (first.ec != std::errc{} || first.ptr == last || *first.ptr != '-') return false;
    const auto second = std::from_chars(first.ptr + 1, last, end, 16);
    read_only = last - second.ptr >= 3 && second.ptr[1] == 'r' && second.ptr[2] == '-';
    return second.ec == std::errc{};
}

}  // namespace

bool maps_cover(std::string_view maps_text, uint64_t addr, uint64_t length, bool writable) {
    uint64_t reached = addr;
    uint64_t wanted = 0;
    if (__builtin_add_overflow(addr, length, &wanted)) return false;
    if (length == 0) return true;
    while (!maps_text.empty()) {
        const size_t newline = maps_text.find('\n');
        const std::string_view line = maps_text.substr(0, newline);
        maps_text.remove_prefix(newline == std::string_view::npos ? maps_text.size() : newline + 1);
        uint64_t begin = 0, end = 0;
        bool read_only = false;
        if (!parse_range(line, begin, end, read_only) || end <= reached) continue;
        if (begin > reached || (writable && read_only)) return false;
        reached = end;
        if (reached >= wanted) return true;
    }
    return false;
}

bool is_mapped(pid_t pid, uint64_t addr, uint64_t length, bool writable) {
    const UniqueFd fd(::open(fmt::format("/proc/{}/maps", pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return false;
    std::string text;
    char chunk[65536];
    for (ssize_t n = 0; (n = ::read(fd.get(), chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<size_t>(n));
    return maps_cover(text, addr, length, writable);
}

}  // namespace simverbs::server
