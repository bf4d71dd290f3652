// Who is waiting for what, when nothing moves any more.
#pragma once

#include <cstdint>
#include <string>

namespace simverbs::sim {

/// A component that can hold unfinished work (a QP, a queue, a workload). Loss must never hang a run silently.
class StuckReporter {
  public:
    virtual ~StuckReporter() = default;
    /// Is anything unfinished here?
    [[nodiscard]] virtual bool outstanding() const = 0;
    /// A count that grows whenever something useful happens here (a message completed, a byte delivered).
    [[nodiscard]] virtual uint64_t progress() const = 0;
    /// Appends one or more lines: what waits for what, and since when.
    virtual void describe(std::string& out) const = 0;
};

}  // namespace simverbs::sim
