#include "verbs_shim/server/live_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace simverbs::server {

namespace {

/// Big enough to hide the call, small enough to stay in the second-level cache between read and write.
constexpr uint64_t kBounceBytes = 256 * 1024;

}  // namespace

void LiveMemory::add_space(host::AddressSpaceId space, pid_t pid) {
    Space& s = spaces_[space];
    const Counts kept = s.counts;  // of an earlier image of the same process
    s = Space{};
    s.pid = pid;
    s.counts = kept;
}

void LiveMemory::remove_space(host::AddressSpaceId space) {
    if (Space* s = find(space)) {
        s->pid = 0;
        s->mem.reset();
    }
}

LiveMemory::Space* LiveMemory::find(host::AddressSpaceId space) {
    const auto it = spaces_.find(space);
    return it == spaces_.end() ? nullptr : &it->second;
}

LiveMemory::Counts LiveMemory::counts(host::AddressSpaceId space) const {
    const auto it = spaces_.find(space);
    return it == spaces_.end() ? Counts{} : it->second.counts;
}

bool LiveMemory::open_mem(Space& space) {
    if (!space.mem.valid())
        space.mem = UniqueFd(::open(fmt::format("/proc/{}/mem", space.pid).c_str(), O_RDWR | O_CLOEXEC));
    return space.mem.valid();
}

bool LiveMemory::read(host::AddressSpaceId space, uint64_t va, std::span<uint8_t> out) {
    Space* s = find(space);
    if (s == nullptr || s->pid == 0) return false;
    ++s->counts.reads;
    s->counts.read_bytes += out.size();
    size_t done = 0;
    if (s->vm_calls_work) {
        const iovec local{out.data(), out.size()};
        const iovec remote{reinterpret_cast<void*>(va), out.size()};
        const ssize_t n = ::process_vm_readv(s->pid, &local, 1, &remote, 1, 0);
        if (n == static_cast<ssize_t>(out.size())) return true;
        if (n < 0 && (errno == EPERM || errno == ENOSYS)) s->vm_calls_work = false;
        if (n > 0) done = static_cast<size_t>(n);
    }
    if (!open_mem(*s)) return false;
    while (done < out.size()) {
        const ssize_t n = ::pread(s->mem.get(), out.data() + done, out.size() - done, static_cast<off_t>(va + done));
        if (n <= 0) return false;
        done += static_cast<size_t>(n);
    }
    return true;
}

bool LiveMemory::write(host::AddressSpaceId space, uint64_t va, std::span<const uint8_t> in) {
    Space* s = find(space);
    if (s == nullptr || s->pid == 0) return false;
    ++s->counts.writes;
    s->counts.written_bytes += in.size();
    size_t done = 0;
    if (s->vm_calls_work) {
        const iovec local{const_cast<uint8_t*>(in.data()), in.size()};
        const iovec remote{reinterpret_cast<void*>(va), in.size()};
        const ssize_t n = ::process_vm_writev(s->pid, &local, 1, &remote, 1, 0);
        if (n == static_cast<ssize_t>(in.size())) return true;
        if (n < 0 && (errno == EPERM || errno == ENOSYS)) s->vm_calls_work = false;
        if (n > 0) done = static_cast<size_t>(n);
    }
    if (!open_mem(*s)) return false;
    while (done < in.size()) {
        const ssize_t n = ::pwrite(s->mem.get(), in.data() + done, in.size() - done, static_cast<off_t>(va + done));
        if (n <= 0) return false;
        done += static_cast<size_t>(n);
    }
    return true;
}

bool LiveMemory::copy(host::AddressSpaceId from, uint64_t from_va, host::AddressSpaceId to, uint64_t to_va,
                      uint64_t bytes) {
    bounce_.resize(std::min(bytes, kBounceBytes));
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t n = std::min(bytes - done, kBounceBytes);
        const std::span<uint8_t> chunk(bounce_.data(), n);
        if (!read(from, from_va + done, chunk) || !write(to, to_va + done, chunk)) return false;
        done += n;
    }
    return true;
}

}  // namespace simverbs::server
