// Enums of verbs.h in memory that a program or a message filled in.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace simverbs::protocol {

/// The number that lies in an enum of verbs.h. A C program may have put any number there; to read one beyond the
/// enumerators' range as the enum is undefined in C++ ([dcl.enum], no fixed underlying type).
template <typename Enum>
[[nodiscard]] uint32_t enum_value(const Enum& e) noexcept {
    static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(uint32_t));
    uint32_t value = 0;
    std::memcpy(&value, &e, sizeof value);
    return value;
}

}  // namespace simverbs::protocol
