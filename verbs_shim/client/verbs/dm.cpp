// Device memory, null regions, advice: memory that is not simply the program's.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/context.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/pd.hpp"

namespace simverbs::client::verbs {

namespace {

constexpr size_t kPage = 4096;

Dm* to_dm(ibv_dm* dm) {
    return reinterpret_cast<Dm*>(dm);
}

/// A whole number of pages that no heap of the program's knows.
void* take_pages(uint64_t bytes) {
    const auto at = raw_syscall(SYS_mmap, 0, static_cast<long>((bytes + kPage - 1) / kPage * kPage),
                                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at < 0 && at > -static_cast<long>(kPage) ? nullptr : reinterpret_cast<void*>(at);
}

void give_pages(void* at, uint64_t bytes) {
    raw_syscall(SYS_munmap, reinterpret_cast<long>(at), static_cast<long>((bytes + kPage - 1) / kPage * kPage));
}

/// Source: providers/mlx5: outside of the memory EFAULT, off its grain EINVAL.
int check_copy(const Dm& dm, uint64_t offset, size_t length, const char* what) {
    constexpr uint64_t kGrain = 4;
    if (offset > dm.length || length > dm.length - offset) {
        return explain(EFAULT, "%s: %zu bytes at %llu are not in the %llu bytes of device memory.", what, length,
                       static_cast<unsigned long long>(offset), static_cast<unsigned long long>(dm.length));
    }
    if (offset % kGrain == 0 && length % kGrain == 0) return 0;
    return explain(EINVAL, "%s: offset and length must be multiples of 4.", what);
}

/// Each access crosses the PCIe bus: whoever polls the memory waits for it.
void charge_access(const ibv_dm& dm) {
    turn::charge(to_context(dm.context)->info->memory_poll_ps);
    turn::checkpoint();
}

int memcpy_to_dm(ibv_dm* dm, uint64_t offset, const void* host, size_t length) {
    const turn::InShim in_shim;
    if (const int error = check_copy(*to_dm(dm), offset, length, "ibv_memcpy_to_dm")) return error;
    charge_access(*dm);
    std::memcpy(static_cast<uint8_t*>(to_dm(dm)->memory) + offset, host, length);
    return 0;
}

int memcpy_from_dm(void* host, ibv_dm* dm, uint64_t offset, size_t length) {
    const turn::InShim in_shim;
    if (const int error = check_copy(*to_dm(dm), offset, length, "ibv_memcpy_from_dm")) return error;
    charge_access(*dm);
    std::memcpy(host, static_cast<uint8_t*>(to_dm(dm)->memory) + offset, length);
    return 0;
}

ibv_mr* make_mr(ibv_pd* pd, size_t length, const protocol::RegMrReply& reply) {
    auto* const mr = make_object<Mr>();
    if (mr != nullptr) mr->ibv = ibv_mr{pd->context, pd, nullptr, length, reply.handle, reply.lkey, reply.rkey};
    return mr == nullptr ? nullptr : &mr->ibv;
}

}  // namespace

namespace {

/// More than any device has is refused by the server; it need not exist here.
uint64_t backing(uint64_t length) {
    constexpr uint64_t kMost = uint64_t{1} << 30;
    return std::clamp<uint64_t>(length, 1, kMost);
}

ibv_dm* make_dm(ibv_context* context, const ibv_alloc_dm_attr& attr, void* memory, int& error) {
    auto request = connection::make_request<protocol::AllocDmRequest>(protocol::Op::AllocDm);
    request.context = handle_here(context, error);
    if (error != 0) return nullptr;
    request.length = attr.length;
    request.log_align_req = attr.log_align_req;
    request.addr = reinterpret_cast<uint64_t>(memory);
    auto* const dm = make_object<Dm>();
    protocol::HandleReply reply;
    error = dm == nullptr ? ENOMEM : control(request, reply);
    if (error != 0) {
        if (dm != nullptr) free_object(dm);
        return nullptr;
    }
    dm->memory = memory;
    dm->length = attr.length;
    dm->context = request.context;
    dm->epoch = connection::epoch();
    dm->ibv.context = context;
    dm->ibv.memcpy_to_dm = memcpy_to_dm;
    dm->ibv.memcpy_from_dm = memcpy_from_dm;
    dm->ibv.handle = reply.handle;
    return &dm->ibv;
}

}  // namespace

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr) {
    ibv_dm* dm = nullptr;
    int error = 0;
    {
        const turn::InShim in_shim;
        void* const memory = take_pages(backing(attr->length));
        if (attr->comp_mask != 0)
            error = explain(EINVAL, "ibv_alloc_dm: comp_mask is 0x%x, no bit of it has a meaning.", attr->comp_mask);
        else if (memory == nullptr)
            error = ENOMEM;
        else
            dm = make_dm(context, *attr, memory, error);
        if (dm == nullptr && memory != nullptr) give_pages(memory, backing(attr->length));
    }
    if (dm == nullptr) errno = error;
    return dm;
}

int free_dm(ibv_dm* dm) {
    const turn::InShim in_shim;
    const Dm& d = *to_dm(dm);
    if (d.epoch != connection::epoch() || connection::server_gone()) return EIO;
    auto request = object_request(protocol::Op::FreeDm, dm->context, dm->handle);
    request.context = d.context;
    protocol::ReplyHeader reply;
    if (const int error = control(request, reply)) return error;
    give_pages(d.memory, d.length);
    free_object(to_dm(dm));
    return 0;
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, uint64_t offset, size_t length, unsigned access) {
    return call_for_object(pd->context, [&](int& error) -> ibv_mr* {
        auto request = connection::make_request<protocol::RegDmMrRequest>(protocol::Op::RegDmMr);
        request.context = to_context(pd->context)->handle;
        request.pd = pd->handle;
        request.dm = dm->handle;
        request.access = access;
        request.offset = offset;
        request.length = length;
        protocol::RegMrReply reply;
        error = control(request, reply);
        return error != 0 ? nullptr : make_mr(pd, length, reply);
    });
}

ibv_mr* alloc_null_mr(ibv_pd* pd) {
    return call_for_object(pd->context, [&](int& error) -> ibv_mr* {
        const auto request = object_request(protocol::Op::AllocNullMr, pd->context, pd->handle);
        protocol::RegMrReply reply;
        error = control(request, reply);
        return error != 0 ? nullptr : make_mr(pd, SIZE_MAX, reply);
    });
}

int advise_mr(ibv_pd* pd, ib_uverbs_advise_mr_advice advice, uint32_t flags, ibv_sge* list, uint32_t num_sge) {
    return call(pd->context, [&] {
        if ((flags & ~static_cast<uint32_t>(IBV_ADVISE_MR_FLAG_FLUSH)) != 0 || num_sge == 0) {
            return explain(EINVAL,
                           "ibv_advise_mr: flags may only be IBV_ADVISE_MR_FLAG_FLUSH (0x%x was given), and "
                           "at least one SGE is needed.",
                           flags);
        }
        for (uint32_t done = 0; done < num_sge; done += protocol::kMostAdvisedRanges) {
            auto request = connection::make_request<protocol::AdviseMrRequest>(protocol::Op::AdviseMr);
            request.context = to_context(pd->context)->handle;
            request.pd = pd->handle;
            request.advice = static_cast<uint32_t>(advice);
            request.num_sge = std::min(num_sge - done, protocol::kMostAdvisedRanges);
            for (uint32_t i = 0; i < request.num_sge; ++i)
                request.sges[i] = {list[done + i].addr, list[done + i].length, list[done + i].lkey};
            protocol::ReplyHeader reply;
            if (const int error = control(request, reply)) return error;
        }
        return 0;
    });
}

}  // namespace simverbs::client::verbs
