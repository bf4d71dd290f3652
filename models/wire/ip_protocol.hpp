#pragma once

#include <cstdint>

namespace simverbs::wire {

/// IP protocol numbers (IANA).
inline constexpr std::uint8_t kIpProtocolTcp = 6;
inline constexpr std::uint8_t kIpProtocolUdp = 17;

}  // namespace simverbs::wire
