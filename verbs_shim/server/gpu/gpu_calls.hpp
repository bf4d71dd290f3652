// The requests about GPUs, one function each: what they check, change and cost. All return a protocol::GpuResult, those
// of gdrdrv an errno.
#pragma once

#include <cstdint>

#include "verbs_shim/protocol/gpu_messages.hpp"
#include "verbs_shim/server/control.hpp"
#include "verbs_shim/server/gpu/gpu_client.hpp"
#include "verbs_shim/server/gpu/gpu_host.hpp"

namespace simverbs::server {

/// One GPU request on its way: of a program that uses GPUs, on a host that has them.
struct GpuRequestScope {
    Call& call;
    GpuHost& host;
    GpuClient& client;
    const protocol::GpuRequest& request;
    protocol::GpuReply& reply;

    /// The GPU that the request names: `parts[request.gpu]`.
    [[nodiscard]] GpuPart& part() { return client.parts[request.gpu]; }
};

using GpuHandler = int (*)(GpuRequestScope&);

// gpu_memory_calls.cpp
int gpu_place(GpuRequestScope&);
int gpu_memory_info(GpuRequestScope&);
int gpu_alloc(GpuRequestScope&);
int gpu_free(GpuRequestScope&);
int gpu_host_register(GpuRequestScope&);
int gpu_host_unregister(GpuRequestScope&);
int gpu_pointer(GpuRequestScope&);
int gpu_peer_enable(GpuRequestScope&);
int gpu_peer_disable(GpuRequestScope&);
int gpu_reset(GpuRequestScope&);
/// Tells the process of a block that it has not mapped yet, in the reply.
int show_block(GpuRequestScope& scope, const std::shared_ptr<GpuBlock>& block);
/// The GPU in whose reserved range of addresses the program's `address` lies; kNoItem: in none.
uint32_t gpu_of_address(const GpuClient& client, const GpuHost& host, uint64_t address);

// gpu_queue_calls.cpp
int gpu_copy(GpuRequestScope&);
int gpu_fill(GpuRequestScope&);
int gpu_stream_create(GpuRequestScope&);
int gpu_stream_destroy(GpuRequestScope&);
int gpu_stream_query(GpuRequestScope&);
int gpu_stream_wait_event(GpuRequestScope&);
int gpu_wait(GpuRequestScope&);
int gpu_event_create(GpuRequestScope&);
int gpu_event_destroy(GpuRequestScope&);
int gpu_event_record(GpuRequestScope&);
int gpu_event_query(GpuRequestScope&);
int gpu_event_elapsed(GpuRequestScope&);
int gpu_host_function(GpuRequestScope&);
int gpu_host_function_take(GpuRequestScope&);
int gpu_host_function_done(GpuRequestScope&);

// gpu_share_calls.cpp
int gpu_ipc_export(GpuRequestScope&);
int gpu_ipc_open(GpuRequestScope&);
int gpu_ipc_close(GpuRequestScope&);
int gpu_ipc_export_event(GpuRequestScope&);
int gpu_ipc_open_event(GpuRequestScope&);
int gpu_dma_buf_export(GpuRequestScope&);
int gpu_pin(GpuRequestScope&);
int gpu_unpin(GpuRequestScope&);
int gpu_pin_info(GpuRequestScope&);
int gpu_pin_map(GpuRequestScope&);
int gpu_pin_unmap(GpuRequestScope&);
int gpu_pin_store(GpuRequestScope&);
int gpu_pin_load(GpuRequestScope&);
int gpu_modules(GpuRequestScope&);
int gpu_module_load(GpuRequestScope&);
int gpu_module_unload(GpuRequestScope&);

// gpu_pci_calls.cpp
int gpu_pci_functions(GpuRequestScope&);
int gpu_acs_control(GpuRequestScope&);
int gpu_numa_nodes(GpuRequestScope&);

}  // namespace simverbs::server
