// Published numbers that the host's inside is compared with.
#pragma once

#include <array>
#include <cstdint>

#include "models/pcie/link_spec.hpp"

namespace simverbs::test {

struct EfficiencyRow {
    pcie::LinkSpec link;
    uint32_t bytes;
    double write_gbps, read_gbps;
};

/// MPS 256, MRRS 512, completions of 256 bytes; Gb/s of payload.
/// Source: Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018
/// (pcie-bench/pcie-model).
inline constexpr std::array kEfficiency = {
    EfficiencyRow{{3, 16, 256}, 64, 82.7, 86.6},    EfficiencyRow{{3, 16, 256}, 128, 95.7, 98.3},
    EfficiencyRow{{3, 16, 256}, 256, 104.0, 105.5}, EfficiencyRow{{4, 16, 256}, 64, 165.4, 173.3},
    EfficiencyRow{{4, 16, 256}, 128, 191.5, 196.7}, EfficiencyRow{{4, 16, 256}, 256, 207.9, 210.9},
    EfficiencyRow{{5, 16, 256}, 256, 415.8, 421.8}, EfficiencyRow{{5, 16, 256}, 4096, 415.8, 421.8},
};

struct BarWindowRow {
    uint64_t bytes;
    double store_us, load_us;
};

/// Source: NVIDIA/gdrcopy README: gdrcopy_copylat, Tesla V100-SXM2-32GB in a DGX-1V (PCIe 3.0 x16 behind a switch).
inline constexpr std::array kGdrCopy = {
    BarWindowRow{1, 0.0889, 0.9069},
    BarWindowRow{2, 0.0884, 1.7170},
    BarWindowRow{4, 0.0884, 1.7169},
    BarWindowRow{8, 0.0884, 1.7164},
    BarWindowRow{16, 0.0905, 0.8601},
    BarWindowRow{32, 0.0902, 1.7024},
    BarWindowRow{64, 0.0902, 3.1016},
    BarWindowRow{128, 0.0952, 3.4944},
    BarWindowRow{256, 0.0983, 3.6400},
    BarWindowRow{512, 0.1176, 2.4394},
    BarWindowRow{1024, 0.1825, 2.8022},
    BarWindowRow{2048, 0.2549, 4.6615},
    BarWindowRow{4096, 0.4366, 7.9783},
    BarWindowRow{8192, 0.8141, 14.9209},
    BarWindowRow{16384, 1.6155, 28.9571},
    BarWindowRow{32768, 3.2284, 56.9373},
    BarWindowRow{65536, 6.4906, 114.1008},
    BarWindowRow{131072, 12.9761, 234.9382},
    BarWindowRow{262144, 25.9459, 496.4011},
    BarWindowRow{524288, 51.9100, 985.5196},
    BarWindowRow{1048576, 103.8028, 1970.7057},
    BarWindowRow{2097152, 207.5990, 3942.5611},
    BarWindowRow{4194304, 415.2856, 7888.9468},
    BarWindowRow{8388608, 830.6355, 18361.5673},
    BarWindowRow{16777216, 1661.3285, 36758.8342},
};

/// Bus bandwidths of all-reduce, GB/s. Source: NCCL's and vendors' published nccl-tests runs.
inline constexpr double kRingOf8H100 = 370, kRailsOf16H100 = 380, kRailsOf16A100 = 192;

}  // namespace simverbs::test
