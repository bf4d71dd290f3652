// A part of a host that serves one transfer at a time, with what it has carried so far.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "models/host/part_model.hpp"
#include "models/pcie/credit_window.hpp"
#include "models/pcie/link_spec.hpp"
#include "models/pcie/occupancy.hpp"
#include "models/pcie/tlp.hpp"
#include "models/pcie/utilisation.hpp"
#include "sim/check.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::host {

/// Kinds of parts, in the order of their numbers (PartNumbers).
enum class PartKind : uint8_t {
    PcieLink,
    NumaLink,
    PeerShare,
    Memory,
    PeerWrites,
    PeerReads,
    Walker,
    BarReads,
    NvLink
};

/// One direction of a link, a memory, a limit.
struct Part {
    sim::ByteTime byte_time;
    PartKind kind = PartKind::PcieLink;
    pcie::Occupancy occupancy;
    std::array<pcie::CreditWindow, 3> credits{};  ///< of the receiver at a link's other end, by TlpKind
    uint64_t bytes = 0;                           ///< of data
    uint64_t wire_bytes = 0;                      ///< with framing
    uint64_t tlps = 0;
    pcie::Utilisation use;
    PartModel* model = nullptr;  ///< in its place

    /// A transfer through the model: the part's rate says when its first byte has passed.
    [[gnu::cold, gnu::noinline]] pcie::Slot pass(const PartTransfer& t) {
        const sim::SimTime span = byte_time.of(t.bytes), end = model->pass(t);
        SIM_CHECK(end >= t.arrival, end.in_ps(), t.arrival.in_ps());
        const sim::SimTime first = end - t.arrival > span ? end - span : t.arrival;
        use.add(first, end - first);
        return {first, end};
    }
    /// Takes the time that so many bytes need.
    pcie::Slot reserve(sim::SimTime now, sim::SimTime earliest, sim::SimTime span) {
        return occupancy.reserve(now, earliest, span, [this](sim::SimTime from, sim::SimTime t) { use.add(from, t); });
    }
};

/// What a report says of a part.
struct PartView {
    std::string name;  ///< "nic0 up", "node0", "node0 to node1", "gpu0 nvlink out"
    PartKind kind;
    sim::BitRate rate;
    const Part* part;
};

}  // namespace simverbs::host
