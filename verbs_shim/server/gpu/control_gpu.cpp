// OpenGpus and UseGpu: from a message to the function that handles it, and what each costs its caller.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "verbs_shim/server/gpu/gpu_calls.hpp"
#include "verbs_shim/server/shared_objects.hpp"

namespace simverbs::server {

using protocol::GpuCall;
using sim::SimTime;

namespace {

/// Time of the calling CPU in the driver. Orders of magnitude of current drivers: looking something up, telling the
/// GPU, asking the kernel, changing page tables.
constexpr SimTime kLookUp = SimTime::ns(200);
constexpr SimTime kLaunch = SimTime::us(2);
constexpr SimTime kKernelCall = SimTime::us(20);
constexpr SimTime kPageTables = SimTime::us(100);
constexpr SimTime kNothing = SimTime::zero();  ///< part of another call, or what the model says
/// GDRCopy of a V100: FACTS §3.3.
constexpr SimTime kPinTime = SimTime::us(1346);
constexpr SimTime kUnpinTime = SimTime::us(677);
constexpr SimTime kMapTime = SimTime::ns(3600);
/// cuInit and a primary context.
constexpr SimTime kOpen = SimTime::ms(100);

struct Handler {
    constexpr Handler() = default;
    constexpr Handler(GpuHandler does, SimTime takes) noexcept : run(does), cost(takes), is_set(true) {}
    GpuHandler run = nullptr;
    SimTime cost;
    bool is_set = false;  ///< sanitizers make a function's address no constant
};

constexpr size_t at(GpuCall call) {
    return static_cast<size_t>(call);
}

constexpr auto kHandlers = [] {
    std::array<Handler, at(GpuCall::kCount)> t{};
    t[at(GpuCall::Place)] = {gpu_place, kNothing};
    t[at(GpuCall::MemoryInfo)] = {gpu_memory_info, kKernelCall};
    t[at(GpuCall::Alloc)] = {gpu_alloc, kPageTables};
    t[at(GpuCall::Free)] = {gpu_free, kPageTables};
    t[at(GpuCall::HostRegister)] = {gpu_host_register, kPageTables};
    t[at(GpuCall::HostUnregister)] = {gpu_host_unregister, kPageTables};
    t[at(GpuCall::Pointer)] = {gpu_pointer, kLookUp};
    t[at(GpuCall::Copy)] = {gpu_copy, kLaunch};
    t[at(GpuCall::Fill)] = {gpu_fill, kLaunch};
    t[at(GpuCall::StreamCreate)] = {gpu_stream_create, kKernelCall};
    t[at(GpuCall::StreamDestroy)] = {gpu_stream_destroy, kKernelCall};
    t[at(GpuCall::StreamQuery)] = {gpu_stream_query, kLookUp};
    t[at(GpuCall::StreamWaitEvent)] = {gpu_stream_wait_event, kLaunch};
    t[at(GpuCall::Wait)] = {gpu_wait, kLookUp};
    t[at(GpuCall::EventCreate)] = {gpu_event_create, kLookUp};
    t[at(GpuCall::EventDestroy)] = {gpu_event_destroy, kLookUp};
    t[at(GpuCall::EventRecord)] = {gpu_event_record, kLaunch};
    t[at(GpuCall::EventQuery)] = {gpu_event_query, kLookUp};
    t[at(GpuCall::EventElapsed)] = {gpu_event_elapsed, kLookUp};
    t[at(GpuCall::PeerEnable)] = {gpu_peer_enable, kPageTables};
    t[at(GpuCall::PeerDisable)] = {gpu_peer_disable, kPageTables};
    t[at(GpuCall::IpcExport)] = {gpu_ipc_export, kKernelCall};
    t[at(GpuCall::IpcOpen)] = {gpu_ipc_open, kPageTables};
    t[at(GpuCall::IpcClose)] = {gpu_ipc_close, kPageTables};
    t[at(GpuCall::IpcExportEvent)] = {gpu_ipc_export_event, kKernelCall};
    t[at(GpuCall::IpcOpenEvent)] = {gpu_ipc_open_event, kKernelCall};
    t[at(GpuCall::DmaBufExport)] = {gpu_dma_buf_export, kKernelCall};
    t[at(GpuCall::HostFunction)] = {gpu_host_function, kLaunch};
    t[at(GpuCall::HostFunctionTake)] = {gpu_host_function_take, kNothing};
    t[at(GpuCall::HostFunctionDone)] = {gpu_host_function_done, kNothing};
    t[at(GpuCall::Pin)] = {gpu_pin, kPinTime};
    t[at(GpuCall::Unpin)] = {gpu_unpin, kUnpinTime};
    t[at(GpuCall::PinInfo)] = {gpu_pin_info, kLookUp};
    t[at(GpuCall::PinMap)] = {gpu_pin_map, kMapTime};
    t[at(GpuCall::PinUnmap)] = {gpu_pin_unmap, kMapTime};
    t[at(GpuCall::PinStore)] = {gpu_pin_store, kNothing};
    t[at(GpuCall::PinLoad)] = {gpu_pin_load, kNothing};
    t[at(GpuCall::Modules)] = {gpu_modules, kKernelCall};
    t[at(GpuCall::ModuleLoad)] = {gpu_module_load, kPageTables};
    t[at(GpuCall::ModuleUnload)] = {gpu_module_unload, kPageTables};
    t[at(GpuCall::Reset)] = {gpu_reset, kPageTables};
    t[at(GpuCall::PciFunctions)] = {gpu_pci_functions, kPageTables};
    t[at(GpuCall::AcsControl)] = {gpu_acs_control, kKernelCall};
    t[at(GpuCall::NumaNodes)] = {gpu_numa_nodes, kKernelCall};
    return t;
}();
static_assert([] {
    for (const Handler& h : kHandlers)
        if (!h.is_set) return false;
    return true;
}());

}  // namespace

int open_gpus(Call& call, const protocol::ObjectRequest&, protocol::OpenGpusReply& reply) {
    GpuHost* host = call.lab.hosts()[call.client.host].gpus.get();
    if (host == nullptr) return ENODEV;
    if (call.client.gpus == nullptr) {
        call.client.gpus = std::make_shared<GpuClient>();
        call.client.gpus->parts.resize(host->size());
        call.client.gpus->key = protocol::object_key(protocol::ObjectKind::GpuQueue,
                                                     uint64_t{call.client.process} << 32 | ++host->last_number);
        call.cost_ps = kOpen.in_ps();
    }
    reply.num_gpus = host->size();
    const std::string& topology = host->config().topology;
    std::memcpy(reply.topology, topology.data(), std::min(topology.size(), sizeof reply.topology - 1));
    reply.dma_buf = host->config().dma_buf ? 1 : 0;
    for (uint32_t gpu = 0; gpu < host->size(); ++gpu) reply.gpus[gpu] = host->config().gpus[gpu].info;
    return 0;
}

int use_gpu(Call& call, const protocol::GpuRequest& request, protocol::GpuReply& reply) {
    GpuHost* host = call.lab.hosts()[call.client.host].gpus.get();
    if (host == nullptr || call.client.gpus == nullptr) return ENODEV;
    const auto number = static_cast<size_t>(request.call);
    if (number >= kHandlers.size() || request.gpu >= host->size()) return EINVAL;
    const std::shared_ptr<GpuClient> client = call.client.gpus;  // a reset may replace it
    GpuRequestScope scope{call, *host, *client, request, reply};
    call.cost_ps = kHandlers[number].cost.in_ps();
    reply.gpu = request.gpu;
    reply.result = kHandlers[number].run(scope);
    return 0;
}

}  // namespace simverbs::server
