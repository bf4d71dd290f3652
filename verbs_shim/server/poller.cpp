#include "verbs_shim/server/poller.hpp"

#include <sys/epoll.h>

#include <stdexcept>

namespace simverbs::server {

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_.valid()) throw std::runtime_error("cannot make an epoll descriptor");
}

void Poller::add(int fd, uint32_t epoll_events, Handler handler) {
    epoll_event event{};
    event.events = epoll_events;
    event.data.fd = fd;
    const bool known = entries_.contains(fd);
    if (::epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0) return;
    entries_[fd] = {next_generation_++, std::move(handler)};
}

void Poller::remove(int fd) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    entries_.erase(fd);
}

int Poller::poll(int timeout_ms) {
    epoll_event ready[64];
    const int n = ::epoll_wait(epoll_.get(), ready, 64, timeout_ms);
    // A handler may close a descriptor and open another with the same number: what was ready then was the old one.
    const uint64_t before = next_generation_;
    for (int i = 0; i < n; ++i) {
        const auto it = entries_.find(ready[i].data.fd);
        if (it == entries_.end() || it->second.generation >= before) continue;
        const Handler handler = it->second.handler;  // outlives its own removal
        handler(ready[i].events);
    }
    return n < 0 ? 0 : n;
}

}  // namespace simverbs::server
