// Somebody who looks at a simulation at exact times while others move its engine.
#pragma once

#include "sim/sim_time.hpp"

namespace simverbs::sim {

/// Whoever moves the engine stops at next_look(), between windows, and calls look().
class Watcher {
  public:
    virtual ~Watcher() = default;
    /// After the last look; max(): never again.
    [[nodiscard]] virtual SimTime next_look() const = 0;
    /// Every event before next_look() is done, none at or after it is.
    virtual void look() = 0;
};

}  // namespace simverbs::sim
