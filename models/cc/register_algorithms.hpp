// The algorithms there are, by name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "models/cc/parameters.hpp"

namespace simverbs::cc {

/// All algorithms, in the order of the list in models/cc/meson.build.
[[nodiscard]] std::span<const AlgorithmInfo* const> algorithms() noexcept;

[[nodiscard]] const AlgorithmInfo* find_algorithm(std::string_view name) noexcept;

/// The algorithm with these parameters; what is not given has its default. check_parameters must find nothing.
[[nodiscard]] std::unique_ptr<CongestionControl> make(const AlgorithmInfo& info, const Parameters& given = {});

}  // namespace simverbs::cc
