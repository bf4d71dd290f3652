// Opening and looking at files: paths of the simulated host's own tree are rewritten, all others pass through.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/net/descriptors.hpp"
#include "verbs_shim/client/net/device_nodes.hpp"
#include "verbs_shim/client/net/fd_table.hpp"
#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/path_rewriting.hpp"
#include "verbs_shim/client/net/real.hpp"
#include "verbs_shim/client/spin/spin.hpp"

using namespace simverbs::client;
using namespace simverbs::client::net;

namespace {

bool made(const Rewritten& r) noexcept {
    return r.kind == PathKind::Counter || r.kind == PathKind::CpuInfo || r.kind == PathKind::Random ||
           r.kind == PathKind::RdmaCm;
}

/// The path to hand to libc.
const char* path_of(const char* path, const Rewritten& r) noexcept {
    const bool elsewhere = r.kind == PathKind::Tree || r.kind == PathKind::Counter || r.kind == PathKind::RdmaCm;
    return elsewhere ? r.path : path;
}

mode_t mode_argument(int flags, va_list args) noexcept {
    return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
}

/// A descriptor number that may have meant something else before.
int fresh(int fd) noexcept {
    if (fd >= 0 && lab() != nullptr)
        if (Description* old = forget(fd)) release(old);
    return fd;
}

}  // namespace

#define SIMVERBS_OPEN(name)                                                    \
    SIMVERBS_INTERPOSE int name(const char* path, int flags, ...) {            \
        SIMVERBS_REAL(name);                                                   \
        va_list args;                                                          \
        va_start(args, flags);                                                 \
        const mode_t mode = mode_argument(flags, args);                        \
        va_end(args);                                                          \
        Rewritten r;                                                           \
        rewrite_path(path, r);                                                 \
        if (made(r) && (flags & O_DIRECTORY) == 0) return open_made(r, flags); \
        return fresh(real_##name(path_of(path, r), flags, mode));              \
    }

#define SIMVERBS_OPENAT(name)                                                  \
    SIMVERBS_INTERPOSE int name(int dir, const char* path, int flags, ...) {   \
        SIMVERBS_REAL(name);                                                   \
        va_list args;                                                          \
        va_start(args, flags);                                                 \
        const mode_t mode = mode_argument(flags, args);                        \
        va_end(args);                                                          \
        Rewritten r;                                                           \
        whole_path(dir, path, r);                                              \
        if (made(r) && (flags & O_DIRECTORY) == 0) return open_made(r, flags); \
        return fresh(real_##name(dir, path_of(path, r), flags, mode));         \
    }

namespace {

/// A relative path below a directory of the tree may name a counter: openat(dir, "counters/port_xmit_data").
void whole_path(int dir, const char* path, Rewritten& r) noexcept {
    r.kind = PathKind::Real;
    if (path == nullptr || lab() == nullptr) return;
    if (path[0] == '/' || dir == AT_FDCWD) {
        rewrite_path(path, r);
        return;
    }
    char link[64];
    char base[PATH_MAX];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    SIMVERBS_REAL(readlink);
    const ssize_t n = real_readlink(link, base, sizeof base - 1);
    if (n <= 0) return;
    base[n] = '\0';
    if (std::strncmp(base, sysfs_root(), std::strlen(sysfs_root())) != 0) return;
    char joined[PATH_MAX];
    const int length = std::snprintf(joined, sizeof joined, "%s/%s", base, path);
    if (length > 0 && static_cast<size_t>(length) < sizeof joined) rewrite_path(joined, r);
}

}  // namespace

SIMVERBS_OPEN(open)
SIMVERBS_OPEN(open64)
SIMVERBS_OPENAT(openat)
SIMVERBS_OPENAT(openat64)

SIMVERBS_INTERPOSE int __open_2(const char* path, int flags) {
    return open(path, flags);
}
SIMVERBS_INTERPOSE int __open64_2(const char* path, int flags) {
    return open64(path, flags);
}
SIMVERBS_INTERPOSE int __openat_2(int dir, const char* path, int flags) {
    return openat(dir, path, flags);
}
SIMVERBS_INTERPOSE int __openat64_2(int dir, const char* path, int flags) {
    return openat64(dir, path, flags);
}

namespace {

template <typename RealFopen>
FILE* open_stream(const char* path, const char* mode, RealFopen&& real) {
    Rewritten r;
    rewrite_path(path, r);
    if (!made(r)) return real(path_of(path, r), mode);
    const int fd = open_made(r, std::strchr(mode, 'e') != nullptr ? O_CLOEXEC : 0);
    return fd < 0 ? nullptr : fdopen(fd, "r");
}

}  // namespace

SIMVERBS_INTERPOSE FILE* fopen(const char* path, const char* mode) {
    SIMVERBS_REAL(fopen);
    return open_stream(path, mode, [](const char* p, const char* m) { return real_fopen(p, m); });
}

SIMVERBS_INTERPOSE FILE* fopen64(const char* path, const char* mode) {
    SIMVERBS_REAL(fopen64);
    return open_stream(path, mode, [](const char* p, const char* m) { return real_fopen64(p, m); });
}

SIMVERBS_INTERPOSE int fclose(FILE* stream) {
    SIMVERBS_REAL(fclose);
    const int fd = lab() != nullptr && stream != nullptr ? fileno(stream) : -1;
    if (fd >= 0 && peek(fd) != nullptr) {
        std::fflush(stream);
        if (Description* d = forget(fd)) release(d);
    }
    return real_fclose(stream);
}

SIMVERBS_INTERPOSE DIR* opendir(const char* path) {
    SIMVERBS_REAL(opendir);
    Rewritten r;
    rewrite_path(path, r);
    return real_opendir(path_of(path, r));
}

using Filter = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);
using Filter64 = int (*)(const dirent64*);
using Compare64 = int (*)(const dirent64**, const dirent64**);

SIMVERBS_INTERPOSE int scandir(const char* path, dirent*** names, Filter filter, Compare compare) {
    SIMVERBS_REAL(scandir);
    Rewritten r;
    rewrite_path(path, r);
    return real_scandir(path_of(path, r), names, filter, compare);
}

SIMVERBS_INTERPOSE int scandir64(const char* path, dirent64*** names, Filter64 filter, Compare64 compare) {
    SIMVERBS_REAL(scandir64);
    Rewritten r;
    rewrite_path(path, r);
    return real_scandir64(path_of(path, r), names, filter, compare);
}

#define SIMVERBS_PATH_CALL(ret, name, parameters, ...) \
    SIMVERBS_INTERPOSE ret name parameters noexcept {  \
        SIMVERBS_REAL(name);                           \
        spin::before_syscall();                        \
        Rewritten r;                                   \
        rewrite_path(path, r);                         \
        const char* where = path_of(path, r);          \
        return real_##name(__VA_ARGS__);               \
    }

#define SIMVERBS_STAT_CALL(name, parameters, ...)               \
    SIMVERBS_INTERPOSE int name parameters noexcept {           \
        SIMVERBS_REAL(name);                                    \
        spin::before_syscall();                                 \
        Rewritten r;                                            \
        rewrite_path(path, r);                                  \
        const char* where = path_of(path, r);                   \
        return as_device_node(r, st, real_##name(__VA_ARGS__)); \
    }

#define SIMVERBS_PATH_AT_CALL(ret, name, parameters, ...) \
    SIMVERBS_INTERPOSE ret name parameters noexcept {     \
        SIMVERBS_REAL(name);                              \
        spin::before_syscall();                           \
        Rewritten r;                                      \
        whole_path(dir, path, r);                         \
        const char* where = path_of(path, r);             \
        return real_##name(__VA_ARGS__);                  \
    }

#define SIMVERBS_STAT_AT_CALL(name, parameters, ...)            \
    SIMVERBS_INTERPOSE int name parameters noexcept {           \
        SIMVERBS_REAL(name);                                    \
        spin::before_syscall();                                 \
        Rewritten r;                                            \
        whole_path(dir, path, r);                               \
        const char* where = path_of(path, r);                   \
        return as_device_node(r, st, real_##name(__VA_ARGS__)); \
    }

SIMVERBS_STAT_CALL(stat, (const char* path, struct stat* st), where, st)
SIMVERBS_STAT_CALL(stat64, (const char* path, struct stat64* st), where, st)
SIMVERBS_STAT_CALL(lstat, (const char* path, struct stat* st), where, st)
SIMVERBS_STAT_CALL(lstat64, (const char* path, struct stat64* st), where, st)
SIMVERBS_PATH_CALL(int, access, (const char* path, int mode), where, mode)
SIMVERBS_PATH_CALL(int, euidaccess, (const char* path, int mode), where, mode)
SIMVERBS_PATH_CALL(int, statfs, (const char* path, struct statfs* st), where, st)
SIMVERBS_PATH_CALL(int, chdir, (const char* path), where)
SIMVERBS_PATH_CALL(ssize_t, getxattr, (const char* path, const char* name, void* value, size_t room), where, name,
                   value, room)
SIMVERBS_PATH_CALL(ssize_t, lgetxattr, (const char* path, const char* name, void* value, size_t room), where, name,
                   value, room)
SIMVERBS_PATH_CALL(ssize_t, listxattr, (const char* path, char* list, size_t room), where, list, room)
SIMVERBS_PATH_CALL(ssize_t, llistxattr, (const char* path, char* list, size_t room), where, list, room)
SIMVERBS_STAT_AT_CALL(fstatat, (int dir, const char* path, struct stat* st, int flags), dir, where, st, flags)
SIMVERBS_STAT_AT_CALL(fstatat64, (int dir, const char* path, struct stat64* st, int flags), dir, where, st, flags)
SIMVERBS_PATH_AT_CALL(int, faccessat, (int dir, const char* path, int mode, int flags), dir, where, mode, flags)
SIMVERBS_STAT_AT_CALL(statx, (int dir, const char* path, int flags, unsigned mask, struct statx* st), dir, where, flags,
                      mask, st)

extern "C" {
int __xstat(int version, const char* path, struct stat* st) noexcept;
int __lxstat(int version, const char* path, struct stat* st) noexcept;
}
SIMVERBS_STAT_CALL(__xstat, (int version, const char* path, struct stat* st), version, where, st)
SIMVERBS_STAT_CALL(__lxstat, (int version, const char* path, struct stat* st), version, where, st)

SIMVERBS_INTERPOSE char* getcwd(char* buffer, size_t room) noexcept {
    SIMVERBS_REAL(getcwd);
    char* out = real_getcwd(buffer, room);
    if (out != nullptr) out[restore_path(out, std::strlen(out))] = '\0';
    return out;
}

SIMVERBS_INTERPOSE ssize_t readlink(const char* path, char* buffer, size_t room) noexcept {
    SIMVERBS_REAL(readlink);
    Rewritten r;
    rewrite_path(path, r);
    const ssize_t n = real_readlink(path_of(path, r), buffer, room);
    return n <= 0 ? n : static_cast<ssize_t>(restore_path(buffer, static_cast<size_t>(n)));
}

SIMVERBS_INTERPOSE ssize_t __readlink_chk(const char* path, char* buffer, size_t bytes, size_t room) noexcept {
    return readlink(path, buffer, std::min(bytes, room));
}

SIMVERBS_INTERPOSE ssize_t readlinkat(int dir, const char* path, char* buffer, size_t room) noexcept {
    SIMVERBS_REAL(readlinkat);
    Rewritten r;
    whole_path(dir, path, r);
    const ssize_t n = real_readlinkat(dir, path_of(path, r), buffer, room);
    return n <= 0 ? n : static_cast<ssize_t>(restore_path(buffer, static_cast<size_t>(n)));
}

SIMVERBS_INTERPOSE char* realpath(const char* path, char* resolved) noexcept {
    SIMVERBS_REAL(realpath);
    Rewritten r;
    rewrite_path(path, r);
    char* out = real_realpath(path_of(path, r), resolved);
    if (out != nullptr) out[restore_path(out, std::strlen(out))] = '\0';
    return out;
}

SIMVERBS_INTERPOSE char* __realpath_chk(const char* path, char* resolved, size_t) noexcept {
    return realpath(path, resolved);
}

SIMVERBS_INTERPOSE char* canonicalize_file_name(const char* path) noexcept {
    return realpath(path, nullptr);
}

namespace {

/// A descriptor of rdma_cm is a pipe to the kernel and the misc device 10:58 to the program: librdmacm looks.
template <typename Stat>
int looks_like_a_device(int fd, Stat* st, int rc) noexcept {
    const Description* d = rc == 0 ? peek(fd) : nullptr;
    if (d == nullptr || d->kind != FdKind::RdmaCm) return rc;
    st->st_mode = S_IFCHR | 0666;
    st->st_rdev = makedev(kRdmaCmMajor, kRdmaCmMinor);
    return rc;
}

}  // namespace

SIMVERBS_INTERPOSE int fstat(int fd, struct stat* st) noexcept {
    SIMVERBS_REAL(fstat);
    spin::before_syscall();
    return looks_like_a_device(fd, st, real_fstat(fd, st));
}

SIMVERBS_INTERPOSE int fstat64(int fd, struct stat64* st) noexcept {
    SIMVERBS_REAL(fstat64);
    spin::before_syscall();
    return looks_like_a_device(fd, st, real_fstat64(fd, st));
}
