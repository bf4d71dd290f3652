// What moves a lab through time: the Arbiter (virtual clock) or the WallLoop. And what they ask of their owner.
#pragma once

#include <cstdint>

namespace simverbs::server {

/// How a lab's run ended.
enum class LabEnd : uint8_t {
    Done,         ///< every program has ended
    Stalled,      ///< nothing can ever happen again, and programs still wait (virtual clock only)
    Interrupted,  ///< the owner asked to stop
};

/// The owner's side: `exec` and `up`.
class LabOwner {
  public:
    virtual ~LabOwner() = default;
    /// All programs have ended (an `up` lab: `down` was asked for).
    virtual bool finished() = 0;
    /// Ctrl-C, SIGTERM.
    virtual bool stop_requested() = 0;
    /// The process that had the turn gave it to another one, or was looked after for a while: its output is complete
    /// up to here. Returns true if there was any.
    virtual bool drain_output() = 0;
    /// Nothing is runnable and nothing will happen: may time stand still until somebody comes (`up`)?
    virtual bool may_freeze() const = 0;
};

}  // namespace simverbs::server
