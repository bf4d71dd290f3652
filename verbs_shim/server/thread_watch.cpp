#include "verbs_shim/server/thread_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace simverbs::server {

namespace {

std::string_view read_small_file(const char* path, char* buffer, size_t bytes) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    const ssize_t n = ::read(fd, buffer, bytes);
    ::close(fd);
    return n <= 0 ? std::string_view{} : std::string_view(buffer, static_cast<size_t>(n));
}

}  // namespace

ThreadReading read_thread(pid_t pid, pid_t tid) {
    ThreadReading reading;
    char path[64];
    char buffer[1024];
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    const std::string_view stat = read_small_file(path, buffer, sizeof buffer);
    const size_t name_end = stat.rfind(')');  // the name may hold anything, also parentheses
    if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return reading;
    reading.exists = true;
    reading.state = stat[name_end + 2];
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
    const std::string_view sched = read_small_file(path, buffer, sizeof buffer);
    std::from_chars(sched.data(), sched.data() + sched.size(), reading.run_ns);
    return reading;
}

void ThreadWatch::begin(const ThreadReading& first, int64_t now_ns) {
    begun_run_ns_ = last_run_ns_ = first.run_ns;
    next_probe_ns_ = kFirstProbeNs;
    awake_ns_ = now_ns;
}

WatchVerdict ThreadWatch::look(const ThreadReading& reading, bool in_shim, bool moved, int64_t now_ns) {
    const bool asleep = reading.exists && reading.state == 'S' && reading.run_ns == last_run_ns_ && !moved;
    last_run_ns_ = reading.run_ns;
    if (!asleep) awake_ns_ = now_ns;
    if (now_ns - awake_ns_ >= (in_shim ? kAsleepInShimNs : kAsleepNs)) return WatchVerdict::Lost;
    if (in_shim || reading.run_ns - begun_run_ns_ < next_probe_ns_) return WatchVerdict::Wait;
    begun_run_ns_ = reading.run_ns;
    next_probe_ns_ = std::min(next_probe_ns_ * 2, kMostProbeNs);
    return WatchVerdict::Probe;
}

}  // namespace simverbs::server
