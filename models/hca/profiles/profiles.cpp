#include "models/hca/profiles/profiles.hpp"

#include <array>

namespace simverbs::hca {

std::span<const DeviceProfile* const> all_profiles() noexcept {
    static constexpr std::array<const DeviceProfile*, 8> kAll = {&kCx5_100g, &kCx6Hdr100,  &kCx6_200g, &kCx7_400g,
                                                                 &kNdr400g,  &kGeneric25g, &kIdeal,    &kRxe};
    return kAll;
}

const DeviceProfile* find_profile(std::string_view name) noexcept {
    for (const DeviceProfile* p : all_profiles())
        if (p->name == name) return p;
    return nullptr;
}

}  // namespace simverbs::hca
