// A control request under the turn: send, give up the turn until it has been answered, read the answer.
#include <errno.h>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/turn/thread_state.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::turn {

int control(const void* request, void* reply, size_t reply_bytes, int* fds, int max_fds) {
    InShim guard;
    for (int i = 0; i < max_fds; ++i) fds[i] = -1;
    if (!active())
        return connection::server_gone() ? ENODEV : connection::request(request, reply, reply_bytes, fds, max_fds);
    note_progress();
    if (const int error = connection::send_request(request)) return error;
    if (!hand_off(protocol::Yield::Control)) return ENODEV;
    return connection::receive_reply(reply, reply_bytes, fds, max_fds);
}

}  // namespace simverbs::client::turn
