// A lab as its file describes it: hosts, NICs, switches, links, faults. Plain data, complete and free of
// contradictions; whoever builds it needs no further defaults except where a member is optional.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/lang/diagnostic.hpp"
#include "scenarios/lang/field_value.hpp"
#include "scenarios/lang/length.hpp"
#include "scenarios/lang/place_ref.hpp"
#include "scenarios/lang/platform.hpp"
#include "scenarios/lang/switch_queueing.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios {

enum class LinkLayer { Ethernet, InfiniBand };
enum class ClockKind { Virtual, Wall };
enum class Forwarding { CutThrough, StoreAndForward };
enum class RoceVersion { V1, V2 };
enum class FaultKind { Drop, Corrupt, Duplicate, Delay, Reorder, Down };
/// Which way a link fault looks: packets that leave end `a`, end `b`, or each way by itself.
enum class FaultDirection { AToB, BToA, Both };

/// A profile parameter that the lab sets to another value. The profile's own schema says what it may be: read it with
/// read_field_value(field, text, position, path, sink).
struct ParameterOverride {
    std::string text;
    std::string path;
    SourcePosition key_position;
    SourcePosition position;
};

/// One host channel adapter.
struct NicSpec {
    std::string device;   ///< "mlx5_0"
    std::string profile;  ///< "cx7-400g"
    LinkLayer link_layer = LinkLayer::Ethernet;
    int ports = 1;
    sim::ByteCount mtu = 4200;  ///< Ethernet: the interface's MTU (IP bytes); InfiniBand: the path MTU's upper limit
    std::vector<RoceVersion> roce_versions;  ///< empty on InfiniBand
    std::optional<int> vlan;                 ///< 802.1Q VLAN id, 1…4094
    int priority = 0;                        ///< 802.1p priority of programs' packets that ask for none
    NumberPairs dscp_map;                    ///< DSCP → priority (scenarios only)
    bool ipv6 = false;                       ///< has a global IPv6 address beside the link-local one
    std::map<std::string, ParameterOverride> parameters;

    // Identity of port 1 where the lab fixes it; further ports count on from it.
    std::optional<uint32_t> address;  ///< IPv4, host byte order
    std::optional<uint64_t> mac;      ///< the low 48 bits
    std::optional<uint64_t> guid;     ///< node GUID
    std::optional<uint16_t> lid;
    std::optional<GidBytes> gid;  ///< an additional GID, at the end of the port's table

    PlaceRef slot;        ///< of the host's platform; "": any that is free
    pcie::LinkSpec pcie;  ///< what it can do

    std::string path;  ///< "hosts.h0.nics.mlx5_0"
    SourcePosition position;
    SourcePosition profile_position;
};

struct HostSpec {
    std::string name;
    std::vector<NicSpec> nics;
    std::shared_ptr<const HostInside> inside;  ///< null: it is ideal
    std::string path;
    SourcePosition position;
};

struct SwitchSpec {
    std::string name;
    LinkLayer link_layer = LinkLayer::Ethernet;  ///< of all its links
    int ports = 0;                               ///< numbered from 1
    sim::SimTime latency;                        ///< first bit in to first bit out, when the egress is idle
    Forwarding forwarding = Forwarding::CutThrough;
    sim::ByteCount buffer = 0;  ///< shared by all ports
    KeyPlace buffer_place;
    SwitchQueueing queueing;  ///< scenarios only
    std::string path;
    SourcePosition position;
};

/// One end of a link: port `port` (from 1) of NIC `nic` of host `node`, or of switch `node`.
struct LinkEnd {
    bool is_switch = false;
    int node = 0;  ///< index into LabSpec::hosts or LabSpec::switches
    int nic = 0;   ///< index into HostSpec::nics; 0 for a switch
    int port = 0;

    friend bool operator==(const LinkEnd&, const LinkEnd&) = default;
};

/// Something that goes wrong on a link. Either `every` or `probability` says which packets; Down has neither.
/// Each direction counts and draws for itself.
struct FaultSpec {
    FaultKind kind = FaultKind::Drop;
    FaultDirection direction = FaultDirection::Both;
    std::optional<int64_t> every;  ///< packets every, 2·every, 3·every, … (counting from 1)
    std::optional<double> probability;
    sim::SimTime by;                           ///< Delay: how much later
    int behind = 0;                            ///< Reorder: after how many later packets
    sim::SimTime from;                         ///< Down: when it begins
    sim::SimTime until = sim::SimTime::max();  ///< Down: when the link is back; max() = never
    std::string path;
    SourcePosition position;
};

struct LinkSpec {
    LinkEnd a;
    LinkEnd b;
    std::optional<sim::BitRate> rate;  ///< absent: the lower of what both ends' profiles can do
    Length length;
    std::optional<sim::SimTime>
        delay;  ///< scenarios only: the cable's latency, instead of one that follows from length
    std::vector<FaultSpec> faults;
    std::string path;
    SourcePosition position;
};

struct LabSpec {
    std::string name;
    std::string description;
    std::string file;
    uint64_t seed = 1;
    ClockKind clock = ClockKind::Virtual;
    std::vector<HostSpec> hosts;
    std::vector<SwitchSpec> switches;
    std::vector<LinkSpec> links;
    std::string topology;  ///< the generator's name, or "explicit"

    /// Index of the host of that name, or -1.
    [[nodiscard]] int find_host(std::string_view host_name) const noexcept;
};

/// "h0.mlx5_0/1" or "sw0/3".
[[nodiscard]] std::string to_string(const LabSpec& lab, const LinkEnd& end);

}  // namespace simverbs::scenarios
