#include "verbs_shim/exports/device_list.hpp"

#include <fcntl.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/exports/export.hpp"

namespace simverbs::client::exports {

namespace {

/// Stands before the pointers that the program gets.
struct ListHeader {
    ibv_device** real = nullptr;  ///< the real library's list, to be freed with ours
    uint64_t unused = 0;
};

/// The real machine has RDMA devices. Asked by plain system calls: the files that the program sees under /sys are the
/// simulated host's, and the real library must not go looking for drivers of those.
bool machine_has_devices() {
    const long fd = raw_syscall(SYS_openat, AT_FDCWD, as_argument("/sys/class/infiniband_verbs"),
                                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    alignas(8) char entries[4096];
    bool found = false;
    long n;
    while ((n = raw_syscall(SYS_getdents64, fd, as_argument(entries), sizeof entries)) > 0) {
        for (long at = 0; at < n;) {
            uint16_t length;
            std::memcpy(&length, entries + at + 16, sizeof length);  // d_ino, d_off, d_reclen, d_type, d_name
            found = found || std::strncmp(entries + at + 19, "uverbs", 6) == 0;
            at += length;
        }
    }
    raw_syscall(SYS_close, fd);
    return found;
}

ListHeader* header_of(ibv_device** list) {
    return reinterpret_cast<ListHeader*>(list) - 1;
}

}  // namespace

ibv_device** make_device_list(int* num_devices, int& error) {
    int num_real = 0;
    ibv_device** real = nullptr;
    if (machine_has_devices()) real = SIMVERBS_FORWARD(ibv_get_device_list, "IBVERBS_1.1", &num_real);
    if (real == nullptr) num_real = 0;
    const uint32_t ours = verbs::num_devices();
    const size_t entries = ours + static_cast<size_t>(num_real) + 1;
    auto* const header = static_cast<ListHeader*>(std::calloc(1, sizeof(ListHeader) + entries * sizeof(void*)));
    if (header == nullptr) {
        error = ENOMEM;
        return nullptr;
    }
    header->real = real;
    auto** const list = reinterpret_cast<ibv_device**>(header + 1);
    int n = 0;
    for (uint32_t i = 0; i < ours; ++i) {
        if (ibv_device* const device = verbs::device_at(i)) list[n++] = device;
    }
    for (int i = 0; i < num_real; ++i) list[n++] = real[i];
    if (num_devices != nullptr) *num_devices = n;
    return list;
}

void free_device_list(ibv_device** list) {
    ListHeader* const header = header_of(list);
    if (header->real != nullptr) SIMVERBS_FORWARD(ibv_free_device_list, "IBVERBS_1.1", header->real);
    std::free(header);
}

}  // namespace simverbs::client::exports
