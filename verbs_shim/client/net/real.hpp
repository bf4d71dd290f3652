// The next definition of an interposed function: what libc (or whoever stands behind us) does.
#pragma once

#include <dlfcn.h>

#include <atomic>

// libc's prototypes carry attributes (nonnull, …) that a template argument cannot keep; nothing is lost here.
#pragma GCC diagnostic ignored "-Wignored-attributes"

namespace simverbs::client {

/// Finds the next definition of `name` once; safe before constructors have run and from several threads.
template <typename Fn>
class Real {
  public:
    constexpr explicit Real(const char* name) noexcept : name_(name) {}
    template <typename... Args>
    auto operator()(Args... args) {
        return get()(args...);
    }
    [[nodiscard]] Fn* get() noexcept {
        void* f = found_.load(std::memory_order_relaxed);
        if (f == nullptr) {
            f = ::dlsym(RTLD_NEXT, name_);
            found_.store(f, std::memory_order_relaxed);
        }
        return reinterpret_cast<Fn*>(f);
    }

  private:
    const char* name_;
    std::atomic<void*> found_{nullptr};
};

}  // namespace simverbs::client

/// REAL(read): a handle to libc's read under the name real_read.
#define SIMVERBS_REAL(fn)                                                 \
    static constinit ::simverbs::client::Real<decltype(::fn)> real_##fn { \
#fn                                                               \
    }

#define SIMVERBS_INTERPOSE extern "C" __attribute__((visibility("default")))
