// What a run says of a host's inside: its devices as a tree, and how busy each part was.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::scenarios::run {

/// One direction of a link, a memory, a limit.
struct InsidePart {
    std::string name;  ///< "nic0 up"
    std::string kind;  ///< "PCIe link", "NUMA link", "memory", …
    sim::BitRate rate;
    uint64_t bytes = 0;       ///< of data
    uint64_t wire_bytes = 0;  ///< with framing
    uint64_t tlps = 0;
    sim::SimTime busy;
    sim::SimTime bin;                ///< width of the bins, from time 0 on
    std::vector<sim::SimTime> bins;  ///< busy time in each, up to the run's end

    /// Busy time in [from, until); within a bin it is spread evenly.
    [[nodiscard]] sim::SimTime busy_between(sim::SimTime from, sim::SimTime until) const {
        sim::SimTime sum;
        for (size_t i = 0; i < bins.size(); ++i) {
            const sim::SimTime begin = bin * static_cast<int64_t>(i), end = begin + bin;
            const sim::SimTime first = std::max(begin, from), last = std::min(end, until);
            if (first >= last) continue;
            const double share = static_cast<double>((last - first).in_ps()) / static_cast<double>(bin.in_ps());
            sum += first == begin && last == end
                       ? bins[i]
                       : sim::SimTime::ps(static_cast<int64_t>(static_cast<double>(bins[i].in_ps()) * share));
        }
        return sum;
    }
};

enum class InsideKind : uint8_t { NumaNode, HostBridge, Switch, Adapter, Gpu };

/// A device in the tree: a NUMA node, and what is below it.
struct InsideDevice {
    static constexpr uint32_t kNone = UINT32_MAX;
    InsideKind kind = InsideKind::NumaNode;
    std::string name;  ///< "node0", "root0", "pex0"; of adapters and GPUs their slot's
    std::string what;  ///< "mlx5_0, cx7-400g", "H100"; of others ""
    std::string link;  ///< to what is above it: "gen4 x8 of gen5 x16"; "": none
    uint32_t parent = kNone;
    uint32_t up = kNone, down = kNone;  ///< the link's directions, in HostInsideRecord::parts
};

struct HostInsideRecord {
    std::string host;
    std::string platform;
    std::vector<InsideDevice> devices;  ///< parents before children
    std::vector<InsidePart> parts;      ///< empty before the run
};

/// A PCIe link of any host, for expectations: the device of an inside that it leads to.
struct PcieLinkRecord {
    std::string name;  ///< "h0/nic0"
    uint32_t inside = 0;
    uint32_t device = 0;
};

}  // namespace simverbs::scenarios::run
