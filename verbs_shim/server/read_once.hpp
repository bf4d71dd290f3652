// Reading what a program may change meanwhile.
#pragma once

#include <cstring>
#include <type_traits>

namespace simverbs::server {

/// A word of shared memory, loaded once and not again: what is checked is what is used.
template <class T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) [[nodiscard]] T read_once(const T& shared) noexcept {
    return *const_cast<const volatile T*>(&shared);
}

/// A struct of shared memory, copied once. The compiler may not look at the original again.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] T copy_once(const T& shared) noexcept {
    T copy;
    std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(&shared), sizeof copy);
    __asm__ volatile("" ::: "memory");
    return copy;
}

}  // namespace simverbs::server
