// A ring all-reduce over the GPUs of one or several hosts: what NVLink, PCIe and rails make of it.
#pragma once

#include <cstdint>
#include <span>

#include "models/host/complex.hpp"
#include "sim/sim_time.hpp"
#include "sim/units.hpp"

namespace simverbs::gpu {

struct AllReduceSpec {
    uint64_t bytes = 256ULL << 20;            ///< that each GPU brings, and has the sum of in the end
    uint32_t slice = 64 << 10;                ///< what is handed on as one
    sim::SimTime step = sim::SimTime::us(1);  ///< a kernel notices a slice, adds, and stores on
    /// Between hosts: payload rate and latency of a rail, from adapter to adapter.
    sim::BitRate rail_rate = sim::BitRate::gbps(392);
    sim::SimTime rail_latency = sim::SimTime::us(1);
};

struct AllReduceResult {
    sim::SimTime took;
    double algorithm_gb_s = 0;  ///< bytes over time, in 1e9 bytes a second
    double bus_gb_s = 0;        ///< times 2(n-1)/n: what nccl-tests call busbw
};

/// One host: one ring over its GPUs in their order. An even number of hosts, each with as many adapters as GPUs: a ring
/// a rail, ring r entering a host at GPU r and leaving it at GPU r+1, or the other way in every second host, so that
/// each rail carries one ring in each direction (as NCCL does with rails). Begins at `now` on hosts that nothing else
/// uses.
[[nodiscard]] AllReduceResult ring_all_reduce(std::span<host::Complex* const> hosts, const AllReduceSpec& spec,
                                              sim::SimTime now = sim::SimTime::zero());

}  // namespace simverbs::gpu
