// File descriptors that the server listens to, and what to do when they are ready.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::server {

class Poller {
  public:
    /// `epoll_events` that happened.
    using Handler = std::function<void(uint32_t epoll_events)>;

    Poller();
    void add(int fd, uint32_t epoll_events, Handler handler);
    /// Forgets `fd`; legal from a handler, also for the fd being handled.
    void remove(int fd);
    /// Handles what is ready, waiting at most `timeout_ms` (0: not at all) for the first. Returns how many were.
    int poll(int timeout_ms);

  private:
    struct Entry {
        uint64_t generation = 0;
        Handler handler;
    };
    UniqueFd epoll_;
    uint64_t next_generation_ = 1;
    std::unordered_map<int, Entry> entries_;
};

}  // namespace simverbs::server
