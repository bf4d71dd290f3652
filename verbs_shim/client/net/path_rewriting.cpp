#include "verbs_shim/client/net/path_rewriting.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/cm/device.hpp"
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/process/process.hpp"
#include "verbs_shim/client/turn/turn.hpp"
#include "verbs_shim/protocol/pci_address.hpp"

namespace simverbs::client::net {
namespace {

struct Prefix {
    const char* seen;   ///< what the program names
    const char* under;  ///< where it lies below the host's tree
};

constexpr char kSys[] = "/sys";

constexpr Prefix kPrefixes[] = {
    {"/sys/class/infiniband", "/class/infiniband"},
    {"/sys/class/infiniband_verbs", "/class/infiniband_verbs"},
    {"/sys/class/infiniband_mad", "/class/infiniband_mad"},
    {"/sys/class/infiniband_cm", "/class/infiniband_cm"},
    {"/sys/class/misc/rdma_cm", "/class/misc/rdma_cm"},
    {"/sys/class/net", "/class/net"},
    {"/sys/devices/pci" SIMVERBS_PCI_DOMAIN ":00", "/devices/pci" SIMVERBS_PCI_DOMAIN ":00"},
    {"/dev/infiniband", "/dev/infiniband"},
    {"/etc/hostname", "/etc/hostname"},
    {"/etc/hosts", "/etc/hosts"},
};

/// Links to the adapters, each named by its address: not a directory of its own, real devices stay beside them.
constexpr char kPciLinksOfOurs[] = "/sys/bus/pci/devices/" SIMVERBS_PCI_DOMAIN ":";

bool starts_with_path(const char* path, const char* prefix) noexcept {
    const size_t n = std::strlen(prefix);
    return std::strncmp(path, prefix, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/// "…/<device>/ports/<n>/counters/<name>" (or hw_counters): splits it.
bool parse_counter(const char* path, char (&device)[64], uint32_t& port, char (&name)[64], bool& hw) noexcept {
    const char* ports = std::strstr(path, "/ports/");
    if (ports == nullptr) return false;
    const char* start = ports;
    while (start > path && start[-1] != '/') --start;
    const auto n = static_cast<size_t>(ports - start);
    if (n == 0 || n >= sizeof device) return false;
    std::memcpy(device, start, n);
    device[n] = '\0';
    char kind[16];
    char tail[64];
    int used = 0;
    if (std::sscanf(ports, "/ports/%" SCNu32 "/%15[a-z_]/%63[A-Za-z0-9_]%n", &port, kind, tail, &used) != 3)
        return false;
    if (ports[used] != '\0') return false;
    hw = std::strcmp(kind, "hw_counters") == 0;
    if (!hw && std::strcmp(kind, "counters") != 0) return false;
    std::memcpy(name, tail, sizeof tail);
    return true;
}

int memory_file(const char* name, const char* text, size_t bytes, int flags) noexcept {
    const long fd = raw_syscall(SYS_memfd_create, as_argument(name), (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
    if (fd < 0) {
        errno = static_cast<int>(-fd);
        return -1;
    }
    size_t done = 0;
    while (done < bytes) {
        const long n = raw_syscall(SYS_write, fd, as_argument(text + done), static_cast<long>(bytes - done));
        if (n <= 0) break;
        done += static_cast<size_t>(n);
    }
    raw_syscall(SYS_lseek, fd, 0, SEEK_SET);
    return static_cast<int>(fd);
}

int open_counter(const char* path, int flags) noexcept {
    char device[64];
    char name[64];
    uint32_t port = 0;
    bool hw = false;
    if (!parse_counter(path, device, port, name, hw)) {
        errno = ENOENT;
        return -1;
    }
    auto request = connection::make_request<protocol::ReadCounterRequest>(protocol::Op::ReadCounter);
    request.port = port;
    request.hw = hw ? 1 : 0;
    std::memcpy(request.name, name, sizeof name);
    const protocol::HelloReply& hello = connection::hello_reply();
    request.device = protocol::kMaxDevicesPerHost;
    for (uint32_t i = 0; i < hello.num_devices && i < protocol::kMaxDevicesPerHost; ++i)
        if (std::strcmp(hello.devices[i].name, device) == 0) request.device = i;
    protocol::ReadCounterReply reply{};
    if (const int error = connection::request(&request, &reply, sizeof reply)) {
        errno = error == ENODEV ? EIO : error;
        return -1;
    }
    char text[32];
    const int n = std::snprintf(text, sizeof text, "%" PRIu64 "\n", reply.value);
    return memory_file(name, text, static_cast<size_t>(n), flags);
}

/// The real /proc/cpuinfo with every "cpu MHz" line saying the virtual TSC's rate.
int open_cpuinfo(int flags) noexcept {
    const long source = raw_syscall(SYS_openat, AT_FDCWD, as_argument("/proc/cpuinfo"), O_RDONLY | O_CLOEXEC, 0);
    if (source < 0) {
        errno = static_cast<int>(-source);
        return -1;
    }
    const size_t room = size_t{1} << 20;
    char* text = static_cast<char*>(std::malloc(2 * room));
    size_t size = 0;
    for (long n = 1; text != nullptr && n > 0 && size < room; size += static_cast<size_t>(std::max(n, 0L)))
        n = raw_syscall(SYS_read, source, as_argument(text + size), static_cast<long>(room - size));
    raw_syscall(SYS_close, source);
    if (text == nullptr) {
        errno = ENOMEM;
        return -1;
    }
    char* out = text + room;
    size_t made = 0;
    const double mhz = static_cast<double>(lab()->tsc_khz) / 1000.0;
    for (size_t at = 0; at < size;) {
        const char* line = text + at;
        const auto* end = static_cast<const char*>(std::memchr(line, '\n', size - at));
        const size_t length = end != nullptr ? static_cast<size_t>(end - line) + 1 : size - at;
        if (std::strncmp(line, "cpu MHz", 7) == 0) {
            made += static_cast<size_t>(std::snprintf(out + made, room - made, "cpu MHz\t\t: %.3f\n", mhz));
        } else if (made + length < room) {
            std::memcpy(out + made, line, length);
            made += length;
        }
        at += length;
    }
    const int fd = memory_file("cpuinfo", out, made, flags);
    std::free(text);
    return fd;
}

/// Enough seeded bytes for whoever reads behind our back (stdio); read() itself never runs dry.
int open_random(int flags) noexcept {
    char bytes[4096];
    process::random_bytes(bytes, sizeof bytes);
    const int fd = memory_file("random", bytes, sizeof bytes, flags);
    if (fd >= 0) assign(fd, FdKind::Random);
    return fd;
}

int open_kind(const Rewritten& r, int flags) noexcept {
    switch (r.kind) {
        case PathKind::Counter:
            return open_counter(r.path, flags);
        case PathKind::CpuInfo:
            return open_cpuinfo(flags);
        case PathKind::Random:
            return open_random(flags);
        case PathKind::RdmaCm:
            return cm::open_device(flags);
        case PathKind::Real:
        case PathKind::Tree:
            break;
    }
    errno = ENOENT;
    return -1;
}

}  // namespace

void rewrite_path(const char* path, Rewritten& out) noexcept {
    out.kind = PathKind::Real;
    if (path == nullptr || path[0] != '/' || lab() == nullptr || sysfs_root()[0] == '\0') return;
    if (std::strcmp(path, "/dev/urandom") == 0 || std::strcmp(path, "/dev/random") == 0) {
        out.kind = turn::active() ? PathKind::Random : PathKind::Real;
        return;
    }
    if (std::strcmp(path, "/proc/cpuinfo") == 0) {
        out.kind = lab()->clock_mode == protocol::ClockMode::Virtual ? PathKind::CpuInfo : PathKind::Real;
        return;
    }
    char flat[PATH_MAX];  // "//" and "/./" out of the way
    size_t n = 0;
    for (const char* p = path; *p != '\0' && n + 1 < sizeof flat; ++p) {
        if (*p == '/' && (p[1] == '/' || (p[1] == '.' && p[2] == '/'))) {
            if (p[1] == '.') ++p;
            continue;
        }
        flat[n++] = *p;
    }
    flat[n] = '\0';
    for (const Prefix& prefix : kPrefixes) {
        if (!starts_with_path(flat, prefix.seen)) continue;
        const int made = std::snprintf(out.path, sizeof out.path, "%s%s%s", sysfs_root(), prefix.under,
                                       flat + std::strlen(prefix.seen));
        if (made < 0 || static_cast<size_t>(made) >= sizeof out.path) return;
        if (std::strcmp(flat, "/dev/infiniband/rdma_cm") == 0) {
            out.kind = PathKind::RdmaCm;
            return;
        }
        out.kind = std::strstr(out.path, "counters/") != nullptr && std::strstr(out.path, "/ports/") != nullptr
                       ? PathKind::Counter
                       : PathKind::Tree;
        return;
    }
    if (std::strncmp(flat, kPciLinksOfOurs, sizeof kPciLinksOfOurs - 1) == 0) {
        const int made = std::snprintf(out.path, sizeof out.path, "%s%s", sysfs_root(), flat + sizeof kSys - 1);
        if (made > 0 && static_cast<size_t>(made) < sizeof out.path) out.kind = PathKind::Tree;
        return;
    }
    // A path that a program got from us and hands back (realpath, /proc/self/fd, glob): already in the tree.
    if (starts_with_path(flat, sysfs_root()) && std::strstr(flat, "counters/") != nullptr) {
        std::memcpy(out.path, flat, n + 1);
        out.kind = PathKind::Counter;
    }
}

size_t restore_path(char* path, size_t length) noexcept {
    if (lab() == nullptr || sysfs_root()[0] == '\0') return length;
    const size_t root = std::strlen(sysfs_root());
    if (length < root || std::strncmp(path, sysfs_root(), root) != 0) return length;
    const size_t sys = sizeof kSys - 1;
    if (root < sys) return length;
    std::memcpy(path, kSys, sys);
    std::memmove(path + sys, path + root, length - root);
    return length - root + sys;
}

int open_made(const Rewritten& r, int flags) noexcept {
    const turn::InShim in;
    return turn::keep_errno(open_kind(r, flags));
}

}  // namespace simverbs::client::net
