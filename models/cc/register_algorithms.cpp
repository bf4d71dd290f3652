#include "models/cc/register_algorithms.hpp"

#include "sim/check.hpp"

namespace simverbs::cc {

// algorithm_list.inc is made from the list in models/cc/meson.build: one SIMVERBS_CC_ALGORITHM(name) each.
#define SIMVERBS_CC_ALGORITHM(name) extern const AlgorithmInfo name;
#include "models/cc/algorithm_list.inc"
#undef SIMVERBS_CC_ALGORITHM

std::span<const AlgorithmInfo* const> algorithms() noexcept {
#define SIMVERBS_CC_ALGORITHM(name) &(name),
    static constexpr const AlgorithmInfo* kAll[] = {
#include "models/cc/algorithm_list.inc"
    };
#undef SIMVERBS_CC_ALGORITHM
    return kAll;
}

const AlgorithmInfo* find_algorithm(std::string_view name) noexcept {
    for (const AlgorithmInfo* info : algorithms())
        if (info->name == name) return info;
    return nullptr;
}

std::unique_ptr<CongestionControl> make(const AlgorithmInfo& info, const Parameters& given) {
    const auto problems = check_parameters(info, given);
    SIM_CHECK(problems.empty(), info.name, problems.empty() ? std::string() : problems[0].parameter);
    auto algorithm = info.factory(Values(info, given));
    SIM_CHECK(algorithm->state_size() <= CongestionControl::kMaxState, info.name, algorithm->state_size());
    return algorithm;
}

}  // namespace simverbs::cc
