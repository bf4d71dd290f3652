// Hosts for tests of the host's inside; the platforms of scenarios/library/platforms, as far as timing goes.
#pragma once

#include <string>

#include "models/host/platform_spec.hpp"

namespace simverbs::test {

inline host::UpstreamSpec under_bridge(uint16_t b) {
    return {host::UpstreamSpec::Kind::HostBridge, b};
}
inline host::UpstreamSpec under_switch(uint16_t s) {
    return {host::UpstreamSpec::Kind::Switch, s};
}

inline host::NumaNodeSpec numa_node(const std::string& name, uint16_t socket = 0) {
    host::NumaNodeSpec n;
    n.name = name;
    n.socket = socket;
    return n;
}
inline host::HostBridgeSpec bridge(const std::string& name, uint16_t node) {
    host::HostBridgeSpec b;
    b.name = name;
    b.numa_node = node;
    return b;
}
inline host::SwitchSpec pcie_switch(const std::string& name, host::UpstreamSpec up, pcie::LinkSpec link = {}) {
    host::SwitchSpec s;
    s.name = name;
    s.upstream = up;
    s.slot = link;
    return s;
}
inline host::NicSlotSpec nic(const std::string& name, host::UpstreamSpec up, pcie::LinkSpec link = {}) {
    host::NicSlotSpec n;
    n.name = name;
    n.upstream = up;
    n.slot = n.device = link;
    return n;
}
inline host::GpuSpec gpu(const std::string& name, host::UpstreamSpec up, pcie::LinkSpec link = {}) {
    host::GpuSpec g;
    g.name = name;
    g.upstream = up;
    g.slot = g.device = link;
    return g;
}

/// One socket, an adapter right at the root complex.
inline host::PlatformSpec one_adapter(pcie::LinkSpec link = {}) {
    host::PlatformSpec p;
    p.name = "one_adapter";
    p.numa_nodes = {numa_node("node0")};
    p.bridges = {bridge("root0", 0)};
    p.nics = {nic("nic0", under_bridge(0), link)};
    return p;
}

/// A V100 behind a switch, as in a DGX-1V.
inline host::PlatformSpec dgx_1v() {
    const pcie::LinkSpec gen3{3, 16, 256};
    host::PlatformSpec p = one_adapter(gen3);
    p.switches = {pcie_switch("plx0", under_bridge(0), gen3)};
    p.gpus = {gpu("gpu0", under_switch(0), gen3)};
    p.gpus[0].model = "V100-SXM2-32GB";
    return p;
}

/// As two_socket.yaml: gpu0 below the switch of nic0, gpu1 at its socket, gpu2 and nic1 at the other; and gpu3 at the
/// same host bridge as nic0.
inline host::PlatformSpec two_socket(pcie::LinkSpec link = {}) {
    host::PlatformSpec p;
    p.name = "two_socket";
    p.numa_nodes = {numa_node("node0", 0), numa_node("node1", 1)};
    p.numa_links = {{0, 1}};
    p.bridges = {bridge("root0", 0), bridge("root1", 0), bridge("root2", 1), bridge("root3", 1)};
    p.switches = {pcie_switch("plx0", under_bridge(0), link)};
    p.nics = {nic("nic0", under_switch(0), link), nic("nic1", under_bridge(2), link)};
    p.gpus = {gpu("gpu0", under_switch(0), link), gpu("gpu1", under_bridge(1), link),
              gpu("gpu2", under_bridge(3), link), gpu("gpu3", under_bridge(0), link)};
    return p;
}

/// Four switches with two GPUs and two adapters each, and NVSwitches (as hgx_h100.yaml).
inline host::PlatformSpec hgx_h100() {
    const pcie::LinkSpec gen5{5, 16, 256};
    host::PlatformSpec p;
    p.name = "hgx_h100";
    p.numa_nodes = {numa_node("node0", 0), numa_node("node1", 1)};
    p.numa_links = {{0, 1, sim::BitRate::gbps(1000), sim::BitRate::gbps(160)}};
    for (uint16_t i = 0; i < 4; ++i) {
        p.bridges.push_back(bridge("root" + std::to_string(i), i / 2));
        p.bridges.back().peer_write_rate = sim::BitRate::gbps(256);
        p.bridges.back().peer_read_rate = sim::BitRate::gbps(176);
        p.switches.push_back(pcie_switch("pex" + std::to_string(i), under_bridge(i), gen5));
    }
    for (uint16_t i = 0; i < 8; ++i) {
        p.nics.push_back(nic("rail" + std::to_string(i), under_switch(i / 2), gen5));
        p.gpus.push_back(gpu("gpu" + std::to_string(i), under_switch(i / 2), gen5));
    }
    p.nvlink.switched_links = 18;
    return p;
}

/// The same with what an A100 machine has (as dgx_a100.yaml, the NUMA nodes of a socket taken together).
inline host::PlatformSpec dgx_a100() {
    host::PlatformSpec p = hgx_h100();
    p.name = "dgx_a100";
    for (auto& b : p.bridges) b.peer_write_rate = sim::BitRate::gbps(128), b.peer_read_rate = sim::BitRate::gbps(88);
    for (auto& s : p.switches) s.slot.generation = 4;
    for (auto& n : p.nics) n.slot.generation = n.device.generation = 4;
    for (auto& g : p.gpus) {
        g.model = "A100-SXM4-40GB";
        g.slot.generation = g.device.generation = 4;
        g.hbm_rate = sim::BitRate::gbps(12440);
        g.bar_read_rate = sim::BitRate::gbps(208);
    }
    p.nvlink.switched_links = 12;
    p.nvlink.link_rate = sim::BitRate::gbps(160);
    return p;
}

}  // namespace simverbs::test
