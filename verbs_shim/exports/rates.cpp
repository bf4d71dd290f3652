// Static rates (ibv_rate) as multiples of 2.5 Gb/s and in Mb/s.
#include "verbs_shim/exports/export.hpp"

namespace {

struct RateRow {
    ibv_rate rate;
    int mult;  ///< of 2.5 Gb/s; -1 where libibverbs knows none
    int mbps;
};

/// IBTA's static rates: lanes x signalling rate; Mb/s as the encoding leaves them.
constexpr RateRow kRates[] = {
    {IBV_RATE_2_5_GBPS, 1, 2500},     {IBV_RATE_5_GBPS, 2, 5000},         {IBV_RATE_10_GBPS, 4, 10000},
    {IBV_RATE_14_GBPS, -1, 14062},    {IBV_RATE_20_GBPS, 8, 20000},       {IBV_RATE_25_GBPS, -1, 25781},
    {IBV_RATE_28_GBPS, 11, 28125},    {IBV_RATE_30_GBPS, 12, 30000},      {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_50_GBPS, 20, 53125},    {IBV_RATE_56_GBPS, -1, 56250},      {IBV_RATE_60_GBPS, 24, 60000},
    {IBV_RATE_80_GBPS, 32, 80000},    {IBV_RATE_100_GBPS, -1, 103125},    {IBV_RATE_112_GBPS, -1, 112500},
    {IBV_RATE_120_GBPS, 48, 120000},  {IBV_RATE_168_GBPS, -1, 168750},    {IBV_RATE_200_GBPS, -1, 206250},
    {IBV_RATE_300_GBPS, -1, 309375},  {IBV_RATE_400_GBPS, 160, 425000},   {IBV_RATE_600_GBPS, 240, 637500},
    {IBV_RATE_800_GBPS, 320, 850000}, {IBV_RATE_1200_GBPS, 480, 1275000},
};

}  // namespace

SIMVERBS_EXPORT int ibv_rate_to_mult(ibv_rate rate) {
    for (const auto& row : kRates) {
        if (row.rate == rate) return row.mult;
    }
    return -1;
}

SIMVERBS_EXPORT ibv_rate mult_to_ibv_rate(int mult) {
    for (const auto& row : kRates) {
        if (row.mult == mult && mult > 0) return row.rate;
    }
    return IBV_RATE_MAX;
}

SIMVERBS_EXPORT int ibv_rate_to_mbps(ibv_rate rate) {
    for (const auto& row : kRates) {
        if (row.rate == rate) return row.mbps;
    }
    return -1;
}

SIMVERBS_EXPORT ibv_rate mbps_to_ibv_rate(int mbps) {
    for (const auto& row : kRates) {
        if (row.mbps == mbps) return row.rate;
    }
    return IBV_RATE_MAX;
}
