// A server that grants everything: enough of the control protocol for one process after the other, and the rings for
// a test to look at and to fill.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "verbs_shim/protocol/messages.hpp"
#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::test {

/// A ring in a client's arena, the server's view.
struct ServerRing {
    protocol::RingHeader* header = nullptr;
    protocol::RingRef ref;
    template <typename T>
    T& slot(uint32_t i) const {
        auto* const slots = reinterpret_cast<uint8_t*>(header + 1);
        return *reinterpret_cast<T*>(slots + static_cast<size_t>(i & (ref.capacity - 1)) * ref.stride);
    }
};

class FakeServer {
  public:
    explicit FakeServer(uint64_t layout_hash = protocol::layout_hash());
    ~FakeServer();
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

    /// As if the server had been killed: every socket closes, nothing is said.
    void die();
    const std::string& path() const { return path_; }
    protocol::LabShared& lab() { return *lab_; }
    protocol::ArenaHeader& arena() { return *reinterpret_cast<protocol::ArenaHeader*>(arena_); }

    ServerRing cq(uint32_t handle) { return rings_.at(key('c', handle)); }
    ServerRing sq(uint32_t qp_num) { return rings_.at(key('s', qp_num)); }
    ServerRing rq(uint32_t qp_num) { return rings_.at(key('r', qp_num)); }
    ServerRing srq(uint32_t handle) { return rings_.at(key('q', handle)); }

    /// Appends a completion to a CQ.
    void complete(uint32_t cq_handle, const protocol::CqSlot& slot);
    /// Writes an event into the channel or async descriptor whose other end the client holds as `client_fd` (the client
    /// is this process).
    void write_event_of(int client_fd, const protocol::ChannelEvent& event);

    int next_error = 0;  ///< the next request that is not Hello or Explain fails with it
    std::vector<std::string> explanations();
    uint64_t requests(protocol::Op op) { return counts_[static_cast<size_t>(op)]; }

  private:
    static uint64_t key(char kind, uint32_t handle) { return static_cast<uint64_t>(kind) << 32 | handle; }
    void accept_loop();
    void serve(int fd);
    /// Answers one message; fds to send along are put into `fds`.
    size_t answer(const uint8_t* message, uint8_t* reply, std::vector<int>& fds);
    ServerRing make_ring(char kind, uint32_t handle, uint32_t entries, uint32_t stride);
    int make_event_fd();

    uint64_t layout_hash_;
    std::string path_;
    int listener_ = -1;
    int lab_fd_ = -1, arena_fd_ = -1;
    protocol::LabShared* lab_ = nullptr;
    uint8_t* arena_ = nullptr;
    uint64_t arena_used_ = sizeof(protocol::ArenaHeader);
    uint32_t handles_ = 0;
    std::map<uint64_t, ServerRing> rings_;
    std::vector<int> event_fds_;
    std::mutex mutex_;
    std::vector<int> clients_;
    std::vector<std::thread> threads_;
    std::vector<std::string> explanations_;
    std::atomic<uint64_t> counts_[static_cast<size_t>(protocol::Op::kCount)] = {};
    std::atomic<bool> dead_{false};
};

}  // namespace simverbs::test
