#include "verbs_shim/client/cm/device.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "verbs_shim/client/cm/commands.hpp"
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/readiness.hpp"
#include "verbs_shim/client/turn/kernel.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::cm {
namespace {

/// A server that has gone looks to the program like a device that has gone.
int request(const void* request, void* reply, size_t bytes, int* fds = nullptr, int max_fds = 0) noexcept {
    const int error = connection::request(request, reply, bytes, fds, max_fds);
    return error == ENODEV && connection::server_gone() ? EIO : error;
}

bool is_non_blocking(int fd) noexcept {
    return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

/// Waits in the kernel (wall clock), for ever if `fd` is -1; a cancellation point.
int wait_by_wall_clock(int fd) {
    pollfd p{fd, POLLIN, 0};
    int type = PTHREAD_CANCEL_DEFERRED;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    long rc = kernel(SYS_poll, &p, 1, -1);
    // Another thread has closed the device: on Linux this one sleeps on until the process ends, and so it does here.
    if (rc > 0 && (p.revents & POLLIN) == 0 && connection::check_server()) rc = kernel(SYS_poll, &p, 0, -1);
    const int error = errno;
    pthread_setcanceltype(type, nullptr);
    if (rc > 0 && (p.revents & POLLIN) == 0) return EIO;
    return rc < 0 ? error : 0;
}

int wait_for(turn::WaitSet& set) {
    const turn::Woken woken = turn::wait(set);
    if (woken == turn::Woken::ServerGone) return EIO;
    if (woken == turn::Woken::Interrupted && turn::deliver_signals() == turn::Signals::Interrupt) return EINTR;
    return 0;
}

/// Asks for the next event until there is one, or the descriptor must not block.
int get_event(int fd, uint64_t key, const protocol::CmCommandRequest& command, protocol::CmCommandReply& reply) {
    for (;;) {
        const uint64_t seen = turn::active() ? turn::object_value(key) : 0;
        if (turn::active()) turn::checkpoint();
        const int error = request(&command, &reply, sizeof reply);
        if (error == 0 && turn::active()) net::note_found();
        // Another thread has closed the device meanwhile: on Linux this call keeps it and sleeps on, and so it does
        // here.
        const bool closed = error == EBADF;
        if (error != EAGAIN && !closed) return error;
        if (is_non_blocking(fd)) {
            if (turn::active()) net::note_empty_look(fd, POLLIN, seen);
            return EAGAIN;
        }
        if (turn::active()) {
            turn::WaitSet set("rdma_get_cm_event");
            set.add_object(key, seen, 0);
            if (const int stopped = wait_for(set)) return stopped;
        } else if (const int stopped = wait_by_wall_clock(closed ? -1 : fd)) {
            return stopped;
        }
    }
}

/// Nobody listens at the target: waits until somebody does, or cannot any more (VIRTUAL_TIME rule 9). The server knows
/// which; with the wall clock it is asked again and again during the lab's first seconds.
int hold(const protocol::CmCommandReply& reply) {
    if (!turn::active()) {
        constexpr timespec kAgain{0, 1'000'000};
        kernel(SYS_nanosleep, &kAgain, nullptr);
        return 0;
    }
    turn::WaitSet set("rdma_connect: nobody listens there yet");
    set.add_object(reply.hold_key, turn::object_value(reply.hold_key), net::kTcpLatencyPs);
    set.add_object(reply.hold_busy, 0, net::kTcpLatencyPs);
    return wait_for(set);
}

int run(int fd, uint64_t key, const protocol::CmCommandRequest& command, protocol::CmCommandReply& reply) {
    if (command.command == kGetEvent) return get_event(fd, key, command, reply);
    for (;;) {
        if (const int error = request(&command, &reply, sizeof reply)) return error;
        if (reply.hold_key == 0) return 0;
        if (const int stopped = hold(reply)) return stopped;
    }
}

}  // namespace

int open_device(int flags) noexcept {
    auto command = connection::make_request<protocol::ObjectRequest>(protocol::Op::OpenCm);
    protocol::CmOpenReply reply{};
    int fd = -1;
    if (const int error = request(&command, &reply, sizeof reply, &fd, 1)) return turn::fail(error);
    if ((flags & O_CLOEXEC) == 0) fcntl(fd, F_SETFD, 0);
    if ((flags & O_NONBLOCK) != 0) fcntl(fd, F_SETFL, O_NONBLOCK);
    net::Description* d = net::assign(fd, net::FdKind::RdmaCm);
    if (d == nullptr) return turn::fail(EMFILE);
    d->read_key = reply.key;
    d->handle = reply.file;
    d->seen = connection::epoch();
    return fd;
}

ssize_t write_command(int fd, const void* buffer, size_t bytes) {
    const net::Description* d = net::peek(fd);
    if (d == nullptr) return turn::fail(EBADF);
    if (d->seen != connection::epoch()) return turn::fail(EIO);  // inherited through fork, as contexts are
    Header header;
    if (bytes < sizeof header) return turn::fail(EINVAL);
    std::memcpy(&header, buffer, sizeof header);
    if (header.in + sizeof header > bytes) return turn::fail(EINVAL);
    auto command = connection::make_request<protocol::CmCommandRequest>(protocol::Op::CommandCm);
    protocol::CmCommandReply reply{};
    command.file = d->handle;
    command.command = header.command;
    command.out_bytes = std::min<uint32_t>(header.out, sizeof reply.out);
    const auto* in = static_cast<const uint8_t*>(buffer) + sizeof header;
    if (header.in > sizeof command.in) return turn::fail(EINVAL);
    std::memcpy(command.in, in, header.in);
    command.in_bytes = header.in;
    if (header.command == kSetOption) {
        const Option option = option_of(in, header.in);
        if (option.value != nullptr && option.bytes <= sizeof command.in - header.in) {
            std::memcpy(command.in + header.in, option.value, option.bytes);
            command.in_bytes += option.bytes;
        }
    }
    if (header.command == kMigrateId) {
        const net::Description* from = net::peek(file_of(in, header.in));
        if (from == nullptr || from->kind != net::FdKind::RdmaCm) return turn::fail(EINVAL);
        command.extra = from->handle;
    }
    if (const int error = run(fd, d->read_key, command, reply)) return turn::fail(error);
    void* const response = response_of(header.command, in, header.in);
    if (response != nullptr && reply.out_bytes > 0)
        std::memcpy(response, reply.out, std::min<size_t>(reply.out_bytes, sizeof reply.out));
    return static_cast<ssize_t>(bytes);
}

void device_closed(uint32_t file) noexcept {
    if (connection::server_gone()) return;
    auto command = connection::make_request<protocol::ObjectRequest>(protocol::Op::CloseCm);
    command.handle = file;
    protocol::ReplyHeader reply{};
    (void)request(&command, &reply, sizeof reply);
}

}  // namespace simverbs::client::cm
