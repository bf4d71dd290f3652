// Helpers of the old driver interface that programs (ibv_devinfo, librdmacm) still call.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "verbs_shim/exports/export.hpp"

// Declared in no public header.
SIMVERBS_EXPORT const char* ibv_get_sysfs_path();
SIMVERBS_EXPORT int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size);

SIMVERBS_EXPORT const char* ibv_get_sysfs_path() {
    return "/sys";
}

/// Bytes read without the trailing newline, -1 if it cannot be. Goes through open(), which shows a program of a lab the
/// files of its simulated host.
SIMVERBS_EXPORT int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size) {
    char path[512];
    const int length = std::snprintf(path, sizeof path, "%s/%s", dir, file);
    if (length < 0 || length >= static_cast<int>(sizeof path) || size == 0) return -1;
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t n = ::read(fd, buf, size);
    ::close(fd);
    if (n <= 0) return -1;
    if (buf[n - 1] == '\n') --n;
    if (static_cast<size_t>(n) < size) {
        buf[n] = '\0';
    } else {
        buf[size - 1] = '\0';
    }
    return static_cast<int>(n);
}
