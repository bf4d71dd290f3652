// Where the pointers lie in the commands of <rdma/rdma_user_cm.h>: all that the client must know of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simverbs::client::cm {

/// rdma_ucm_cmd_hdr.
struct Header {
    uint32_t command = 0;
    uint16_t in = 0, out = 0;
};
static_assert(sizeof(Header) == 8);

/// RDMA_USER_CM_CMD_* that the client treats in a special way; commands.cpp asserts the numbers.
inline constexpr uint32_t kGetEvent = 12, kSetOption = 14, kMigrateId = 18;

/// Where the command wants its response, null if it has none.
[[nodiscard]] void* response_of(uint32_t command, const void* in, size_t bytes) noexcept;

/// The value of a SET_OPTION.
struct Option {
    const void* value = nullptr;
    uint32_t bytes = 0;
};
[[nodiscard]] Option option_of(const void* in, size_t bytes) noexcept;

/// The descriptor that a MIGRATE_ID names, -1 if the command is too short.
[[nodiscard]] int file_of(const void* in, size_t bytes) noexcept;

}  // namespace simverbs::client::cm
