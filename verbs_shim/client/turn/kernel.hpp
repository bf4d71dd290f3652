// System calls that pass by every interposed function, our own `syscall` included.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

#include <type_traits>

#include "verbs_shim/client/connection/raw_syscall.hpp"

namespace simverbs::client {

template <typename T>
long kernel_argument(T value) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<long>(value);
    else if constexpr (std::is_null_pointer_v<T>)
        return 0;
    else
        return static_cast<long>(value);
}

/// As syscall(): -1 and errno on failure.
template <typename... Args>
long kernel(long number, Args... args) {
    const long result = raw_syscall(number, kernel_argument(args)...);
    if (result >= -4095 && result < 0) {
        errno = static_cast<int>(-result);
        return -1;
    }
    return result;
}

}  // namespace simverbs::client
