// Reading what programs have left in a pipe.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "verbs_shim/server/unique_fd.hpp"

namespace simverbs::tools {

/// Calls take(text) for each piece that is in the non-blocking pipe now; closes the read end when all writers have
/// gone. True if there was anything.
template <class Take>
bool read_pipe(server::UniqueFd& read_end, Take&& take) {
    bool any = false;
    char chunk[65536];
    for (;;) {
        const ssize_t n = ::read(read_end.get(), chunk, sizeof chunk);
        if (n > 0) {
            take(std::string_view(chunk, static_cast<size_t>(n)));
            any = true;
            continue;
        }
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) read_end.reset();
        return any;
    }
}

}  // namespace simverbs::tools
