// What a fabric is built from: plain structs, no files, no defaults that hide.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/hca/device_profile.hpp"
#include "models/hca/hca_config.hpp"
#include "models/hca/host_sink.hpp"
#include "models/host/host_complex.hpp"
#include "models/link/link_faults.hpp"
#include "models/link/link_params.hpp"
#include "models/switch/switch.hpp"
#include "sim/sim_time.hpp"

namespace simverbs::fabric {

/// One adapter. LIDs, LeafIds and the SM's LID are assigned by the Fabric: leave them 0.
struct NicSpec {
    std::string path;  ///< "h0/mlx5_0"
    const hca::DeviceProfile* profile = nullptr;
    uint64_t node_guid = 0;
    std::vector<hca::HcaPortConfig> ports;
    hca::HostSink* sink = nullptr;  ///< may be null
    hca::CongestionConfig congestion;
};

/// A host whose inside is simulated: one node of the engine, with its adapters. Adapters of no such host have an ideal
/// one each.
struct HostSpec {
    std::string path;            ///< "h0"
    std::vector<uint32_t> nics;  ///< in FabricSpec::nics; the n-th is the complex's agent n
    std::function<std::unique_ptr<host::HostComplex>()> make_complex;
};

struct SwitchSpec {
    std::string path;  ///< "sw0"
    Forwarding forwarding = Forwarding::CutThrough;
    sim::SimTime latency = sim::SimTime::ns(300);  ///< header in to decision
    sim::ByteCount buffer_bytes = std::numeric_limits<sim::ByteCount>::max();
    sim::ByteCount queue_bytes = std::numeric_limits<sim::ByteCount>::max();
};

/// One end of a link: port `port` (from 1) of an adapter, or the next free port of a switch.
struct LinkEndSpec {
    bool is_switch = false;
    uint32_t index = 0;  ///< in FabricSpec::nics or FabricSpec::switches
    uint8_t port = 1;    ///< adapters only
};

struct LinkSpec {
    LinkEndSpec a, b;
    link::LinkParams params;
    std::vector<link::LinkFault> faults_a_to_b, faults_b_to_a;
};

struct FabricSpec {
    std::vector<NicSpec> nics;
    std::vector<HostSpec> hosts;
    std::vector<SwitchSpec> switches;
    std::vector<LinkSpec> links;
    uint64_t seed = 1;
};

}  // namespace simverbs::fabric
