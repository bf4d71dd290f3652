// The distributions of flow sizes that papers on datacenter congestion control share.
#include <algorithm>
#include <array>
#include <cctype>

#include "scenarios/workloads/size_distribution.hpp"

namespace simverbs::scenarios::workloads {

namespace {

constexpr std::array<CdfPoint, 12> kWebSearch{{{0, 0},
                                               {10'000, 15},
                                               {20'000, 20},
                                               {30'000, 30},
                                               {50'000, 40},
                                               {80'000, 53},
                                               {200'000, 60},
                                               {1'000'000, 70},
                                               {2'000'000, 80},
                                               {5'000'000, 90},
                                               {10'000'000, 97},
                                               {30'000'000, 100}}};

constexpr std::array<CdfPoint, 20> kFbHdp{
    {{0, 0},       {100, 1},      {200, 2},      {300, 5},          {350, 15},       {400, 20},        {500, 30},
     {600, 40},    {700, 50},     {1'000, 60},   {2'000, 67},       {7'000, 70},     {30'000, 72},     {50'000, 82},
     {80'000, 87}, {120'000, 90}, {300'000, 95}, {1'000'000, 97.5}, {2'000'000, 99}, {10'000'000, 100}}};

constexpr std::array<CdfPoint, 9> kAliStorage2019{{{0, 0},
                                                   {4'000, 22.93},
                                                   {8'000, 69.21},
                                                   {16'000, 80.61},
                                                   {32'000, 90.47},
                                                   {64'000, 93.53},
                                                   {128'000, 96.77},
                                                   {256'000, 97.53},
                                                   {2'000'000, 100}}};

template <std::size_t kSize>
constexpr bool is_cdf(const std::array<CdfPoint, kSize>& points) {
    for (std::size_t i = 1; i < kSize; ++i) {
        if (points[i].bytes <= points[i - 1].bytes || points[i].percent <= points[i - 1].percent) return false;
    }
    return points[0].bytes == 0 && points[0].percent == 0 && points[kSize - 1].percent == 100;
}
static_assert(is_cdf(kWebSearch) && is_cdf(kFbHdp) && is_cdf(kAliStorage2019));

constexpr std::array<BuiltInDistribution, 3> kDistributions{{
    {"WebSearch", "Alizadeh et al., DCTCP, SIGCOMM 2010, as in the HPCC artifact", kWebSearch},
    {"FbHdp", "Roy et al., SIGCOMM 2015 (Hadoop), as in the HPCC artifact", kFbHdp},
    {"AliStorage2019", "Alibaba's storage, HPCC artifact", kAliStorage2019},
}};

}  // namespace

std::span<const BuiltInDistribution> built_in_distributions() noexcept {
    return kDistributions;
}

const BuiltInDistribution* find_distribution(std::string_view name) noexcept {
    const auto is = [](std::string_view a, std::string_view b) {
        return std::ranges::equal(a, b,
                                  [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
    };
    if (is(name, "FbHadoop")) name = "FbHdp";
    if (is(name, "AliStorage")) name = "AliStorage2019";
    for (const BuiltInDistribution& distribution : kDistributions) {
        if (is(distribution.name, name)) return &distribution;
    }
    return nullptr;
}

}  // namespace simverbs::scenarios::workloads
