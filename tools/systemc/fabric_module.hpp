// A scenario as a module of a SystemC design.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tools/systemc/hosted_scenario.hpp"

namespace simverbs::systemc {

struct FabricOptions {
    std::string file;                   ///< the scenario
    std::vector<std::string> settings;  ///< KEY=VALUE, as with `simverbs run --set`
    std::string out;                    ///< folder of the results
    /// How far the fabric runs ahead of the design's clock, at most.
    sc_core::sc_time quantum{1, sc_core::SC_US};
};

/// Runs a scenario, programs included, in a thread of the design: the fabric is never further than a quantum ahead of
/// the design, and never behind it when it stops. One such module a process, and SystemC's resolution must be simverbs'
/// 1 ps: both are reported as errors (SC_REPORT_ERROR, "/simverbs").
class FabricModule : public sc_core::sc_module {
  public:
    /// Throws std::invalid_argument with all that is wrong with the scenario file.
    FabricModule(const sc_core::sc_module_name& name, FabricOptions options);
    ~FabricModule() override;

    /// The socket of a part of a host, "h0/node0" (HOST/PART): whatever is bound to it takes the part's place. Each
    /// transfer through the part is one b_transport: command, address (what it is after, 0 if that is of no
    /// importance), length (on PCIe links with framing), data of zeros (bytes of programs do not travel here), and as
    /// delay how far ahead of the design's clock its first byte arrives. The target adds the time until the last byte
    /// has left it and answers TLM_OK_RESPONSE. It may call wait(): the design's clock then runs ahead of the fabric,
    /// and the answer counts from there. Before the end of elaboration, once for each part; throws
    /// std::invalid_argument with the names that there are.
    [[nodiscard]] tlm::tlm_initiator_socket<>& in_place_of(const std::string& part);

    /// Notified when the scenario has come to its end.
    [[nodiscard]] const sc_core::sc_event& ended() const noexcept { return ended_; }
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
    [[nodiscard]] bool passed() const noexcept { return scenario_.passed(); }
    /// What `simverbs run` would print.
    [[nodiscard]] const std::string& summary() const noexcept { return scenario_.summary(); }

  private:
    class Clock;
    class Part;
    void run();
    void before_end_of_elaboration() override;

    FabricOptions options_;
    HostedScenario scenario_;
    std::vector<std::unique_ptr<Part>> parts_;
    sc_core::sc_event ended_;
    bool has_ended_ = false;
};

}  // namespace simverbs::systemc
