// What every verbs call has around it: the scope inside the shim, liveness of the context, errno afterwards.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <new>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/turn/turn.hpp"
#include "verbs_shim/client/verbs/objects.hpp"

namespace simverbs::client::verbs {

/// 0, or why no call on this context can succeed: EIO in the child of the fork that inherited it and once the server
/// has gone.
inline int liveness(ibv_context* c) noexcept {
    return to_context(c)->epoch == connection::epoch() && !connection::server_gone() ? 0 : EIO;
}

/// Runs `f`, which returns 0 or an errno, inside the shim. The verbs convention: the errno is the return value.
template <typename F>
int call(ibv_context* c, F f) {
    const turn::InShim in_shim;
    if (const int error = liveness(c)) return error;
    return f();
}

/// The same for what names a device and no object: it works in a forked child, too.
template <typename F>
int call_on_device(F f) {
    const turn::InShim in_shim;
    if (connection::server_gone()) return EIO;
    return f();
}

/// Runs `f(error)`, which returns an object or sets `error`, inside the shim. Leaves errno as a failed call does.
template <typename F>
auto call_for_object(ibv_context* c, F f) -> decltype(f(*static_cast<int*>(nullptr))) {
    int error = 0;
    decltype(f(error)) object = nullptr;
    {
        const turn::InShim in_shim;
        error = liveness(c);
        if (error == 0) object = f(error);
        if (object == nullptr && error == 0) error = EIO;
    }
    if (object == nullptr) errno = error;
    return object;
}

/// A control request (its CPU cost is charged by the server, which advances the caller's clock).
template <typename Request, typename Reply>
int control(const Request& request, Reply& reply, int* fds = nullptr, int max_fds = 0) noexcept {
    const int error = connection::request(&request, &reply, sizeof reply, fds, max_fds);
    return error == ENODEV && connection::server_gone() ? EIO : error;
}

/// A request that names one object.
inline protocol::ObjectRequest object_request(protocol::Op op, ibv_context* c, uint32_t handle,
                                              uint64_t arg = 0) noexcept {
    auto r = connection::make_request<protocol::ObjectRequest>(op);
    r.context = to_context(c)->handle;
    r.handle = handle;
    r.arg = arg;
    return r;
}

/// Destroys, closes, deallocates: 0 or an errno.
inline int destroy_object(protocol::Op op, ibv_context* c, uint32_t handle) noexcept {
    protocol::ReplyHeader reply;
    return control(object_request(op, c, handle), reply);
}

template <typename T>
T* make_object() noexcept {
    void* const memory = std::calloc(1, sizeof(T) + alignof(T));
    return memory == nullptr ? nullptr : new (memory) T{};
}

template <typename T>
void free_object(T* object) noexcept {
    object->~T();
    std::free(object);
}

}  // namespace simverbs::client::verbs
