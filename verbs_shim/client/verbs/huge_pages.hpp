// Where the mlx5 provider would put a queue, as far as a program can tell.
#pragma once

namespace simverbs::client::verbs {

/// 0, or ENOMEM: `variable` (MLX_QP_ALLOC_TYPE, …) says HUGE, which forbids anything but huge pages, and the machine
/// has none free. The queues themselves lie in the arena, whatever it says. Source: providers/mlx5/buf.c.
int check_allocation_type(const char* variable, unsigned vendor_id) noexcept;

}  // namespace simverbs::client::verbs
