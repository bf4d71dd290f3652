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
        s->segments.clear();
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

bool LiveMemory::share(host::AddressSpaceId space, uint32_t segment, uint64_t va, uint64_t length, int memfd) {
    Space* s = find(space);
    return s != nullptr && s->pid != 0 && s->segments.add(segment, va, length, memfd);
}

bool LiveMemory::hold_segment(host::AddressSpaceId space, uint32_t segment) {
    Space* s = find(space);
    return s != nullptr && s->segments.hold(segment);
}

void LiveMemory::release_segment(host::AddressSpaceId space, uint32_t segment) {
    if (Space* s = find(space)) s->segments.release(segment);
}

void LiveMemory::forget_segment(host::AddressSpaceId space, uint32_t segment) {
    if (Space* s = find(space)) s->segments.forget(segment);
}

void LiveMemory::forget_others(host::AddressSpaceId space, uint64_t va, uint64_t length, uint32_t segment) {
    if (Space* s = find(space)) s->segments.forget_others(va, length, segment);
}

void LiveMemory::add_device_space(host::AddressSpaceId space) {
    spaces_[space].device = true;
}

bool LiveMemory::add_device_block(host::AddressSpaceId space, uint64_t at, uint64_t length, int memfd) {
    Space* s = find(space);
    return s != nullptr && s->device && s->segments.add_own(at, length, memfd);
}

void LiveMemory::remove_device_block(host::AddressSpaceId space, uint64_t at) {
    if (Space* s = find(space)) s->segments.remove_own(at);
}

bool LiveMemory::get_by_kernel(Space& space, uint64_t va, std::span<uint8_t> out) {
    if (space.device) return false;
    size_t done = 0;
    if (space.vm_calls_work) {
        const iovec local{out.data(), out.size()};
        const iovec remote{reinterpret_cast<void*>(va), out.size()};
        const ssize_t n = ::process_vm_readv(space.pid, &local, 1, &remote, 1, 0);
        if (n == static_cast<ssize_t>(out.size())) return true;
        if (n < 0 && (errno == EPERM || errno == ENOSYS)) space.vm_calls_work = false;
        if (n > 0) done = static_cast<size_t>(n);
    }
    if (!open_mem(space)) return false;
    while (done < out.size()) {
        const ssize_t n = ::pread(space.mem.get(), out.data() + done, out.size() - done, static_cast<off_t>(va + done));
        if (n <= 0) return false;
        done += static_cast<size_t>(n);
    }
    return true;
}

bool LiveMemory::put_by_kernel(Space& space, uint64_t va, std::span<const uint8_t> in) {
    if (space.device) return false;
    size_t done = 0;
    if (space.vm_calls_work) {
        const iovec local{const_cast<uint8_t*>(in.data()), in.size()};
        const iovec remote{reinterpret_cast<void*>(va), in.size()};
        const ssize_t n = ::process_vm_writev(space.pid, &local, 1, &remote, 1, 0);
        if (n == static_cast<ssize_t>(in.size())) return true;
        if (n < 0 && (errno == EPERM || errno == ENOSYS)) space.vm_calls_work = false;
        if (n > 0) done = static_cast<size_t>(n);
    }
    if (!open_mem(space)) return false;
    while (done < in.size()) {
        const ssize_t n = ::pwrite(space.mem.get(), in.data() + done, in.size() - done, static_cast<off_t>(va + done));
        if (n <= 0) return false;
        done += static_cast<size_t>(n);
    }
    return true;
}

bool LiveMemory::get(Space& space, uint64_t va, std::span<uint8_t> out) {
    while (!out.empty()) {
        const LiveSegments::Part part = space.segments.part_at(va, out.size());
        const auto piece = out.first(part.length);
        if (part.bytes != nullptr)
            copy_as_dma(piece.data(), part.bytes, part.length);
        else if (!get_by_kernel(space, va, piece))
            return false;
        out = out.subspan(part.length);
        va += part.length;
    }
    return true;
}

bool LiveMemory::put(Space& space, uint64_t va, std::span<const uint8_t> in) {
    while (!in.empty()) {
        const LiveSegments::Part part = space.segments.part_at(va, in.size());
        const auto piece = in.first(part.length);
        if (part.bytes != nullptr)
            copy_as_dma(part.bytes, piece.data(), part.length);
        else if (!put_by_kernel(space, va, piece))
            return false;
        in = in.subspan(part.length);
        va += part.length;
    }
    return true;
}

bool LiveMemory::read(host::AddressSpaceId space, uint64_t va, std::span<uint8_t> out) {
    Space* s = find(space);
    if (s == nullptr || !s->reachable() || va + out.size() < va) return false;
    ++s->counts.reads;
    s->counts.read_bytes += out.size();
    return get(*s, va, out);
}

bool LiveMemory::write(host::AddressSpaceId space, uint64_t va, std::span<const uint8_t> in) {
    Space* s = find(space);
    if (s == nullptr || !s->reachable() || va + in.size() < va) return false;
    ++s->counts.writes;
    s->counts.written_bytes += in.size();
    return put(*s, va, in);
}

bool LiveMemory::copy_through_bounce(Space& from, uint64_t from_va, Space& to, uint64_t to_va, uint64_t bytes) {
    bounce_.resize(std::max<size_t>(bounce_.size(), std::min(bytes, kBounceBytes)));
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t n = std::min(bytes - done, kBounceBytes);
        const std::span<uint8_t> chunk(bounce_.data(), n);
        if (!get(from, from_va + done, chunk) || !put(to, to_va + done, chunk)) return false;
        done += n;
    }
    return true;
}

bool LiveMemory::copy(host::AddressSpaceId from, uint64_t from_va, host::AddressSpaceId to, uint64_t to_va,
                      uint64_t bytes) {
    Space* source = find(from);
    Space* target = find(to);
    if (source == nullptr || !source->reachable() || target == nullptr || !target->reachable()) return false;
    if (from_va + bytes < from_va || to_va + bytes < to_va) return false;
    ++source->counts.reads;
    source->counts.read_bytes += bytes;
    ++target->counts.writes;
    target->counts.written_bytes += bytes;
    const bool overlap = source == target && from_va < to_va + bytes && to_va < from_va + bytes;
    while (bytes > 0) {
        const LiveSegments::Part out = source->segments.part_at(from_va, bytes);
        const LiveSegments::Part in = target->segments.part_at(to_va, out.length);
        const uint64_t n = in.length;
        // Pieces of ranges that overlap must not be copied one after the other.
        if (overlap && n < bytes) return copy_through_bounce(*source, from_va, *target, to_va, bytes);
        bool ok = true;
        if (out.bytes != nullptr && in.bytes != nullptr) {
            copy_as_dma(in.bytes, out.bytes, n);
        } else if (out.bytes != nullptr) {
            ok = put_by_kernel(*target, to_va, {out.bytes, n});
        } else if (in.bytes != nullptr) {
            ok = get_by_kernel(*source, from_va, {in.bytes, n});
        } else {
            ok = copy_through_bounce(*source, from_va, *target, to_va, n);
        }
        if (!ok) return false;
        from_va += n;
        to_va += n;
        bytes -= n;
    }
    return true;
}

}  // namespace simverbs::server
