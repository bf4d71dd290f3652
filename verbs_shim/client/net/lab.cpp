#include "verbs_shim/client/net/lab.hpp"

#include <cstring>

#include "verbs_shim/client/connection/connection.hpp"

namespace simverbs::client::net {

protocol::LabShared* lab() noexcept {
    return connection::lab();
}
uint32_t host_index() noexcept {
    return connection::hello_reply().host;
}
uint32_t process_index() noexcept {
    return connection::hello_reply().process;
}
uint32_t host_address() noexcept {
    return lab()->hosts[host_index()].address;
}
const char* host_name() noexcept {
    return lab()->hosts[host_index()].name;
}
const char* sysfs_root() noexcept {
    return connection::hello_reply().sysfs_root;
}

int host_of_address(uint32_t address) noexcept {
    const protocol::LabShared* page = lab();
    for (uint32_t i = 0; i < page->num_hosts && i < protocol::kMaxHosts; ++i)
        if (page->hosts[i].address == address) return static_cast<int>(i);
    return -1;
}

int host_of_name(const char* name) noexcept {
    const protocol::LabShared* page = lab();
    for (uint32_t i = 0; i < page->num_hosts && i < protocol::kMaxHosts; ++i)
        if (std::strncmp(page->hosts[i].name, name, sizeof page->hosts[i].name) == 0) return static_cast<int>(i);
    return -1;
}

}  // namespace simverbs::client::net
