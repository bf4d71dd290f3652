// A scenario that somebody else's clock moves: the seam between simverbs (C++20) and SystemC (whose library on Debian
// is one of C++17). This header is both: no later C++, nothing of SystemC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace simverbs::systemc {

/// Whose clock it is. Times are picoseconds from the beginning.
class Pacer {
  public:
    virtual ~Pacer() = default;
    /// Where the scenario stops next, after the last stop.
    [[nodiscard]] virtual int64_t next_stop() const = 0;
    /// It is there: everything before next_stop() has happened. Returns when it may go on.
    virtual void wait_there() = 0;
};

/// Somebody else's model in the place of a part of a host: a direction of a link, or a memory.
class PartTiming {
  public:
    virtual ~PartTiming() = default;
    /// A transfer whose first byte arrives at `arrival` (picoseconds): when its last one has left the link, is out of
    /// the memory or in it. Not before the arrival. `address`: what it is after (equal for equal bytes), kNoAddress: of
    /// no importance.
    virtual int64_t pass(bool is_write, uint64_t address, uint32_t bytes, int64_t arrival) = 0;
    static constexpr uint64_t kNoAddress = UINT64_MAX;
};

/// One run of a scenario file, programs included. It owns signals and children of the process while it runs: one at a
/// time.
class HostedScenario {
  public:
    /// Loads and checks the file; `settings` as with `simverbs run --set`. Throws std::invalid_argument with all that
    /// is wrong (file, line, what was expected), and if the file describes several runs or asks for threads.
    HostedScenario(const std::string& file, const std::vector<std::string>& settings);
    ~HostedScenario();
    HostedScenario(const HostedScenario&) = delete;
    HostedScenario& operator=(const HostedScenario&) = delete;

    /// `timing` (not owned) takes the place of a part of a host with a platform, "h0/node0": HOST/PART, parts as the
    /// results name them. Before run(). Throws std::invalid_argument if there is no such part, with those that there
    /// are.
    void replace(const std::string& part, PartTiming& timing);

    /// Runs it to its end, once; results go to `folder`. Throws std::runtime_error with what went wrong.
    void run(Pacer& pacer, const std::string& folder);

    /// Whether all expectations were met and all programs ended as they should.
    [[nodiscard]] bool passed() const noexcept;
    /// When it ended; 0 before.
    [[nodiscard]] int64_t simulated_time() const noexcept;
    /// What `simverbs run` would print.
    [[nodiscard]] const std::string& summary() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace simverbs::systemc
