#include "verbs_shim/client/process/exec_path.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simverbs::client::process {

int find_in_path(const char* file, char (&path)[kMaxPath]) {
    const size_t length = strlen(file);
    if (length == 0) return ENOENT;
    if (length >= kMaxPath) return ENAMETOOLONG;
    if (strchr(file, '/') != nullptr) {
        strcpy(path, file);
        return 0;
    }
    const char* search = getenv("PATH");
    if (search == nullptr) search = "/bin:/usr/bin";
    int error = ENOENT;
    for (const char* at = search;; ++at) {
        const size_t n = strcspn(at, ":");
        if (n + length + 2 <= kMaxPath) {
            memcpy(path, at, n);
            if (n != 0) path[n] = '/';
            memcpy(path + n + (n != 0), file, length + 1);
            struct stat s;
            if (kernel(SYS_newfstatat, AT_FDCWD, path, &s, 0) == 0 && S_ISREG(s.st_mode)) {
                if (kernel(SYS_faccessat, AT_FDCWD, path, X_OK) == 0) return 0;
                error = EACCES;
            }
        }
        at += n;
        if (*at == '\0') return error;
    }
}

bool is_plain_script(const char* path) {
    const long fd = kernel(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char bytes[4] = {};
    const long n = kernel(SYS_read, fd, bytes, sizeof bytes);
    kernel(SYS_close, fd);
    return n >= 0 && memcmp(bytes, "\177ELF", 4) != 0 && memcmp(bytes, "#!", 2) != 0;
}

}  // namespace simverbs::client::process
