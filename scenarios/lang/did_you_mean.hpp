// The nearest right name for a name that is wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simverbs::scenarios {

/// The candidate nearest to `wrong` (case, '-' and '_' do not count; then inserted, dropped, replaced and swapped
/// characters), or "" if none is near enough to be meant. Of equally near ones the first is taken.
[[nodiscard]] std::string_view nearest_name(std::string_view wrong, const std::vector<std::string_view>& candidates);

/// "did you mean 'x'?" or "" if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view wrong, const std::vector<std::string_view>& candidates);

}  // namespace simverbs::scenarios
