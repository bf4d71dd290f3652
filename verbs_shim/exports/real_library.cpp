#include "verbs_shim/exports/real_library.hpp"

#include <dlfcn.h>

#include <atomic>

namespace simverbs::client::exports {

namespace {

/// The library behind us in the search order if the program is linked with it, else loaded by its name. dlopen itself
/// is interposed (it answers this name with ourselves): libc's own is meant.
void* load() {
    using Open = void* (*)(const char*, int);
    const auto open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
    return open == nullptr ? nullptr : open("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
}

void* loaded() {
    static std::atomic<void*> handle{nullptr};
    void* h = handle.load(std::memory_order_acquire);
    if (h == nullptr) {
        h = load();
        handle.store(h, std::memory_order_release);
    }
    return h;
}

}  // namespace

void* find_real(const char* name, const char* version) {
    if (void* const next = dlvsym(RTLD_NEXT, name, version)) return next;
    void* const library = loaded();
    return library == nullptr ? nullptr : dlvsym(library, name, version);
}

}  // namespace simverbs::client::exports
