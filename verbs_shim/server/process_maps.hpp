// Which addresses of a process are mapped.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <string_view>

namespace simverbs::server {

/// Is every byte of [addr, addr + length) mapped, according to the text of a /proc/<pid>/maps? `writable`: and not in
/// pages that may only be read. That a page may not even be read does not count: pages that a program spins on are
/// inaccessible for a moment.
bool maps_cover(std::string_view maps_text, uint64_t addr, uint64_t length, bool writable = false);

/// The same for a live process. False if it has gone.
bool is_mapped(pid_t pid, uint64_t addr, uint64_t length, bool writable);

}  // namespace simverbs::server
