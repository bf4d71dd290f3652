#include "verbs_shim/client/process/executable_check.hpp"
#include "verbs_shim/client/turn/kernel.hpp"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simverbs::client::process {

namespace {

constexpr size_t kHeaderBytes = 4096;

/// First bytes of an executable regular file, or -1.
long read_header(const char* path, char* buffer) {
    if (kernel(SYS_faccessat, AT_FDCWD, path, X_OK) != 0) return -1;
    const long fd = kernel(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat s;
    long n = -1;
    if (kernel(SYS_fstat, fd, &s) == 0 && S_ISREG(s.st_mode)) n = kernel(SYS_read, fd, buffer, kHeaderBytes);
    kernel(SYS_close, fd);
    return n;
}

Executable check_elf(const char* bytes, size_t size) {
    Elf64_Ehdr header;
    if (size < sizeof header) return Executable::Unknown;
    memcpy(&header, bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64) return Executable::Static;  // a 32-bit program cannot load us
    for (uint32_t i = 0; i < header.e_phnum; ++i) {
        const uint64_t at = header.e_phoff + uint64_t{i} * header.e_phentsize;
        Elf64_Phdr part;
        if (at + sizeof part > size) return Executable::Unknown;
        memcpy(&part, bytes + at, sizeof part);
        if (part.p_type == PT_INTERP) return Executable::Dynamic;
    }
    return Executable::Static;
}

Executable check(const char* path, int scripts_left) {
    char bytes[kHeaderBytes + 1];
    const long n = read_header(path, bytes);
    if (n < 4) return Executable::Unknown;
    if (memcmp(bytes, ELFMAG, SELFMAG) == 0) return check_elf(bytes, static_cast<size_t>(n));
    if (bytes[0] != '#' || bytes[1] != '!' || scripts_left == 0) return Executable::Unknown;
    bytes[n] = '\0';
    char* interpreter = bytes + 2;
    while (*interpreter == ' ' || *interpreter == '\t') ++interpreter;
    interpreter[strcspn(interpreter, " \t\n")] = '\0';
    return check(interpreter, scripts_left - 1);
}

}  // namespace

Executable check_executable(const char* path) {
    return check(path, 4);
}

void complain_about_static(const char* path) {
    char text[640] = "simverbs: ";
    strncat(text, path, 400);
    strcat(text,
           " is not dynamically linked (or not for this machine): it cannot be brought into the lab. Use a "
           "dynamically linked build.\n");
    kernel(SYS_write, 2, text, strlen(text));
}

}  // namespace simverbs::client::process
