// What the network and file half of the shim needs to know of the lab it is in.
#pragma once

#include <cstdint>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::client::net {

/// The lab page; null outside a lab (or before the hello).
protocol::LabShared* lab() noexcept;
uint32_t host_index() noexcept;
uint32_t process_index() noexcept;
/// Simulated address of this host, host byte order.
uint32_t host_address() noexcept;
const char* host_name() noexcept;
/// Real directory that stands for /sys.
const char* sysfs_root() noexcept;
/// Index of the host with that simulated address, or -1.
int host_of_address(uint32_t address) noexcept;
/// Index of the host with that name, or -1.
int host_of_name(const char* name) noexcept;

// Modelled costs of the host's socket layer (kernel TCP, qperf: 10.5 us for a byte one way, 59.3 us for 64 KiB;
// FACTS §3.2): a call, and what either side spends on each byte.
inline constexpr int64_t kSocketCallPs = 1'000'000;
inline constexpr int64_t kSocketBytePs = 372;
inline constexpr int64_t kTcpLatencyPs = 9'500'000;
inline constexpr int64_t kLocalIpcPs = 2'000'000;  ///< pipe, UNIX socket, eventfd: writer to reader

}  // namespace simverbs::client::net
