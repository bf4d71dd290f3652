#include "verbs_shim/client/verbs/context.hpp"

#include <fcntl.h>
#include <pthread.h>

#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/device_table.hpp"
#include "verbs_shim/client/verbs/event_fd.hpp"
#include "verbs_shim/ops/context_ops.hpp"

namespace simverbs::client::verbs {

namespace {

constexpr int kCompVectors = 16;

/// Programs hand cmd_fd to fcntl() and select(): it must be a descriptor, even though no request goes through it.
int open_command_fd() {
    return static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, as_argument("/dev/null"), O_RDWR | O_CLOEXEC));
}

ibv_context* open(ibv_device* device, int& error) {
    error = connection::server_gone() ? EIO : 0;
    if (error != 0) return nullptr;
    auto request = connection::make_request<protocol::DeviceRequest>(protocol::Op::OpenDevice);
    request.device = index_of(device);
    protocol::OpenDeviceReply reply;
    const auto& info = info_of(device);
    int async_fd = -1;
    error = connection::request(&request, &reply, sizeof reply, &async_fd, 1);
    if (error != 0) return nullptr;
    auto* const c = make_object<Context>();
    if (c == nullptr) {
        error = ENOMEM;
        return nullptr;
    }
    c->epoch = connection::epoch();
    c->handle = reply.context;
    c->info = &info;
    c->device = index_of(device);
    c->async_key = reply.async_key;
    adopt_event_fd(async_fd, reply.async_key);
    c->verbs.sz = sizeof(verbs_context);
    c->verbs.context.device = device;
    c->verbs.context.cmd_fd = open_command_fd();
    c->verbs.context.async_fd = async_fd;
    c->verbs.context.num_comp_vectors = kCompVectors;
    c->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&c->verbs.context.mutex, nullptr);
    ops::fill_context(c->verbs);
    return c->ibv();
}

}  // namespace

ibv_context* open_device(ibv_device* device) {
    int error = 0;
    ibv_context* context = nullptr;
    {
        const turn::InShim in_shim;
        context = open(device, error);
    }
    if (context == nullptr) errno = error;
    return context;
}

uint32_t handle_here(ibv_context* context, int& error) {
    Context& c = *to_context(context);
    error = connection::server_gone() ? EIO : 0;
    if (error != 0) return 0;
    if (c.epoch == connection::epoch()) return c.handle;
    if (c.child_handle != 0 && c.child_epoch == connection::epoch()) return c.child_handle;
    auto request = connection::make_request<protocol::DeviceRequest>(protocol::Op::OpenDevice);
    request.device = c.device;
    protocol::OpenDeviceReply reply;
    int events = -1;
    error = connection::request(&request, &reply, sizeof reply, &events, 1);
    if (error != 0) return 0;
    if (events >= 0) raw_syscall(SYS_close, events);  // the child reads the inherited descriptor, if any
    c.child_handle = reply.context;
    c.child_epoch = connection::epoch();
    return c.child_handle;
}

int close_device(ibv_context* context) {
    const turn::InShim in_shim;
    auto* const c = to_context(context);
    int error = 0;
    // The child of a fork, or the survivor of a server, only forgets its side.
    if (liveness(context) == 0) error = destroy_object(protocol::Op::CloseDevice, context, c->handle);
    if (error != 0 && !connection::server_gone()) return error;
    close_event_fd(context->async_fd);
    if (context->cmd_fd >= 0) raw_syscall(SYS_close, context->cmd_fd);
    pthread_mutex_destroy(&context->mutex);
    free_object(c);
    return 0;
}

}  // namespace simverbs::client::verbs
