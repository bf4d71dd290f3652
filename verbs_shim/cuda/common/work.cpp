#include "verbs_shim/cuda/common/calls.hpp"

namespace simverbs::cuda {

namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 14;  ///< that the server takes at a time

/// A real driver touches pageable memory itself: a wrong pointer ends the program here, not in a model.
void touch(uint64_t address, uint64_t span) noexcept {
    if (span == 0 || calls()->is_gpu_address(address)) return;
    (void)*reinterpret_cast<const volatile char*>(address);
    (void)*reinterpret_cast<const volatile char*>(address + span - 1);
}

}  // namespace

int copy(uint32_t gpu, const Copy& c) noexcept {
    if (c.bytes != 0 && c.rows != 0) {
        touch(c.from, (c.rows - 1) * c.from_pitch + c.bytes);
        touch(c.to, (c.rows - 1) * c.to_pitch + c.bytes);
    }
    if (c.rows > kMostRows) {
        Copy first = c, rest = c;
        first.rows = kMostRows;
        rest.rows -= kMostRows;
        rest.from += kMostRows * c.from_pitch;
        rest.to += kMostRows * c.to_pitch;
        const int result = copy(gpu, first);
        return result != 0 ? result : copy(gpu, rest);
    }
    GpuRequest r = make_request(GpuCall::Copy, gpu);
    r.to = c.to;
    r.from = c.from;
    r.bytes = c.bytes;
    r.rows = c.rows;
    r.to_pitch = c.to_pitch;
    r.from_pitch = c.from_pitch;
    r.stream = c.stream;
    r.flags = c.sync ? uint32_t{protocol::kGpuCopySync} : 0;
    return ask(r);
}

int fill(uint32_t gpu, uint64_t to, uint64_t bytes, uint64_t rows, uint64_t pitch, uint32_t value, uint32_t value_bytes,
         uint64_t stream) noexcept {
    if (rows > kMostRows) {
        const int result = fill(gpu, to, bytes, kMostRows, pitch, value, value_bytes, stream);
        if (result != 0) return result;
        return fill(gpu, to + kMostRows * pitch, bytes, rows - kMostRows, pitch, value, value_bytes, stream);
    }
    GpuRequest r = make_request(GpuCall::Fill, gpu);
    r.to = to;
    r.bytes = bytes;
    r.rows = rows;
    r.to_pitch = pitch;
    r.value = value;
    r.flags = value_bytes;
    r.stream = stream;
    return ask(r);
}

int wait_for_gpu(uint32_t gpu) noexcept {
    GpuRequest r = make_request(GpuCall::Wait, gpu);
    r.value = UINT64_MAX;
    return ask(r);
}

int free_memory(uint64_t address) noexcept {
    GpuRequest r = make_request(GpuCall::Pointer, 0);
    GpuReply reply;
    r.address = address;
    const int result = calls()->request(&r, &reply, nullptr);
    if (result != protocol::kGpuSuccess) return result;
    if (reply.flags == protocol::kGpuManagedMemory) {
        if (const int failed = wait_for_gpu(reply.gpu)) return failed;
        return calls()->host_free(address);
    }
    if (reply.flags != protocol::kGpuDeviceMemory || reply.handle != address) return protocol::kGpuInvalidValue;
    if (const int failed = wait_for_gpu(reply.gpu)) return failed;
    return calls()->free(address);
}

}  // namespace simverbs::cuda
