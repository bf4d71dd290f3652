// Programs that left our session or whose parents have ended do not outlive us, whatever we die of.
#pragma once

#include <sys/types.h>

#include <string>

#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::tools {

/// A process beside this one that waits for its death, and then kills every process with the lab's variables in its
/// environment. It ends with this object otherwise, or with kill_everything.
class Keeper {
  public:
    /// Of the lab with this control socket; once the lab's programs are started.
    explicit Keeper(const std::string& socket_path);
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

  private:
    server::UniqueFd alive_;
    pid_t pid_ = -1;
};

}  // namespace simverbs::tools
