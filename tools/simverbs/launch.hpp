// Starts programs so that they come into the lab.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tools/simverbs/program_command.hpp"

namespace simverbs::tools {

/// What brings a program into its lab: see verbs_shim/protocol/messages.hpp.
struct LabEntry {
    std::string socket;
    std::string host;
    std::string preload;
    uint32_t slot = 0xFFFFFFFF;
    uint32_t program = 0xFFFFFFFF;
};

struct LaunchFds {
    int in = -1, out = -1, err = -1;  ///< -1: inherited
};

struct Launched {
    pid_t pid = -1;
    int error = 0;            ///< errno of the execve that failed
    bool randomised = false;  ///< the kernel forbids switching address randomisation off
};

/// Forks and executes `command`, in its own process group unless it inherits our stdin. Its parent's death kills it.
/// Returns once it runs.
[[nodiscard]] Launched launch(const ProgramCommand& command, const LabEntry& entry, const LaunchFds& fds);

/// Becomes the program (for `simverbs on`): returns only on failure, with an errno.
[[nodiscard]] int become(const ProgramCommand& command, const LabEntry& entry);

}  // namespace simverbs::tools
