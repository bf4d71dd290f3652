// What packets ask for in their headers (DSCP, PCP or SL), and what each node makes of it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "models/flow/flow_plan.hpp"
#include "models/hca/hca_config.hpp"
#include "models/link/service_map.hpp"
#include "scenarios/lang/scenario_spec.hpp"
#include "scenarios/run/build_topology.hpp"
#include "scenarios/run/flow_capture.hpp"

namespace simverbs::scenarios::run {

/// Numbers services. Asked for are on InfiniBand SLs, on Ethernet 802.1p priorities (DSCP 8p) and, from 8 on, other
/// DSCPs. Packet::priority has what travels: the same, but where frames are tagged PCPs (with DSCP 8p) and, from 8 on,
/// other pairs of PCP and DSCP.
class Services {
  public:
    /// `topology` must outlive it.
    explicit Services(const BuiltTopology& topology);

    /// Do frames carry an 802.1Q tag, so that switches look at its PCP instead of the DSCP?
    [[nodiscard]] bool are_tagged() const noexcept { return are_tagged_; }
    /// The number of a DSCP; nullopt if there are more than 16 services.
    [[nodiscard]] std::optional<uint8_t> number_of_dscp(int dscp);
    /// What travels from `src` for a flow that asks for `service`: a tag has the priority that the NIC gives it.
    /// nullopt if there are more than 16.
    [[nodiscard]] std::optional<uint8_t> on_the_wire(uint8_t service, flow::HostIndex src);
    /// What travels for each DSCP of a program on `host`, which may ask for any: of DSCPs that no node tells apart the
    /// first stands for all. nullopt if there are more than 16.
    [[nodiscard]] std::optional<hca::ServiceOfDscp> of_programs(flow::HostIndex host);

    /// What stands on the wire for them.
    [[nodiscard]] ServiceCodes codes() const;
    [[nodiscard]] link::ServiceMap of_switch(uint32_t index) const;
    [[nodiscard]] link::ServiceMap of_host(flow::HostIndex host) const;

  private:
    struct OnTheWire {
        int dscp = 0;
        int pcp = 0;
        friend bool operator==(const OnTheWire&, const OnTheWire&) = default;
    };
    [[nodiscard]] const NumberPairs& dscp_map_of(flow::HostIndex host) const;
    [[nodiscard]] link::ServiceMap by_dscp(const NumberPairs& dscp_map) const;
    [[nodiscard]] link::ServiceMap pcps() const;
    [[nodiscard]] std::optional<uint8_t> like_dscp(int dscp);
    [[nodiscard]] const std::vector<NumberPairs>& dscp_maps();

    const BuiltTopology& topology_;
    bool is_infiniband_;
    bool are_tagged_ = false;
    std::array<int, 16> dscps_{};
    uint8_t used_ = 8;
    std::vector<OnTheWire> tagged_;       ///< by number, where frames are tagged
    std::vector<NumberPairs> dscp_maps_;  ///< all that differ, of switches and NICs
};

}  // namespace simverbs::scenarios::run
