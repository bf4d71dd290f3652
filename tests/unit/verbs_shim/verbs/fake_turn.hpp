#pragma once

#include <cstdint>
#include <functional>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::fake {

struct FakeTurn {
    bool active = false;
    int64_t clock_ps = 0;
    int checkpoints = 0;
    int posts = 0;
    int waits = 0;
    protocol::Wait last_wait;
    protocol::ThreadSlot slot;
    std::function<void()> on_wait;
};
extern FakeTurn g_turn;
/// The event descriptor that client/net was told of last and that is still open; -1 if none.
extern int g_channel_fd;

}  // namespace simverbs::client::fake
