// dlopen("libibverbs.so.1") is answered with ourselves, so that clients which look the verbs up by dlsym or dlvsym get
// the simulated ones. The real library stays loadable under its full path, for those who need its private symbols.
// A library that is loaded to look into its own dependencies first (RTLD_DEEPBIND, as UCX loads its transports) would
// find the real verbs, sockets and clocks there: in a lab it looks where every other library looks.
#include <dlfcn.h>

#include <cstring>

#include "verbs_shim/client/net/lab.hpp"
#include "verbs_shim/client/net/real.hpp"

using namespace simverbs::client;

namespace {

bool is_libibverbs(const char* file) noexcept {
    static constexpr char kName[] = "libibverbs.so";
    return file != nullptr && std::strncmp(file, kName, sizeof kName - 1) == 0 &&
           (file[sizeof kName - 1] == '\0' || file[sizeof kName - 1] == '.');
}

/// The path under which this library was loaded.
const char* own_path() noexcept {
    static Dl_info info;
    if (info.dli_fname == nullptr) dladdr(reinterpret_cast<const void*>(&own_path), &info);
    return info.dli_fname;
}

}  // namespace

SIMVERBS_INTERPOSE void* dlopen(const char* file, int flags) noexcept {
    SIMVERBS_REAL(dlopen);
    if (net::lab() == nullptr) return real_dlopen(file, flags);
    const bool ours = is_libibverbs(file) && own_path() != nullptr;
    return real_dlopen(ours ? own_path() : file, flags & ~RTLD_DEEPBIND);
}
