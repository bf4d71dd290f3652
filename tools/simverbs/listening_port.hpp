// Whether a simulated host listens on a TCP port.
#pragma once

#include <cstdint>

namespace simverbs::tools {

/// By the kernel's table of sockets: simulated host 10.x.hi.lo of lab block L is 127.L.hi.lo. `address` is in host byte
/// order.
[[nodiscard]] bool is_listening(uint32_t lab_block, uint32_t address, int port);

}  // namespace simverbs::tools
