#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace simverbs::wire {

/// A queue pair number: 24 bits. 0 is the subnet management QP, 1 the general services QP,
/// 0xFFFFFF the multicast destination.
class Qpn {
  public:
    static constexpr std::uint32_t kMask = 0xFFFFFF;

    constexpr Qpn() noexcept = default;
    constexpr explicit Qpn(std::uint32_t value) noexcept : value_(value & kMask) {}

    [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }
    friend constexpr auto operator<=>(Qpn, Qpn) noexcept = default;

  private:
    std::uint32_t value_ = 0;
};

inline constexpr Qpn kSubnetManagementQpn{0};
inline constexpr Qpn kGeneralServicesQpn{1};
inline constexpr Qpn kMulticastQpn{0xFFFFFF};

}  // namespace simverbs::wire

template <>
struct std::hash<simverbs::wire::Qpn> {
    std::size_t operator()(simverbs::wire::Qpn qpn) const noexcept { return std::hash<std::uint32_t>{}(qpn.value()); }
};
