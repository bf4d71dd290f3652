// The simulated host's GPUs as this process uses them.
#pragma once

#include <cstdint>

#include "verbs_shim/protocol/gpu_calls.hpp"

namespace simverbs::client::gpu {

/// See protocol::GpuCalls.
int open() noexcept;
uint32_t count() noexcept;
const protocol::GpuInfo* info(uint32_t gpu) noexcept;
bool exports_dma_bufs() noexcept;
uint32_t driver_version() noexcept;
const char* topology() noexcept;
int current() noexcept;
void set_current(int gpu) noexcept;
int request(protocol::GpuRequest* request, protocol::GpuReply* reply, int* fd) noexcept;
void explain(const char* text) noexcept;

/// True for addresses in ranges that are reserved for GPUs' memory; safe in signal handlers.
bool is_gpu_address(uint64_t address) noexcept;
/// First address of the range of `gpu`; 0: not open.
uint64_t base_of(uint32_t gpu) noexcept;

int alloc(uint32_t gpu, uint64_t bytes, uint64_t* address) noexcept;
int free(uint64_t address) noexcept;
int ipc_open(uint32_t gpu, const uint8_t* token, uint64_t* address) noexcept;
int ipc_close(uint64_t address) noexcept;
int host_alloc(uint64_t bytes, uint32_t flags, uint64_t* address) noexcept;
int host_free(uint64_t address) noexcept;
void* map(int fd, uint64_t offset, uint64_t bytes) noexcept;
void unmap(void* at, uint64_t bytes) noexcept;
/// GPU memory can be read and written by this process's CPUs between the two.
void open_memory() noexcept;
void close_memory() noexcept;

int host_call(uint32_t gpu, uint64_t stream, protocol::GpuHostCall* call) noexcept;

/// The program has used a GPU's address as if it were its own: tells --explain, once. For the handler of SIGSEGV.
void explain_access(uint64_t address) noexcept;

}  // namespace simverbs::client::gpu
