// Protection domains, memory regions, address handles.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/ibv_translate.hpp"
#include "verbs_shim/server/process_maps.hpp"

namespace simverbs::server {

namespace {

constexpr uint64_t kProgramPage = 4096;

uint64_t pages_of(uint64_t addr, uint64_t length) {
    return length == 0 ? 0 : (addr + length - 1) / kProgramPage - addr / kProgramPage + 1;
}

void note_registration(Call& call, const MrObject& mr) {
    protocol::ProcessEntry& entry = call.lab.shared().processes[call.client.process];
    entry.stats[static_cast<size_t>(protocol::Stat::PinnedPages)] += mr.pages;
    if ((mr.access & hca::kLocalWrite) != 0) entry.dma_writable.store(1);
}

/// The range must be in the process's memory, and writable where DMA may write: pinning it needs that.
int check_range(Call& call, uint64_t addr, uint64_t length, uint32_t access, const char* what) {
    constexpr uint32_t kWrites = hca::kLocalWrite | hca::kRemoteWrite | hca::kRemoteAtomic | hca::kMwBind;
    if (is_mapped(call.client.pid, addr, length, (access & kWrites) != 0)) return 0;
    if (call.lab.config().explain) {
        call.why.rule = hca::Rule::MemoryUnreachable;
        call.why.where = what;
        call.why.attribute = "addr";
    }
    return EFAULT;
}

/// Fetches the memfd that a registration is shared through. Whatever is wrong with it: DMA then goes through the
/// kernel, which sees what the process itself sees.
void take_segment(Call& call, const protocol::SharedRange& range) {
    if (range.segment == 0 || range.fd < 0) return;
    const int pidfd = call.lab.pidfd_of(call.client.process);
    const UniqueFd file(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, range.fd, 0)));
    if (file.valid())
        (void)call.lab.memory().share(call.client.space, range.segment, range.begin, range.length, file.get());
}

/// A registration of [addr, addr + length) begins. Returns the segment that it holds.
uint32_t hold_segment(Call& call, uint64_t addr, uint64_t length, const protocol::SharedRange& range) {
    LiveMemory& memory = call.lab.memory();
    // What else was shared here is not what the process has here now.
    memory.forget_others(call.client.space, addr, length, range.segment);
    take_segment(call, range);
    return memory.hold_segment(call.client.space, range.segment) ? range.segment : 0;
}

}  // namespace

int keep_mr(Call& call, MrObject&& mr, const hca::MrKeys& keys, protocol::RegMrReply& reply) {
    reply.handle = call.client.mrs.add(std::move(mr));
    reply.lkey = keys.lkey;
    reply.rkey = keys.rkey;
    return reply.handle == 0 ? ENOMEM : 0;
}

const PdObject* pd_in(Call& call, uint32_t handle, uint32_t context) {
    const PdObject* pd = call.client.pds.find(handle);
    return pd != nullptr && pd->context == context ? pd : nullptr;
}

int alloc_pd(Call& call, const protocol::ObjectRequest& request, protocol::HandleReply& reply) {
    ContextObject* context = call.context(request.context);
    if (context == nullptr) return EINVAL;
    const auto pd = context->hca->alloc_pd(call.by(*context));
    if (!pd.ok()) return pd.error;
    reply.handle = call.client.pds.add({request.context, pd.value});
    return reply.handle == 0 ? ENOMEM : 0;
}

int dealloc_pd(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const PdObject* pd = call.client.pds.find(request.handle);
    ContextObject* context = pd == nullptr ? nullptr : call.context(pd->context);
    if (context == nullptr) return EINVAL;
    const int error = context->hca->dealloc_pd(call.by(*context), pd->pd);
    if (error == 0) call.client.pds.remove(request.handle);
    return error;
}

int reg_mr(Call& call, const protocol::RegMrRequest& request, protocol::RegMrReply& reply) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.pd, request.context);
    if (context == nullptr || pd == nullptr) return EINVAL;
    if (is_gpu_memory(call, request.addr)) return reg_gpu_mr(call, *context, request, reply);
    // The HCA checks everything else; asking it first keeps its errors (EINVAL) ahead of EFAULT, as the kernel does.
    const hca::MrSpec spec{pd->pd,       call.client.space, request.addr,           request.length,
                           request.iova, request.access,    call.client.memory_node};
    const auto keys = context->hca->reg_mr(call.by(*context), spec);
    if (!keys.ok()) return keys.error;
    // On-demand paging: what is not mapped is found out at the access.
    const bool on_demand = (request.access & hca::kOnDemand) != 0;
    const int error = on_demand ? 0 : check_range(call, request.addr, request.length, request.access, "ibv_reg_mr");
    if (error != 0) {
        (void)context->hca->dereg_mr({context->owner, call.now, nullptr}, keys.value.handle);
        return error;
    }
    MrObject mr{
        request.context, keys.value.handle, request.addr, request.length,
        request.iova,    request.access,    request.pd,   on_demand ? 0 : pages_of(request.addr, request.length)};
    mr.segment = hold_segment(call, request.addr, request.length, request.shared);
    note_registration(call, mr);
    return keep_mr(call, std::move(mr), keys.value, reply);
}

int rereg_mr(Call& call, const protocol::RegMrRequest& request, protocol::RegMrReply& reply) {
    MrObject* mr = call.client.mrs.find(request.mr);
    ContextObject* context = mr == nullptr ? nullptr : call.context(mr->context);
    if (context == nullptr) return EINVAL;
    const bool new_pd = (request.flags & hca::kChangePd) != 0;
    const PdObject* pd = pd_in(call, new_pd ? request.pd : mr->pd, mr->context);
    if (pd == nullptr) return EINVAL;
    const bool moved = (request.flags & hca::kChangeTranslation) != 0;
    // Neither from nor to GPU memory: the kernel's driver pins it in another way.
    if (mr->gpu_block != nullptr || (moved && is_gpu_memory(call, request.addr))) return EOPNOTSUPP;
    const uint32_t access = (request.flags & hca::kChangeAccess) != 0 ? request.access : mr->access;
    if (moved) {
        const int error = check_range(call, request.addr, request.length, access, "ibv_rereg_mr");
        if (error != 0) return error;
    }
    call.lab.mover().settle_all(call.client.space);
    const hca::MrSpec spec{pd->pd,
                           call.client.space,
                           moved ? request.addr : mr->addr,
                           moved ? request.length : mr->length,
                           moved ? request.iova : mr->iova,
                           access,
                           call.client.memory_node};
    const auto keys = context->hca->rereg_mr(call.by(*context), mr->mr, request.flags, spec);
    if (!keys.ok()) return keys.error;
    uint32_t segment = mr->segment;
    if (moved) {
        segment = hold_segment(call, request.addr, request.length, request.shared);
        call.lab.memory().release_segment(call.client.space, mr->segment);
    }
    *mr = {mr->context,
           keys.value.handle,
           spec.addr,
           spec.length,
           spec.iova,
           spec.access,
           new_pd ? request.pd : mr->pd,
           pages_of(spec.addr, spec.length),
           segment};
    if (moved) note_registration(call, *mr);
    reply.handle = request.mr;
    reply.lkey = keys.value.lkey;
    reply.rkey = keys.value.rkey;
    return 0;
}

int dereg_mr(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const MrObject* mr = call.client.mrs.find(request.handle);
    ContextObject* context = mr == nullptr ? nullptr : call.context(mr->context);
    if (context == nullptr) return EINVAL;
    // The program may unmap the memory after this: whatever is still on its way must be there before.
    call.lab.mover().settle_all(mr->gpu_block != nullptr ? mr->gpu_space : call.client.space);
    const int error = context->hca->dereg_mr(call.by(*context), mr->mr);
    if (error == 0) {
        call.lab.memory().release_segment(call.client.space, mr->segment);
        call.client.mrs.remove(request.handle);
    }
    return error;
}

int unshare_memory(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    call.lab.memory().forget_segment(call.client.space, static_cast<uint32_t>(request.arg));
    return 0;
}

int create_ah(Call& call, const protocol::CreateAhRequest& request, protocol::HandleReply& reply) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.pd, request.context);
    if (context == nullptr || pd == nullptr) return EINVAL;
    const auto ah = context->hca->create_ah(call.by(*context), pd->pd, ah_attr_from(request.attr));
    if (!ah.ok()) return ah.error;
    reply.handle = call.client.ahs.add({request.context, ah.value, request.pd});
    return reply.handle == 0 ? ENOMEM : 0;
}

int destroy_ah(Call& call, const protocol::ObjectRequest& request, protocol::ReplyHeader&) {
    const AhObject* ah = call.client.ahs.find(request.handle);
    ContextObject* context = ah == nullptr ? nullptr : call.context(ah->context);
    if (context == nullptr) return EINVAL;
    const int error = context->hca->destroy_ah(call.by(*context), ah->ah);
    if (error == 0) call.client.ahs.remove(request.handle);
    return error;
}

}  // namespace simverbs::server
