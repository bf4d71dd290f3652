#include "tools/simverbs/output_capture.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "tools/simverbs/output_relay.hpp"
#include "tools/simverbs/read_pipe.hpp"

namespace simverbs::tools {

namespace {

constexpr int kPipeBytes = 1 << 20;  ///< best effort: fewer programs wait for us

}  // namespace

OutputCapture::WriteEnds OutputCapture::add_program(const std::string& prefix) {
    WriteEnds ends;
    if (!any_ready_.valid()) any_ready_ = server::UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
        int pipe_ends[2];
        if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe for a program's output");
        auto stream = std::make_unique<Stream>();
        stream->read_end = server::UniqueFd(pipe_ends[0]);
        (to == STDOUT_FILENO ? ends.out : ends.err) = server::UniqueFd(pipe_ends[1]);
        ::fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
        ::fcntl(pipe_ends[0], F_SETPIPE_SZ, kPipeBytes);
        stream->program = texts_.size();
        stream->to = to;
        epoll_event event{};
        event.events = EPOLLIN;
        if (::epoll_ctl(any_ready_.get(), EPOLL_CTL_ADD, pipe_ends[0], &event) != 0)
            throw std::runtime_error("cannot watch a program's output");
        streams_.push_back(std::move(stream));
    }
    texts_.push_back({prefix, {}});
    return ends;
}

size_t OutputCapture::watch(size_t program, const std::string& pattern) {
    watches_.push_back({program, std::regex(pattern, std::regex::ECMAScript), false});
    return watches_.size() - 1;
}

bool OutputCapture::drain() {
    // Asked at every change of process, mostly in vain.
    epoll_event first{};
    if (!any_ready_.valid() || ::epoll_wait(any_ready_.get(), &first, 1, 0) <= 0) return false;
    bool any = false;
    for (const auto& stream : streams_) {
        if (stream->read_end.valid()) any = drain_stream(*stream) || any;
    }
    return any;
}

bool OutputCapture::drain_stream(Stream& stream) {
    return read_pipe(stream.read_end, [&](std::string_view text) {
        stream.partial += text;
        take_lines(stream);
    });
}

void OutputCapture::take_lines(Stream& stream) {
    std::string_view rest = stream.partial;
    for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
        take_line(stream, rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    // A line without an end must not fill the memory.
    if (rest.size() > kKeptBytes) {
        take_line(stream, rest);
        rest = {};
    }
    stream.partial = std::string(rest);
}

void OutputCapture::take_line(const Stream& stream, std::string_view line) {
    for (Watch& w : watches_) {
        if (w.program != stream.program || w.has_matched) continue;
        const std::string_view seen = line.substr(0, kMatchedBytes);
        w.has_matched = std::regex_search(seen.begin(), seen.end(), w.pattern);
    }
    if (echo_) write_all(stream.to, fmt::format("{}{}\n", texts_[stream.program].prefix, line));
    Text& text = texts_[stream.program].of_streams[stream.to == STDOUT_FILENO ? 0 : 1];
    std::string& kept = text.head.size() < kKeptBytes ? text.head : text.tail;
    kept.append(line);
    kept.push_back('\n');
    if (text.tail.size() <= 2 * kKeptBytes) return;
    const size_t surplus = text.tail.size() - kKeptBytes;
    text.left_out += surplus;
    text.tail.erase(0, surplus);
}

void OutputCapture::finish() {
    for (const auto& stream : streams_) {
        if (stream->read_end.valid()) drain_stream(*stream);
        if (!stream->partial.empty()) take_line(*stream, stream->partial);
        stream->partial.clear();
    }
}

std::string OutputCapture::text(size_t program) const {
    const auto& [out, err] = texts_[program].of_streams;
    return kept_of(out) + kept_of(err);
}

std::string OutputCapture::kept_of(const Text& t) {
    const size_t surplus = t.tail.size() > kKeptBytes ? t.tail.size() - kKeptBytes : 0;
    const uint64_t left_out = t.left_out + surplus;
    if (left_out == 0) return t.head + t.tail;
    return fmt::format("{}[{} bytes left out]\n{}", t.head, left_out, t.tail.substr(surplus));
}

}  // namespace simverbs::tools
