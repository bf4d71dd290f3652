// All-reduce on a platform, as its bus bandwidth in GB/s.
#pragma once

#include "models/gpu/ring_all_reduce.hpp"
#include "tests/support/platforms.hpp"

namespace simverbs::test {

inline double one_host(const host::PlatformSpec& p, uint64_t bytes = 256 << 20) {
    host::Complex c(p);
    host::Complex* const hosts[] = {&c};
    gpu::AllReduceSpec spec;
    spec.bytes = bytes;
    return gpu::ring_all_reduce(hosts, spec).bus_gb_s;
}

/// Rails carry packets of 4096 bytes with 82 of headers and gaps (RoCEv2).
inline double two_hosts(const host::PlatformSpec& p, sim::BitRate rail) {
    host::Complex a(p), b(p);
    host::Complex* const hosts[] = {&a, &b};
    gpu::AllReduceSpec spec;
    spec.rail_rate = sim::BitRate::bps(rail.in_bps() / 4178 * 4096);
    return gpu::ring_all_reduce(hosts, spec).bus_gb_s;
}

inline host::PlatformSpec without_nvlink(host::PlatformSpec p) {
    p.nvlink.switched_links = 0;
    return p;
}

}  // namespace simverbs::test
