// The processes below this one: how the programs ended, and that none is left behind.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace simverbs::tools {

/// Children of programs that outlive them become ours, so that none can be left behind.
void adopt_orphans();

/// Wait status of a child of ours if it has ended.
[[nodiscard]] std::optional<int> ended(pid_t child);

/// Kills every process group given and every descendant, and waits for all of them.
void kill_everything(const std::vector<pid_t>& groups);

}  // namespace simverbs::tools
