// GPUs' copy engines: events of the host's node, piece by piece, in the order of their times.
#include <algorithm>

#include "models/host/complex.hpp"
#include "models/pcie/link_rates.hpp"
#include "sim/check.hpp"

namespace simverbs::host {

using sim::SimTime;

namespace {

/// Pieces that a copy engine's reads have under way: what a link carries in twice an ordinary round trip.
constexpr uint32_t window_of(sim::BitRate rate) noexcept {
    constexpr SimTime kUnderWay = SimTime::ns(1600);
    const sim::Int128 bytes = static_cast<sim::Int128>(rate.in_bps()) / 8 * kUnderWay.in_ps() / SimTime::s(1).in_ps();
    return static_cast<uint32_t>(bytes / gpu::CopyQueue::kPiece) + 1;
}

}  // namespace

void Complex::submit(const CopySpec& copy, SimTime now, CopySink& sink) {
    SIM_CHECK(copy.gpu >= platform_.nics.size() && copy.gpu < agents_.size(), copy.gpu);
    const auto g = static_cast<uint16_t>(copy.gpu - platform_.nics.size());
    SIM_CHECK(copy.engine < platform_.gpus[g].copy_engines, copy.engine);
    CopySpec spec = copy;
    spec.from.memory = resolve(copy.gpu, copy.from.memory);
    spec.to.memory = resolve(copy.gpu, copy.to.memory);
    const MemoryId own = gpu_memory(g);
    SIM_CHECK(spec.from.memory == own || spec.to.memory == own, spec.from.memory, spec.to.memory);
    const bool pulls = spec.from.memory != own && is_gpu(spec.from.memory);
    const bool over_nvlink =
        pulls &&
        relation(copy.gpu, gpu_agent(static_cast<uint16_t>(spec.from.memory - platform_.numa_nodes.size()))).distance ==
            Distance::NvLink;
    engines_[first_engine_[g] + copy.engine].queue.submit(
        spec, sink, now, over_nvlink ? UINT32_MAX : window_of(pcie::tlp_rate(link(copy.gpu))));
    find_next_event();
}

void Complex::find_next_event() noexcept {
    next_event_ = SimTime::max();
    for (uint32_t i = 0; i < engines_.size(); ++i)
        if (engines_[i].queue.next() < next_event_) {
            next_event_ = engines_[i].queue.next();
            next_engine_ = i;
        }
}

/// To the host, or to another GPU; by way of the host where that is out of reach.
void Complex::copy_to_peer(Engine& e, SimTime now, DmaTarget to, uint32_t bytes) {
    const AgentId agent = gpu_agent(e.gpu);
    const bool direct = routes_.write(agent, to.memory).open;
    const Arrival a = write(agent, now, direct ? to : DmaTarget(routes_.nearest(agent)), bytes);
    SimTime done = a.last;
    if (!direct) {
        const AgentId peer = gpu_agent(static_cast<uint16_t>(to.memory - platform_.numa_nodes.size()));
        done = read(peer, now, a.last, routes_.nearest(agent), bytes).last;
    }
    e.queue.note_write(a.accepted, done);
}

void Complex::copy_from_peer(Engine& e, SimTime now, DmaTarget from, uint32_t bytes) {
    const AgentId agent = gpu_agent(e.gpu);
    if (routes_.request(agent, from.memory).open) {
        e.queue.note_read(read(agent, now, now, from, bytes).last);
        return;
    }
    const AgentId peer = gpu_agent(static_cast<uint16_t>(from.memory - platform_.numa_nodes.size()));
    const SimTime staged = write(peer, now, routes_.nearest(agent), bytes).last;
    e.queue.note_read(read(agent, now, staged, routes_.nearest(agent), bytes).last);
}

void Complex::copy_piece(Engine& e) {
    const SimTime now = e.queue.next();
    const CopySpec& copy = e.queue.copy();
    const MemoryId own = gpu_memory(e.gpu);
    const gpu::CopyQueue::Piece piece = e.queue.take();
    const uint32_t bytes = piece.bytes;
    const auto part_of = [&piece](DmaTarget t) {
        if (t.address != DmaTarget::kAnyAddress) t.address += piece.offset;
        return t;
    };
    Part& hbm = parts_[routes_.parts().memory(own)];
    hbm.bytes += bytes;
    const pcie::Slot slot = hbm.reserve(now, now, hbm.byte_time.of(bytes));
    if (copy.to.memory != own) {
        copy_to_peer(e, now, part_of(copy.to), bytes);
    } else if (copy.from.memory != own) {
        copy_from_peer(e, now, part_of(copy.from), bytes);
    } else {
        // Within a GPU each byte passes its memory twice.
        hbm.bytes += bytes;
        const SimTime done = hbm.reserve(now, slot.end, hbm.byte_time.of(bytes)).end;
        e.queue.note_write(done, done);
    }
}

void Complex::run_until(SimTime end) {
    while (next_event_ < end) {
        Engine& e = engines_[next_engine_];
        if (e.queue.at_end())
            e.queue.finish();
        else
            copy_piece(e);
        find_next_event();
    }
}

}  // namespace simverbs::host
