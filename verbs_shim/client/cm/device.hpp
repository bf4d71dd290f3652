// /dev/infiniband/rdma_cm: a descriptor that takes commands by write() and is readable while events wait.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace simverbs::client::cm {

/// Opens the device with open()'s flags; a descriptor, or -1 with errno.
int open_device(int flags) noexcept;

/// write() to an open device: one command. Returns `bytes`, or -1 with errno.
/// Where it waits for an event it is a cancellation point.
ssize_t write_command(int fd, const void* buffer, size_t bytes);

/// The last descriptor of the process for this open device (Description::handle) is closed.
void device_closed(uint32_t file) noexcept;

}  // namespace simverbs::client::cm
