// One host as a node of the engine: its adapters and what lies between them and its memories.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/host/host_complex.hpp"
#include "sim/event_list.hpp"
#include "sim/node.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::host {

/// Runs the adapters of a host that has a complex, and the complex's own events, in the order of their times: requests
/// to the complex come in that order, whichever device makes them. At one instant the complex goes first, then the
/// adapters in their order.
class HostNode final : public sim::Node {
  public:
    explicit HostNode(std::unique_ptr<HostComplex> complex) : complex_(std::move(complex)) {}

    /// Adds an adapter; this node must have been added to an engine. Not owned.
    void add_part(sim::Node& part);
    [[nodiscard]] HostComplex& complex() noexcept { return *complex_; }
    [[nodiscard]] const HostComplex& complex() const noexcept { return *complex_; }

    /// HostComplex::submit for whoever is ahead of this host's events (a program whose clock is `now`, between
    /// windows): the copy is handed over when they have come that far. `sink` must live until then.
    void submit(const CopySpec& copy, sim::SimTime now, CopySink& sink);

    /// Has `change` made at `at`, before whatever else happens then. Between windows.
    void change_at(sim::SimTime at, std::function<void()> change);

    void run_window(sim::SimTime end) override;
    [[nodiscard]] sim::SimTime next_event_time() const override;

  private:
    /// Of the complex and what is to be done to it.
    [[nodiscard]] sim::SimTime next_inside() const;
    void run_inside(sim::SimTime end);

    std::unique_ptr<HostComplex> complex_;
    std::vector<sim::Node*> parts_;
    std::vector<sim::SimTime> next_;               ///< by part, while a window runs: its next event
    sim::EventList<std::function<void()>> tasks_;  ///< changes, and copies to be handed over
    uint64_t changes_ = 0;
};

}  // namespace simverbs::host
