// The header that every management datagram begins with, and the size of them all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/cm/field_table.hpp"

namespace simverbs::cm {

inline constexpr size_t kMadBytes = 256;
using MadBytes = std::array<uint8_t, kMadBytes>;

/// Common MAD header (IBTA vol. 1, 13.4.2).
struct MadHeader {
    static constexpr size_t size = 24;

    uint8_t base_version = 1, mgmt_class = 0, class_version = 0, method = 0;
    uint16_t status = 0, class_specific = 0;
    uint64_t transaction_id = 0;
    uint16_t attribute_id = 0;
    uint16_t reserved = 0;
    uint32_t attribute_modifier = 0;

    static constexpr auto fields() noexcept {
        using M = MadHeader;
        return std::tuple{at<&M::base_version>(0, 8),    at<&M::mgmt_class>(1, 8),
                          at<&M::class_version>(2, 8),   at<&M::method>(3, 8),
                          at<&M::status>(4, 16),         at<&M::class_specific>(6, 16),
                          at<&M::transaction_id>(8, 64), at<&M::attribute_id>(16, 16),
                          at<&M::reserved>(18, 16),      at<&M::attribute_modifier>(20, 32)};
    }
};
static_assert(is_sound<MadHeader>(MadHeader::size));

/// The communication management class: its number, version and only method (IBTA vol. 1, 16.7).
inline constexpr uint8_t kCmClass = 0x07, kCmClassVersion = 2, kMethodSend = 0x03;

/// What follows the header in a CM message.
inline constexpr size_t kCmBytes = kMadBytes - MadHeader::size;

template <class Byte, size_t N>
constexpr std::span<Byte> cm_part(std::span<Byte, N> mad) noexcept {
    return mad.subspan(MadHeader::size);
}

}  // namespace simverbs::cm
