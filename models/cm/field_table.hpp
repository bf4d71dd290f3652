// Messages as tables: each field of a struct beside its place on the wire, so that one table is layout, encoder and
// decoder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

namespace simverbs::cm {

/// `width` bits from bit `bit` (0: most significant) of byte `byte` on, as the standard's tables count.
struct Place {
    uint16_t byte = 0, bit = 0, width = 0;

    [[nodiscard]] constexpr size_t first_bit() const noexcept { return size_t{byte} * 8 + bit; }
    [[nodiscard]] constexpr size_t end_bit() const noexcept { return first_bit() + width; }
};

/// A member and its place.
template <auto Member>
struct Bound {
    Place place;
};
template <auto Member>
constexpr Bound<Member> at(uint16_t byte, uint16_t bit, uint16_t width) noexcept {
    return {{byte, bit, width}};
}
/// Whole bytes.
template <auto Member>
constexpr Bound<Member> at(uint16_t byte, uint16_t width) noexcept {
    return {{byte, 0, width}};
}

constexpr uint64_t load_bits(std::span<const uint8_t> in, Place place) noexcept {
    uint64_t value = 0;
    for (size_t bit = place.first_bit(); bit < place.end_bit(); ++bit)
        value = (value << 1) | ((in[bit / 8] >> (7 - bit % 8)) & 1U);
    return value;
}

constexpr void store_bits(std::span<uint8_t> out, Place place, uint64_t value) noexcept {
    for (size_t bit = place.end_bit(); bit-- > place.first_bit(); value >>= 1) {
        const auto mask = static_cast<uint8_t>(1U << (7 - bit % 8));
        out[bit / 8] = static_cast<uint8_t>((value & 1) != 0 ? out[bit / 8] | mask : out[bit / 8] & ~mask);
    }
}

template <class T>
inline constexpr bool is_bytes = false;
template <size_t N>
inline constexpr bool is_bytes<std::array<uint8_t, N>> = true;

template <class Message, auto Member>
constexpr void load_field(std::span<const uint8_t> in, Message& m, Bound<Member> field) noexcept {
    auto& to = m.*Member;
    using T = std::remove_reference_t<decltype(to)>;
    if constexpr (is_bytes<T>) {
        for (size_t i = 0; i < to.size(); ++i) to[i] = in[field.place.byte + i];
    } else {
        to = static_cast<T>(load_bits(in, field.place));
    }
}

template <class Message, auto Member>
constexpr void store_field(std::span<uint8_t> out, const Message& m, Bound<Member> field) noexcept {
    const auto& from = m.*Member;
    if constexpr (is_bytes<std::remove_cvref_t<decltype(from)>>) {
        for (size_t i = 0; i < from.size(); ++i) out[field.place.byte + i] = from[i];
    } else {
        store_bits(out, field.place, static_cast<uint64_t>(from));
    }
}

/// Reads a message from the bytes behind the MAD header.
template <class Message>
constexpr Message decode(std::span<const uint8_t> in) noexcept {
    Message m;
    std::apply([&](auto... field) { (load_field(in, m, field), ...); }, Message::fields());
    return m;
}

/// Writes a message; what its table does not name stays as it is.
template <class Message>
constexpr void encode(const Message& m, std::span<uint8_t> out) noexcept {
    std::apply([&](auto... field) { (store_field(out, m, field), ...); }, Message::fields());
}

/// Do the fields of a table stand in order, apart from each other, inside `bytes` bytes, and does the last one end
/// where those end?
template <class Message>
constexpr bool is_sound(size_t bytes) noexcept {
    size_t end = 0;
    bool sound = true;
    const auto look = [&](Place p, size_t member_bits) {
        sound = sound && p.first_bit() >= end && p.width > 0 && p.width <= member_bits;
        end = p.end_bit();
    };
    std::apply(
        [&]<auto... Members>(Bound<Members>... field) {
            (look(field.place, 8 * sizeof(std::declval<Message&>().*Members)), ...);
        },
        Message::fields());
    return sound && end == bytes * 8;
}

}  // namespace simverbs::cm
