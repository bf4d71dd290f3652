#include "verbs_shim/exports/device_list.hpp"

#include <fcntl.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "verbs_shim/client/connection/raw_syscall.hpp"
#include "verbs_shim/exports/export.hpp"

namespace simverbs::client::exports {

namespace {

/// Stands behind the null pointer that ends the list: programs free the list themselves, too, so it is one block of
/// malloc that begins with its first entry.
struct ListTail {
    ibv_device** list = nullptr;  ///< the list itself: a program that has changed its list gets nothing else freed
    ibv_device** real = nullptr;  ///< the real library's list, to be freed with ours
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

ListTail* tail_of(ibv_device** list) {
    size_t n = 0;
    while (list[n] != nullptr) ++n;
    return reinterpret_cast<ListTail*>(list + n + 1);
}

}  // namespace

ibv_device** make_device_list(int* num_devices, int& error) {
    int num_real = 0;
    ibv_device** real = nullptr;
    if (machine_has_devices()) real = SIMVERBS_FORWARD(ibv_get_device_list, "IBVERBS_1.1", &num_real);
    if (real == nullptr) num_real = 0;
    const uint32_t ours = verbs::num_devices();
    const size_t entries = ours + static_cast<size_t>(num_real) + 1;
    auto** const list = static_cast<ibv_device**>(std::calloc(1, entries * sizeof(void*) + sizeof(ListTail)));
    if (list == nullptr) {
        error = ENOMEM;
        return nullptr;
    }
    int n = 0;
    for (uint32_t i = 0; i < ours; ++i) {
        if (ibv_device* const device = verbs::device_at(i)) list[n++] = device;
    }
    for (int i = 0; i < num_real; ++i) list[n++] = real[i];
    *tail_of(list) = {list, real};
    if (num_devices != nullptr) *num_devices = n;
    return list;
}

void free_device_list(ibv_device** list) {
    const ListTail& tail = *tail_of(list);
    if (tail.list == list && tail.real != nullptr) SIMVERBS_FORWARD(ibv_free_device_list, "IBVERBS_1.1", tail.real);
    std::free(list);
}

}  // namespace simverbs::client::exports
