#include "scenarios/lang/did_you_mean.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace simverbs::scenarios {

namespace {

constexpr std::size_t kMaxComparedBytes = 64;
constexpr std::size_t kMaxCandidates = 2000;  // of generated hosts: enough to help, few enough to be quick

std::string normalised(std::string_view name) {
    std::string out;
    for (const char c : name) {
        out += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
}

/// Optimal string alignment distance: insert, drop, replace, swap of neighbours, each at cost 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(above);
        above.swap(row);
    }
    return above[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wrong, const std::vector<std::string_view>& candidates) {
    if (wrong.empty() || wrong.size() > kMaxComparedBytes) return "";
    const std::string normal = normalised(wrong);
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, wrong.size() / 3) + 1;
    for (std::size_t i = 0; i < std::min(candidates.size(), kMaxCandidates); ++i) {
        const std::string_view candidate = candidates[i];
        if (candidate.size() > kMaxComparedBytes) continue;
        const std::size_t distance = edit_distance(normal, normalised(candidate));
        if (distance < best_distance && distance < std::max<std::size_t>(candidate.size(), 2)) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string_view>& candidates) {
    const std::string_view nearest = nearest_name(wrong, candidates);
    if (nearest.empty() || nearest == wrong) return "";
    return "did you mean '" + std::string(nearest) + "'?";
}

}  // namespace simverbs::scenarios
