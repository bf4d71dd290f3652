// Memory regions in GPU memory: by nvidia_peermem (ibv_reg_mr with a GPU's address) or from a dma-buf.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "verbs_shim/server/gpu/gpu_calls.hpp"

namespace simverbs::server {

namespace {

/// Where GPU memory is registered: what the HCA is told, and what is held as long as the region exists.
struct GpuRange {
    GpuHost& host;
    uint32_t gpu = 0;
    uint64_t at = 0, length = 0, iova = 0;
    std::shared_ptr<GpuBlock> block;
};

int no_access(Call& call, const char* text) {
    call.lab.explain(call.client, text);
    return EFAULT;
}

int register_range(Call& call, ContextObject& context, uint32_t pd_handle, uint32_t access, uint64_t addr,
                   const GpuRange& range, protocol::RegMrReply& reply) {
    if (!range.host.complex().reachable(static_cast<host::AgentId>(context.device), range.host.memory_id(range.gpu)))
        return no_access(
            call,
            "registering GPU memory: EFAULT: the adapter cannot reach this GPU: a host bridge between them "
            "refuses requests from device to device (peer_to_peer: false), so that its driver finds no DMA "
            "address. Use an adapter below the GPU's own PCIe switch, or go through host memory.");
    const PdObject* pd = pd_in(call, pd_handle, call.client.pds.find(pd_handle)->context);
    hca::MrSpec spec;
    spec.pd = pd->pd;
    spec.space = range.host.memory(range.gpu).space();
    spec.addr = range.at;
    spec.length = range.length;
    spec.iova = range.iova;
    spec.access = access;
    spec.memory = range.host.memory_id(range.gpu);
    const auto keys = context.hca->reg_mr(call.by(context), spec);
    if (!keys.ok()) return keys.error;
    constexpr uint64_t kGpuPage = uint64_t{64} << 10;
    MrObject mr;
    mr.context = pd->context;
    mr.mr = keys.value.handle;
    mr.addr = addr;
    mr.length = range.length;
    mr.iova = range.iova;
    mr.access = access;
    mr.pd = pd_handle;
    mr.pages = range.length == 0 ? 0 : (range.at + range.length - 1) / kGpuPage - range.at / kGpuPage + 1;
    mr.gpu_space = spec.space;
    mr.gpu_block = range.block;
    return keep_mr(call, std::move(mr), keys.value, reply);
}

}  // namespace

bool is_gpu_memory(Call& call, uint64_t address) {
    const GpuHost* host = call.lab.hosts()[call.client.host].gpus.get();
    return host != nullptr && call.client.gpus != nullptr &&
           gpu_of_address(*call.client.gpus, *host, address) != protocol::kNoItem;
}

int reg_gpu_mr(Call& call, ContextObject& context, const protocol::RegMrRequest& request, protocol::RegMrReply& reply) {
    GpuHost& host = *call.lab.hosts()[call.client.host].gpus;
    if ((host.modules() & protocol::kModulePeermem) == 0)
        return no_access(call,
                         "ibv_reg_mr: EFAULT: the address is GPU memory, and the kernel module nvidia_peermem is not "
                         "loaded on this host: without it the adapter's driver cannot pin GPU memory. Load it "
                         "(modprobe nvidia_peermem), or register a dma-buf with ibv_reg_dmabuf_mr.");
    const GpuAllocation* a = call.client.gpus->find(request.addr, request.length);
    if (a == nullptr)
        return no_access(call,
                         "ibv_reg_mr: EFAULT: the range lies among the GPU's addresses, but not inside of one "
                         "allocation of GPU memory that still exists.");
    const uint64_t at = request.addr - call.client.gpus->parts[a->gpu].base;
    return register_range(call, context, request.pd, request.access, request.addr,
                          {host, a->gpu, at, request.length, request.iova, a->block}, reply);
}

int reg_dma_buf_mr(Call& call, const protocol::RegDmaBufMrRequest& request, protocol::RegMrReply& reply) {
    ContextObject* context = call.context(request.context);
    const PdObject* pd = pd_in(call, request.pd, request.context);
    if (context == nullptr || pd == nullptr) return EINVAL;
    GpuHost* host = call.lab.hosts()[call.client.host].gpus.get();
    if (host == nullptr || !host->config().dma_buf) {
        call.lab.explain(call.client,
                         "ibv_reg_dmabuf_mr: EOPNOTSUPP: nothing on this host exports dma-bufs that the adapter's "
                         "driver can take. It needs a GPU driver with dma-buf support (NVIDIA's open kernel modules).");
        return EOPNOTSUPP;
    }
    const int pidfd = call.lab.pidfd_of(call.client.process);
    const UniqueFd file(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, request.fd, 0)));
    if (!file.valid()) return EBADF;
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return EBADF;
    const auto it = host->dma_bufs.find({status.st_dev, status.st_ino});
    if (it == host->dma_bufs.end()) {
        call.lab.explain(call.client,
                         "ibv_reg_dmabuf_mr: EINVAL: the descriptor is no dma-buf of this host's GPUs "
                         "(cuMemGetHandleForAddressRange makes them).");
        return EINVAL;
    }
    const GpuHost::DmaBuf& buffer = it->second;
    if (request.offset > buffer.bytes || request.length > buffer.bytes - request.offset) return EINVAL;
    return register_range(call, *context, request.pd, request.access, request.iova,
                          {*host, buffer.gpu, buffer.at + request.offset, request.length, request.iova, buffer.block},
                          reply);
}

}  // namespace simverbs::server
