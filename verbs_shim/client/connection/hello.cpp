#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/membership.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"

namespace simverbs::client::connection {

namespace {

void complain(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// One line on stderr.
void complain(const char* format, ...) {
    char text[512] = "simverbs: ";
    constexpr size_t kPrefix = sizeof "simverbs: " - 1;
    va_list args;
    va_start(args, format);
    std::vsnprintf(text + kPrefix, sizeof text - kPrefix - 1, format, args);
    va_end(args);
    const size_t length = std::strlen(text);
    text[length] = '\n';
    raw_syscall(SYS_write, 2, as_argument(text), static_cast<long>(length + 1));
}

uint32_t number_from_environment(const char* name) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return protocol::kNoItem;
    uint32_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<uint32_t>(*text - '0');
    return value;
}

/// Basename of the program and its arguments, as far as they fit.
void read_command(char* out, size_t size) {
    const long fd = raw_syscall(SYS_openat, AT_FDCWD, as_argument("/proc/self/cmdline"), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    char text[512] = {};
    const long n = raw_syscall(SYS_read, fd, as_argument(text), sizeof text - 1);
    raw_syscall(SYS_close, fd);
    if (n <= 0) return;
    const char* start = text;
    if (const char* slash = std::strrchr(text, '/')) start = slash + 1;
    const long length = text + n - start;
    size_t used = 0;
    for (long i = 0; i < length && used + 1 < size; ++i) out[used++] = start[i] == '\0' ? ' ' : start[i];
    while (used > 0 && out[used - 1] == ' ') --used;
    out[used] = '\0';
}

/// Connects and moves the socket out of the range in which programs count their descriptors. -errno on failure.
int connect_to_server(const char* path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (std::strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    std::strcpy(address.sun_path, path);
    const long fd = raw_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return static_cast<int>(fd);
    const long connected = raw_syscall(SYS_connect, fd, as_argument(&address), sizeof address);
    if (connected < 0) {
        raw_syscall(SYS_close, fd);
        return static_cast<int>(connected);
    }
    for (const long lowest : {1000000L, 60000L, 1000L, 200L}) {
        const long moved = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
        if (moved < 0) continue;
        raw_syscall(SYS_close, fd);
        return static_cast<int>(moved);
    }
    return static_cast<int>(fd);
}

protocol::HelloRequest make_hello(uint32_t slot) {
    auto r = make_request<protocol::HelloRequest>(protocol::Op::Hello);
    r.version = protocol::kProtocolVersion;
    r.layout_hash = protocol::layout_hash();
    r.pid = static_cast<int32_t>(raw_syscall(SYS_getpid));
    if (const char* host = std::getenv(protocol::kEnvHost)) std::strncpy(r.host, host, sizeof r.host - 1);
    r.slot = slot == kSlotFromEnvironment ? number_from_environment(protocol::kEnvSlot) : slot;
    r.program = number_from_environment(protocol::kEnvProgram);
    read_command(r.command, sizeof r.command);
    return r;
}

bool same_layout(const protocol::LabShared& page) {
    const auto ours = protocol::layout_hash();
    if (page.magic == protocol::kMagic && page.version == protocol::kProtocolVersion && page.layout_hash == ours) {
        return true;
    }
    complain(
        "the preload library and the lab's server do not belong together: the library speaks protocol %u (layout "
        "%016llx), the server %u (layout %016llx). Use both from one build.",
        protocol::kProtocolVersion, static_cast<unsigned long long>(ours), page.version,
        static_cast<unsigned long long>(page.layout_hash));
    return false;
}

/// Sends the hello and takes what comes back. Complains and returns false if that fails.
bool exchange_hello(uint32_t slot) {
    int fds[2] = {-1, -1};
    const auto hello = make_hello(slot);
    auto& m = g_membership;
    int error = send_request(&hello);
    if (error == 0) error = receive_reply(&m.reply, sizeof m.reply, fds, 2);
    const bool mapped = fds[0] >= 0 && fds[1] >= 0 && m.map(fds[0], fds[1]);
    for (const int fd : fds) {
        if (fd >= 0) raw_syscall(SYS_close, fd);
    }
    if (mapped && !same_layout(*m.lab)) return false;
    if (error == EPROTO) {
        complain(
            "the lab's server does not speak this preload library's protocol %u (layout %016llx). Use both from one "
            "build.",
            protocol::kProtocolVersion, static_cast<unsigned long long>(protocol::layout_hash()));
        return false;
    }
    if (error != 0) {
        complain("the lab's server refused host '%s': %s", hello.host, std::strerror(error));
        return false;
    }
    if (!mapped) {
        complain("cannot map the lab's shared memory (is the address space limited, ulimit -v?)");
        return false;
    }
    if (m.reply.num_devices > protocol::kMaxDevicesPerHost) m.reply.num_devices = protocol::kMaxDevicesPerHost;
    return true;
}

/// What a child inherited is its parent's.
void leave_parents_lab() {
    auto& m = g_membership;
    if (m.socket >= 0) raw_syscall(SYS_close, m.socket);
    m.socket = -1;
    m.unmap();
    forget_kept_replies();
    m.request_lock.reset();
    m.gone.store(false, std::memory_order_relaxed);
    m.reply = protocol::HelloReply{};
}

}  // namespace

bool hello(uint32_t slot) {
    const char* const path = std::getenv(protocol::kEnvSocket);
    if (path == nullptr || *path == '\0') return false;
    auto& m = g_membership;
    const bool is_fork = m.lab != nullptr || m.epochs != 0;
    leave_parents_lab();
    bool ok = false;
    const int socket = connect_to_server(path);
    if (socket < 0) {
        complain("cannot reach the lab's server at %s: %s", path, std::strerror(-socket));
    } else {
        m.socket = socket;
        ok = exchange_hello(slot);
    }
    if (ok) {
        // Yama's ptrace_scope 1 lets only ancestors read a process's memory; elsewhere this fails and is not needed.
        raw_syscall(SYS_prctl, PR_SET_PTRACER, static_cast<long>(PR_SET_PTRACER_ANY));
        return m.start_epoch();
    }
    if (!is_fork) raw_syscall(SYS_exit_group, kExitCannotJoin);
    m.gone.store(true, std::memory_order_relaxed);
    return false;
}

}  // namespace simverbs::client::connection
