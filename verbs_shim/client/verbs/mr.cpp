// Memory regions.
#include "verbs_shim/client/gpu/gpus.hpp"
#include "verbs_shim/client/memory/shared_memory.hpp"
#include "verbs_shim/client/spin/spin.hpp"
#include "verbs_shim/client/verbs/call.hpp"
#include "verbs_shim/client/verbs/data_path.hpp"
#include "verbs_shim/client/verbs/explain.hpp"
#include "verbs_shim/client/verbs/pd.hpp"

namespace simverbs::client::verbs {

namespace {

Mr* to_mr(ibv_mr* mr) {
    return reinterpret_cast<Mr*>(mr);
}

protocol::RegMrRequest registration(protocol::Op op, ibv_pd* pd, void* addr, size_t length, uint64_t iova,
                                    unsigned access) {
    auto r = connection::make_request<protocol::RegMrRequest>(op);
    r.context = to_context(pd->context)->handle;
    r.pd = pd->handle;
    r.access = access;
    r.addr = reinterpret_cast<uint64_t>(addr);
    r.length = length;
    r.iova = iova;
    return r;
}

/// On-demand paging of everything that the process has or will have.
bool is_implicit(const void* addr, size_t length) {
    return addr == nullptr && length == SIZE_MAX;
}

int check_access(unsigned access) {
    constexpr unsigned kNeedLocalWrite = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if ((access & kNeedLocalWrite) == 0 || (access & IBV_ACCESS_LOCAL_WRITE) != 0) return 0;
    return explain(
        EINVAL,
        "ibv_reg_mr: access 0x%x allows %s without IBV_ACCESS_LOCAL_WRITE. What others may write must also be "
        "writable locally: add IBV_ACCESS_LOCAL_WRITE.",
        access, (access & IBV_ACCESS_REMOTE_WRITE) != 0 ? "IBV_ACCESS_REMOTE_WRITE" : "IBV_ACCESS_REMOTE_ATOMIC");
}

}  // namespace

ibv_mr* reg_mr(ibv_pd* pd, void* addr, size_t length, uint64_t iova, unsigned access) {
    return call_for_object(pd->context, [&](int& error) -> ibv_mr* {
        error = check_access(access);
        if (error != 0) return nullptr;
        spin::before_syscall();
        auto* const mr = make_object<Mr>();
        if (mr == nullptr) {
            error = ENOMEM;
            return nullptr;
        }
        if (is_implicit(addr, length) && (access & IBV_ACCESS_ON_DEMAND) == 0) {
            free_object(mr);
            error = explain(EINVAL,
                            "ibv_reg_mr: the whole address space can only be registered on demand: add "
                            "IBV_ACCESS_ON_DEMAND.");
            return nullptr;
        }
        if ((access & IBV_ACCESS_ZERO_BASED) != 0) iova = 0;
        auto request = registration(protocol::Op::RegMr, pd, addr, length, iova, access);
        protocol::RegMrReply reply;
        // GPU memory is shared with the server anyway, and CPUs do not poll it.
        const bool is_gpu = gpu::is_gpu_address(reinterpret_cast<uint64_t>(addr));
        memory::Registration memory(addr, is_implicit(addr, length) || is_gpu ? 0 : length);
        request.shared = memory.range();
        error = control(request, reply);
        if (error != 0) {
            free_object(mr);
            return nullptr;
        }
        mr->ibv = ibv_mr{pd->context, pd, addr, length, reply.handle, reply.lkey, reply.rkey};
        mr->access = access;
        mr->segment = memory.keep();
        mr->is_plain = !is_gpu;
        if (!is_implicit(addr, length) && !is_gpu) spin::memory_registered(addr, length, access);
        connection::count(protocol::Stat::RegMr);
        return &mr->ibv;
    });
}

ibv_mr* reg_dmabuf_mr(ibv_pd* pd, uint64_t offset, size_t length, uint64_t iova, int fd, unsigned access) {
    return call_for_object(pd->context, [&](int& error) -> ibv_mr* {
        error = check_access(access);
        if (error != 0) return nullptr;
        auto* const mr = make_object<Mr>();
        auto request = connection::make_request<protocol::RegDmaBufMrRequest>(protocol::Op::RegDmaBufMr);
        request.context = to_context(pd->context)->handle;
        request.pd = pd->handle;
        request.access = access;
        request.fd = fd;
        request.offset = offset;
        request.length = length;
        request.iova = iova;
        protocol::RegMrReply reply;
        error = mr == nullptr ? ENOMEM : control(request, reply);
        if (error != 0) {
            if (mr != nullptr) free_object(mr);
            return nullptr;
        }
        mr->ibv =
            ibv_mr{pd->context, pd, reinterpret_cast<void*>(offset), length, reply.handle, reply.lkey, reply.rkey};
        mr->access = access;
        connection::count(protocol::Stat::RegMr);
        return &mr->ibv;
    });
}

int rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* addr, size_t length, int access) {
    const auto fail = [](int error) {
        errno = error;
        return static_cast<int>(IBV_REREG_MR_ERR_INPUT);
    };
    if (flags == 0 || (flags & ~static_cast<int>(IBV_REREG_MR_FLAGS_SUPPORTED)) != 0) return fail(EINVAL);
    if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 && (addr == nullptr || length == 0)) return fail(EINVAL);
    if ((flags & IBV_REREG_MR_CHANGE_PD) != 0 && pd == nullptr) return fail(EINVAL);
    Mr* const m = to_mr(mr);
    if (!m->is_plain || is_implicit(mr->addr, mr->length)) return fail(EOPNOTSUPP);
    ibv_pd* const new_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0 ? pd : mr->pd;
    const unsigned new_access = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? static_cast<unsigned>(access) : m->access;
    void* const new_addr = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 ? addr : mr->addr;
    const size_t new_length = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 ? length : mr->length;
    bool asked = false;
    const int error = call(mr->context, [&] {
        if (const int wrong = check_access(new_access)) return wrong;
        spin::before_syscall();
        auto request = registration(protocol::Op::ReregMr, new_pd, new_addr, new_length,
                                    reinterpret_cast<uint64_t>(new_addr), new_access);
        request.flags = static_cast<uint32_t>(flags);
        request.mr = mr->handle;
        protocol::RegMrReply reply;
        asked = true;
        if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
            memory::Registration memory(new_addr, new_length);
            request.shared = memory.range();
            if (const int wrong = control(request, reply)) return wrong;
            memory::deregistered(mr->addr, mr->length, m->segment);
            m->segment = memory.keep();
        } else if (const int wrong = control(request, reply)) {
            return wrong;
        }
        spin::memory_deregistered(mr->addr, mr->length, m->access);
        spin::memory_registered(new_addr, new_length, new_access);
        mr->pd = new_pd;
        mr->addr = new_addr;
        mr->length = new_length;
        mr->lkey = reply.lkey;
        mr->rkey = reply.rkey;
        m->access = new_access;
        return 0;
    });
    if (error == 0) return 0;
    errno = error;
    return asked ? IBV_REREG_MR_ERR_CMD : IBV_REREG_MR_ERR_INPUT;
}

int dereg_mr(ibv_mr* mr) {
    return call(mr->context, [&] {
        if (const int error = destroy_object(protocol::Op::DeregMr, mr->context, mr->handle)) return error;
        const Mr& m = *to_mr(mr);
        if (m.is_plain && !is_implicit(mr->addr, mr->length)) {
            spin::memory_deregistered(mr->addr, mr->length, m.access);
            memory::deregistered(mr->addr, mr->length, m.segment);
        }
        free_object(to_mr(mr));
        return 0;
    });
}

}  // namespace simverbs::client::verbs
