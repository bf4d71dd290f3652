#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/membership.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/turn/turn.hpp"

namespace simverbs::client::connection {

using protocol::kMaxMessage;
using protocol::ReplyHeader;
using protocol::RequestHeader;

namespace {

constexpr int kMaxFds = 8;

/// A reply as it came.
struct Received {
    alignas(8) uint8_t bytes[kMaxMessage];
    size_t size = 0;
    int fds[kMaxFds];
    int num_fds = 0;

    [[nodiscard]] const ReplyHeader& header() const { return *reinterpret_cast<const ReplyHeader*>(bytes); }
};

/// A reply that one thread read and another one waits for.
struct KeptReply {
    KeptReply* next = nullptr;
    Received reply;
};

KeptReply* g_kept = nullptr;

thread_local uint32_t t_sequence = 0;

void take_fds(const msghdr& m, Received& r) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(const_cast<msghdr*>(&m), c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; ++i) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
            if (r.num_fds < kMaxFds) {
                r.fds[r.num_fds++] = fd;
            } else {
                raw_syscall(SYS_close, fd);
            }
        }
    }
}

/// One message from the socket: 0, or ENODEV when it has ended.
int receive_one(Received& r) {
    alignas(cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int) * kMaxFds)] = {};
    iovec iov{r.bytes, sizeof r.bytes};
    msghdr m{};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    long n;
    do {
        n = raw_syscall(SYS_recvmsg, g_membership.socket, as_argument(&m), MSG_CMSG_CLOEXEC);
    } while (n == -EINTR);
    if (n < static_cast<long>(sizeof(ReplyHeader))) return ENODEV;
    r.size = static_cast<size_t>(n);
    r.num_fds = 0;
    take_fds(m, r);
    return r.header().magic == protocol::kMagic ? 0 : ENODEV;
}

int deliver(const Received& r, void* reply, size_t reply_bytes, int* fds, int max_fds) {
    for (int i = 0; i < r.num_fds; ++i) {
        if (i < max_fds) {
            fds[i] = r.fds[i];
        } else {
            raw_syscall(SYS_close, r.fds[i]);
        }
    }
    for (int i = r.num_fds; i < max_fds; ++i) fds[i] = -1;
    std::memset(reply, 0, reply_bytes);
    std::memcpy(reply, r.bytes, r.size < reply_bytes ? r.size : reply_bytes);
    const int error = r.header().error;
    if (error != 0) return error < 0 ? EIO : error;
    return r.size < reply_bytes ? EIO : 0;  // a truncated answer
}

bool take_kept(uint32_t sequence, Received& out) {
    for (KeptReply** link = &g_kept; *link != nullptr; link = &(*link)->next) {
        if ((*link)->reply.header().sequence != sequence) continue;
        KeptReply* const kept = *link;
        *link = kept->next;
        out = kept->reply;
        std::free(kept);
        return true;
    }
    return false;
}

void keep(const Received& r) {
    auto* const kept = static_cast<KeptReply*>(std::malloc(sizeof(KeptReply)));
    if (kept == nullptr) return;
    kept->reply = r;
    kept->next = g_kept;
    g_kept = kept;
}

}  // namespace

void forget_kept_replies() noexcept {
    // The parent's descriptors in them are also the child's: they close with the replies.
    while (g_kept != nullptr) {
        KeptReply* const kept = g_kept;
        g_kept = kept->next;
        for (int i = 0; i < kept->reply.num_fds; ++i) raw_syscall(SYS_close, kept->reply.fds[i]);
        std::free(kept);
    }
}

int send_request(const void* request) noexcept {
    if (g_membership.socket < 0 || g_membership.gone.load(std::memory_order_relaxed)) return ENODEV;
    alignas(8) uint8_t message[kMaxMessage];
    RequestHeader header;
    std::memcpy(&header, request, sizeof header);
    if (header.bytes < sizeof header || header.bytes > kMaxMessage) return EINVAL;
    std::memcpy(message, request, header.bytes);
    t_sequence = g_membership.sequence.fetch_add(1, std::memory_order_relaxed) + 1;
    header.magic = protocol::kMagic;
    header.sequence = t_sequence;
    header.slot = protocol::kNoItem;
    if (g_membership.lab != nullptr) {
        if (const auto* slot = turn::slot()) header.slot = static_cast<uint32_t>(slot - g_membership.lab->slots);
        header.clock_ps = turn::now_ps();
    }
    std::memcpy(message, &header, sizeof header);
    long n;
    do {
        n = raw_syscall(SYS_sendto, g_membership.socket, as_argument(message), header.bytes, MSG_NOSIGNAL);
    } while (n == -EINTR);
    if (n < 0) {
        note_server_gone();
        return ENODEV;
    }
    count(protocol::Stat::ControlRequests);
    return 0;
}

int receive_reply(void* reply, size_t reply_bytes, int* fds, int max_fds) noexcept {
    const uint32_t wanted = t_sequence;
    Received r;
    if (!take_kept(wanted, r)) {
        for (;;) {
            if (receive_one(r) != 0) {
                note_server_gone();
                for (int i = 0; i < max_fds; ++i) fds[i] = -1;
                return ENODEV;
            }
            if (r.header().sequence == wanted) break;
            keep(r);
        }
    }
    return deliver(r, reply, reply_bytes, fds, max_fds);
}

int request(const void* request, void* reply, size_t reply_bytes, int* fds, int max_fds) noexcept {
    if (turn::active()) return turn::control(request, reply, reply_bytes, fds, max_fds);
    const verbs::Guard guard(g_membership.request_lock);
    if (const int error = send_request(request)) return error;
    return receive_reply(reply, reply_bytes, fds, max_fds);
}

}  // namespace simverbs::client::connection
