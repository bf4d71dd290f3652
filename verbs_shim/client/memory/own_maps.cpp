#include "verbs_shim/client/memory/own_maps.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "verbs_shim/client/turn/kernel.hpp"

namespace simverbs::client::memory {

namespace {

constexpr int kEnd = -1;

int digit(int c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

}  // namespace

OwnMaps::OwnMaps() : fd_(static_cast<int>(kernel(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC))) {}

OwnMaps::~OwnMaps() {
    if (fd_ >= 0) kernel(SYS_close, fd_);
}

int OwnMaps::get() {
    if (used_ == filled_) {
        const long n = fd_ < 0 ? 0 : kernel(SYS_read, fd_, buffer_, sizeof buffer_);
        if (n <= 0) return kEnd;
        used_ = 0;
        filled_ = static_cast<size_t>(n);
    }
    return static_cast<unsigned char>(buffer_[used_++]);
}

uint64_t OwnMaps::number(unsigned base, int& stopped_at) {
    uint64_t value = 0;
    for (;;) {
        stopped_at = get();
        const auto d = static_cast<unsigned>(digit(stopped_at));
        if (d >= base) return value;
        value = value * base + d;
    }
}

// "7f0000-7f1000 rw-p 00000000 00:01 5    /some file"
bool OwnMaps::next(Mapping& out) {
    int c = 0;
    out = Mapping{};
    out.begin = number(16, c);
    if (c != '-') return false;
    out.end = number(16, c);
    if (get() == 'r') out.protection |= PROT_READ;
    if (get() == 'w') out.protection |= PROT_WRITE;
    if (get() == 'x') out.protection |= PROT_EXEC;
    out.shared = get() == 's';
    if (get() != ' ') return false;
    out.offset = number(16, c);
    const auto major = static_cast<unsigned>(number(16, c));
    out.device = makedev(major, static_cast<unsigned>(number(16, c)));
    out.inode = number(10, c);
    while (c != '\n' && c != kEnd) {
        if (c != ' ') out.named = true;
        c = get();
    }
    return c == '\n';
}

}  // namespace simverbs::client::memory
