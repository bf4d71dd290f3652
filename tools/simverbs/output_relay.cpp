#include "tools/simverbs/output_relay.hpp"
#include "tools/simverbs/read_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

namespace simverbs::tools {

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n > 0) {
            text.remove_prefix(static_cast<size_t>(n));
        } else if (errno == EAGAIN) {
            pollfd p{fd, POLLOUT, 0};
            ::poll(&p, 1, 100);
        } else if (errno != EINTR) {
            return;
        }
    }
}

OutputRelay::WriteEnds OutputRelay::add_program(const std::string& prefix) {
    WriteEnds ends;
    for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
        int pipe_ends[2];
        if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe for a program's output");
        ::fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
        ::fcntl(pipe_ends[1], F_SETPIPE_SZ, 1 << 20);  // best effort: fewer programs wait for us
        auto stream = std::make_unique<Stream>();
        stream->read_end = server::UniqueFd(pipe_ends[0]);
        stream->prefix = prefix;
        stream->to = to;
        if (!any_ready_.valid()) any_ready_ = server::UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
        epoll_event event{};
        event.events = EPOLLIN;
        if (::epoll_ctl(any_ready_.get(), EPOLL_CTL_ADD, pipe_ends[0], &event) != 0)
            throw std::runtime_error("cannot watch a program's output");
        streams_.push_back(std::move(stream));
        (to == STDOUT_FILENO ? ends.out : ends.err) = server::UniqueFd(pipe_ends[1]);
    }
    return ends;
}

bool OutputRelay::drain() {
    // Asked at every change of process, mostly in vain.
    epoll_event first{};
    if (::epoll_wait(any_ready_.get(), &first, 1, 0) <= 0) return false;
    std::vector<pollfd> polls;
    for (const auto& stream : streams_) polls.push_back({stream->read_end.get(), POLLIN, 0});  // -1 is skipped
    if (::poll(polls.data(), polls.size(), 0) <= 0) return false;
    bool any = false;
    for (size_t i = 0; i < polls.size(); ++i) {
        if (polls[i].revents != 0) any = drain_stream(*streams_[i]) || any;
    }
    return any;
}

bool OutputRelay::drain_stream(Stream& stream) {
    const bool any = read_pipe(stream.read_end, [&](std::string_view text) { stream.partial += text; });
    pass_lines(stream);
    return any;
}

void OutputRelay::pass_lines(Stream& stream) {
    const size_t end = stream.partial.rfind('\n');
    if (end == std::string::npos) return;
    std::string out;
    std::string_view rest = std::string_view(stream.partial).substr(0, end + 1);
    while (!rest.empty()) {
        const size_t newline = rest.find('\n');
        out += stream.prefix;
        out += rest.substr(0, newline + 1);
        rest.remove_prefix(newline + 1);
    }
    write_all(stream.to, out);
    stream.partial.erase(0, end + 1);
}

void OutputRelay::finish() {
    for (const auto& stream : streams_) {
        if (stream->read_end.valid()) drain_stream(*stream);
        if (!stream->partial.empty()) {
            stream->partial += '\n';
            pass_lines(*stream);
        }
    }
}

void OutputRelay::say(std::string_view line) {
    drain();
    std::string text(line);
    text += '\n';
    write_all(STDERR_FILENO, text);
}

}  // namespace simverbs::tools
