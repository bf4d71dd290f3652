// The real machine's clock.
#pragma once

#include <time.h>

#include <cstdint>

namespace simverbs::server {

/// CLOCK_MONOTONIC, in ns.
inline int64_t real_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace simverbs::server
