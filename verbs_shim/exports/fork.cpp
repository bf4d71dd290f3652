// fork(): simulated DMA goes through the process's page tables, so that copy-on-write does not separate a program from
// what the HCA writes. Real devices need what the real library does.
#include "verbs_shim/client/connection/connection.hpp"
#include "verbs_shim/exports/export.hpp"

using simverbs::client::connection::lab;

// Declared in no public header.
SIMVERBS_EXPORT int ibv_dontfork_range(void* base, size_t size);
SIMVERBS_EXPORT int ibv_dofork_range(void* base, size_t size);

SIMVERBS_EXPORT int ibv_fork_init() {
    return lab() != nullptr ? 0 : SIMVERBS_FORWARD(ibv_fork_init, "IBVERBS_1.1");
}

SIMVERBS_EXPORT ibv_fork_status ibv_is_fork_initialized() {
    return lab() != nullptr ? IBV_FORK_UNNEEDED : SIMVERBS_FORWARD(ibv_is_fork_initialized, "IBVERBS_1.13");
}

SIMVERBS_EXPORT int ibv_dontfork_range(void* base, size_t size) {
    return lab() != nullptr ? 0 : SIMVERBS_FORWARD(ibv_dontfork_range, "IBVERBS_1.1", base, size);
}

SIMVERBS_EXPORT int ibv_dofork_range(void* base, size_t size) {
    return lab() != nullptr ? 0 : SIMVERBS_FORWARD(ibv_dofork_range, "IBVERBS_1.1", base, size);
}
