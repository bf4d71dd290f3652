// Who is in the lab, as the server itself keeps it. The lab page tells the programs the same, but they can write there:
// nothing of this is ever read back from it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "verbs_shim/protocol/shared_layout.hpp"

namespace simverbs::server {

struct Roster {
    struct Process {
        bool used = false;
        pid_t pid = 0;  ///< 0: it has not come yet
        uint32_t host = 0;
        uint32_t program = 0;
    };
    std::vector<Process> processes = std::vector<Process>(protocol::kMaxProcesses);
    std::vector<uint32_t> process_of_slot = std::vector<uint32_t>(protocol::kMaxThreads);
    /// How many threads and process images have had the slot.
    std::vector<uint32_t> tenants_of_slot = std::vector<uint32_t>(protocol::kMaxThreads);
    uint32_t num_processes = 0;  ///< numbers below have been used
    uint32_t num_slots = 0;
};

}  // namespace simverbs::server
