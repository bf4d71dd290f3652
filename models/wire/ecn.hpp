#pragma once

#include <cstdint>

namespace simverbs::wire {

/// The two ECN bits of an IP header, by their RFC 3168 names and codes.
enum class Ecn : std::uint8_t { NotEct = 0, Ect1 = 1, Ect0 = 2, Ce = 3 };

}  // namespace simverbs::wire
