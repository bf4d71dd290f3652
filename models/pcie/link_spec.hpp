// What a PCIe link is made of.
#pragma once

#include <compare>
#include <cstdint>

namespace simverbs::pcie {

/// A PCIe link, or what one end of it can do.
struct LinkSpec {
    uint8_t generation = 4;      ///< 1 … 5
    uint8_t lanes = 16;          ///< 1, 2, 4, 8 or 16
    uint16_t max_payload = 256;  ///< bytes of a TLP's data (MPS): 128 … 4096
    auto operator<=>(const LinkSpec&) const noexcept = default;
};

}  // namespace simverbs::pcie
