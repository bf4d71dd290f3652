// The real libibverbs: who answers for devices that are not simulated, and for processes outside a lab.
#pragma once

#include <cerrno>
#include <type_traits>

namespace simverbs::client::exports {

/// Address of `name` at `version` in the real library, which is loaded at first need; null if there is none.
void* find_real(const char* name, const char* version);

/// Calls the real function. Without a real library: ENOSYS, as a return value or in errno.
template <typename Result, typename... Params, typename... Args>
Result call_real(Result (*)(Params...), const char* name, const char* version, Args... args) {
    using Fn = Result (*)(Params...);
    if (const auto real = reinterpret_cast<Fn>(find_real(name, version))) return real(args...);
    errno = ENOSYS;
    if constexpr (std::is_pointer_v<Result>) {
        return nullptr;
    } else if constexpr (!std::is_void_v<Result>) {
        return static_cast<Result>(ENOSYS);
    }
}

}  // namespace simverbs::client::exports

/// Forwards the call of `fn`, whose default version in the real library is `version`.
#define SIMVERBS_FORWARD(fn, version, ...)                                             \
    ::simverbs::client::exports::call_real(static_cast<decltype(&::fn)>(nullptr), #fn, \
                                           version __VA_OPT__(, ) __VA_ARGS__)
